// Writes messages to the editor. A write that fails means that the editor is gone: the end of its input says so, too.

#include "lsp/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_all(heddle_lsp_client *client, const char *text, size_t size)
{
    while (size > 0 && !client->gone) {
        const ssize_t written = write(client->output, text, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            client->gone = true;
            return;
        }
        text += written;
        size -= (size_t)written;
    }
}

static void send_message(heddle_lsp_client *client, cJSON *message)
{
    char header[64];
    cJSON_AddStringToObject(message, "jsonrpc", "2.0");
    char *text = cJSON_PrintUnformatted(message);
    cJSON_Delete(message);
    if (!text)
        return;
    const int length = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", strlen(text));
    pthread_mutex_lock(&client->lock);
    write_all(client, header, (size_t)length);
    write_all(client, text, strlen(text));
    pthread_mutex_unlock(&client->lock);
    cJSON_free(text);
}

static cJSON *call_json(const char *method, cJSON *params)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddStringToObject(message, "method", method);
    if (params)
        cJSON_AddItemToObject(message, "params", params);
    return message;
}

void heddle_lsp_notify(heddle_lsp_client *client, const char *method, cJSON *params)
{
    send_message(client, call_json(method, params));
}

void heddle_lsp_request(heddle_lsp_client *client, const char *method, cJSON *params)
{
    cJSON *message = call_json(method, params);
    pthread_mutex_lock(&client->lock);
    const int number = ++client->requests;
    pthread_mutex_unlock(&client->lock);
    cJSON_AddNumberToObject(message, "id", number);
    send_message(client, message);
}

static cJSON *answer_json(const cJSON *id)
{
    cJSON *message = cJSON_CreateObject();
    cJSON_AddItemToObject(message, "id", id ? cJSON_Duplicate(id, true) : cJSON_CreateNull());
    return message;
}

void heddle_lsp_answer(heddle_lsp_client *client, const cJSON *id, cJSON *result)
{
    cJSON *message = answer_json(id);
    cJSON_AddItemToObject(message, "result", result ? result : cJSON_CreateNull());
    send_message(client, message);
}

void heddle_lsp_refuse(heddle_lsp_client *client, const cJSON *id, heddle_lsp_error error, const char *text)
{
    cJSON *message = answer_json(id);
    cJSON *object = cJSON_AddObjectToObject(message, "error");
    cJSON_AddNumberToObject(object, "code", error);
    cJSON_AddStringToObject(object, "message", text);
    send_message(client, message);
}
