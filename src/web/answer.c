// Answers of handlers. Without memory for one, what is left says so.

#include "web/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "web/request.h"
#include "web/server.h"

static const char json_type[] = "application/json";

void heddle_web_answer_free(heddle_web_answer *answer)
{
    free(answer->body);
    *answer = (heddle_web_answer){0};
}

void heddle_web_answer_json(heddle_web_answer *answer, int status, cJSON *json)
{
    static const char no_memory[] = "{\"error\":\"no memory for the answer\"}";
    heddle_web_answer_free(answer);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (text)
        *answer = (heddle_web_answer){.status = status, .type = json_type, .body = text, .size = strlen(text)};
    else
        *answer = (heddle_web_answer){
            .status = HEDDLE_WEB_FAILED, .type = json_type, .fixed = no_memory, .size = sizeof no_memory - 1};
}

void heddle_web_answer_error(heddle_web_answer *answer, int status, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "error", text);
    heddle_web_answer_json(answer, status, json);
}

void heddle_web_answer_failure(heddle_web_answer *answer, heddle_status status)
{
    int code = status == HEDDLE_NOT_FOUND                             ? HEDDLE_WEB_NOT_FOUND
               : status == HEDDLE_INVALID || status == HEDDLE_CORRUPT ? HEDDLE_WEB_BAD
               : status == HEDDLE_UNSUPPORTED                         ? HEDDLE_WEB_CONFLICT
                                                                      : HEDDLE_WEB_FAILED;
    heddle_web_answer_error(answer, code, "%s", heddle_last_error());
}

void heddle_web_answer_bytes(heddle_web_answer *answer, const char *type, char *body, size_t size)
{
    heddle_web_answer_free(answer);
    *answer = (heddle_web_answer){.status = HEDDLE_WEB_OK, .type = type, .size = size};
    answer->body = body;
}

void heddle_web_listen_to_events(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    (void)context;
    (void)request;
    *answer = (heddle_web_answer){.status = HEDDLE_WEB_OK, .events = true};
}

const char *heddle_web_type(const char *name)
{
    static const char *const types[][2] = {
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".json", json_type},
        {".cu", "text/plain; charset=utf-8"},
        {".cuh", "text/plain; charset=utf-8"},
        {".c", "text/plain; charset=utf-8"},
        {".cpp", "text/plain; charset=utf-8"},
        {".h", "text/plain; charset=utf-8"},
        {".py", "text/plain; charset=utf-8"},
        {".md", "text/plain; charset=utf-8"},
        {".sh", "text/plain; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
    };
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; ending && i < sizeof types / sizeof *types; i++)
        if (strcmp(ending, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}
