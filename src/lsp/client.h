// What is said to the editor: JSON-RPC messages on a file descriptor, whole, by any thread.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <cjson/cJSON.h>

typedef enum heddle_lsp_error {
    HEDDLE_LSP_PARSE_ERROR = -32700,
    HEDDLE_LSP_INVALID_REQUEST = -32600,
    HEDDLE_LSP_METHOD_NOT_FOUND = -32601,
    HEDDLE_LSP_INVALID_PARAMS = -32602,
    HEDDLE_LSP_NOT_INITIALIZED = -32002,
} heddle_lsp_error;

typedef struct heddle_lsp_client {
    int output;
    atomic_bool gone; // nobody reads any more; asked without the lock
    int requests;
    pthread_mutex_t lock;
} heddle_lsp_client;

// Each takes the JSON over. NULL for params: without; NULL for an id: null.
void heddle_lsp_notify(heddle_lsp_client *client, const char *method, cJSON *params);
void heddle_lsp_request(heddle_lsp_client *client, const char *method, cJSON *params);
void heddle_lsp_answer(heddle_lsp_client *client, const cJSON *id, cJSON *result);
void heddle_lsp_refuse(heddle_lsp_client *client, const cJSON *id, heddle_lsp_error error, const char *text);
