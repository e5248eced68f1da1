// What a handler answers: a status with JSON, bytes of another type, or the server's stream of events.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

struct cJSON;

typedef struct heddle_web_answer {
    int status;
    const char *type; // of the body: "application/json"
    char *body;       // freed after it was sent; NULL: none
    size_t size;
    const void *fixed;  // a body that stays where it is, in place of `body`
    bool events;        // the answer is the stream of events
    const char *policy; // what a page of another kind may do, in place of the server's own content policy; NULL: that
} heddle_web_answer;

// Takes the JSON over.
void heddle_web_answer_json(heddle_web_answer *answer, int status, struct cJSON *json);
// {"error": "..."}
void heddle_web_answer_error(heddle_web_answer *answer, int status, const char *format, ...) HEDDLE_PRINTF(3, 4);
// The thread's last error, with the status that fits it.
void heddle_web_answer_failure(heddle_web_answer *answer, heddle_status status);
// Takes the body over.
void heddle_web_answer_bytes(heddle_web_answer *answer, const char *type, char *body, size_t size);
void heddle_web_answer_free(heddle_web_answer *answer);

// The type of a file by its ending; NULL: one that we do not serve.
const char *heddle_web_type(const char *name);
