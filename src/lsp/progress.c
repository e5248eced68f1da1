// Tells the editor how far a check has come, a few times per second.

#include "lsp/progress.h"

#include <stdio.h>

#include "base/text.h"

static const double interval = 0.25; // seconds

static heddle_lsp_progress *current;

static void send_value(heddle_lsp_progress *progress, const char *kind, cJSON *value)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddNumberToObject(params, "token", progress->number);
    cJSON_AddStringToObject(value, "kind", kind);
    cJSON_AddItemToObject(params, "value", value);
    heddle_lsp_notify(progress->client, "$/progress", params);
}

void heddle_lsp_progress_begin(heddle_lsp_progress *progress, const char *file)
{
    current = progress;
    if (!progress->client)
        return;
    cJSON *params = cJSON_CreateObject();
    cJSON_AddNumberToObject(params, "token", progress->number);
    heddle_lsp_request(progress->client, "window/workDoneProgress/create", params);
    cJSON *value = cJSON_CreateObject();
    cJSON_AddStringToObject(value, "title", "heddle check");
    cJSON_AddStringToObject(value, "message", file);
    cJSON_AddBoolToObject(value, "cancellable", true);
    send_value(progress, "begin", value);
    progress->told = heddle_now();
}

void heddle_lsp_progress_end(heddle_lsp_progress *progress, const char *how)
{
    current = NULL;
    if (!progress->client)
        return;
    cJSON *value = cJSON_CreateObject();
    cJSON_AddStringToObject(value, "message", how);
    send_value(progress, "end", value);
}

bool heddle_lsp_progress_told(const heddle_check_progress *now)
{
    heddle_lsp_progress *progress = current;
    if (!progress || !progress->client || !now || heddle_now() < progress->told + interval)
        return false;
    char text[512];
    progress->told = heddle_now();
    snprintf(text, sizeof text, "kernel %s, launch %llu", now->kernel, (unsigned long long)now->launch);
    cJSON *value = cJSON_CreateObject();
    cJSON_AddStringToObject(value, "message", text);
    if (now->blocks > 0)
        cJSON_AddNumberToObject(value, "percentage", (int)(100 * now->ended / now->blocks));
    send_value(progress, "report", value);
    return true;
}
