// Reads the editor's messages and answers them. Whatever comes in, the server goes on: what is damaged gets an error.

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "heddle/heddle.h"
#include "lsp/actions.h"
#include "lsp/checker.h"
#include "lsp/frames.h"
#include "lsp/uri.h"

enum { READ_SIZE = 65536, LOOK_MILLISECONDS = 200, SYNC_INCREMENTAL = 2, LAST_LINE = 1 << 24 };

typedef struct server {
    heddle_lsp_client client;
    heddle_lsp_checker checker;
    const heddle_lsp_options *options;
    bool initialized, shut_down, ended;
} server;

// --- fields of messages
// ------------------------------------------------------------------------------------------------

// The value at "a.b.c" below an object; NULL: there is none.
static const cJSON *at(const cJSON *object, const char *path)
{
    char name[64];
    while (object && *path) {
        const size_t length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        object = cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
        path += length + (path[length] == '.');
    }
    return object;
}

static const char *text_at(const cJSON *object, const char *path)
{
    const cJSON *value = at(object, path);
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

// A position in a file, at least 0; `otherwise` if the value is not a number.
static int int_at(const cJSON *object, const char *path, int otherwise)
{
    const cJSON *value = at(object, path);
    return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= LAST_LINE ? (int)value->valuedouble
                                                                                               : otherwise;
}

// --- requests
// ------------------------------------------------------------------------------------------------------------

static cJSON *capabilities_json(const server *all)
{
    cJSON *result = cJSON_CreateObject(), *can = cJSON_AddObjectToObject(result, "capabilities");
    cJSON_AddStringToObject(can, "positionEncoding", all->checker.form.utf8 ? "utf-8" : "utf-16");
    cJSON *sync = cJSON_AddObjectToObject(can, "textDocumentSync");
    cJSON_AddBoolToObject(sync, "openClose", true);
    cJSON_AddNumberToObject(sync, "change", SYNC_INCREMENTAL); // only that there is one is of interest
    cJSON_AddBoolToObject(sync, "save", true);
    cJSON_AddBoolToObject(can, "hoverProvider", true);
    cJSON_AddBoolToObject(can, "inlayHintProvider", true);
    cJSON *actions = cJSON_AddObjectToObject(can, "codeActionProvider");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(actions, "codeActionKinds"), cJSON_CreateString("quickfix"));
    cJSON *about = cJSON_AddObjectToObject(result, "serverInfo");
    cJSON_AddStringToObject(about, "name", "heddle");
    cJSON_AddStringToObject(about, "version", heddle_version());
    return result;
}

static cJSON *initialize(server *all, const cJSON *params)
{
    const cJSON *encoding;
    heddle_lsp_checker *checker = &all->checker;
    cJSON_ArrayForEach(encoding, at(params, "capabilities.general.positionEncodings"))
    {
        if (cJSON_IsString(encoding) && strcmp(encoding->valuestring, "utf-8") == 0)
            checker->form.utf8 = true;
    }
    checker->form.related = cJSON_IsTrue(at(params, "capabilities.textDocument.publishDiagnostics.relatedInformation"));
    checker->shows_progress = cJSON_IsTrue(at(params, "capabilities.window.workDoneProgress"));
    checker->refreshes = cJSON_IsTrue(at(params, "capabilities.workspace.inlayHint.refreshSupport"));
    all->initialized = true;
    return capabilities_json(all);
}

// What is known of a file, while its text is as it was checked.
static cJSON *ask_document(server *all, const char *method, const cJSON *params)
{
    const char *uri = text_at(params, "textDocument.uri");
    cJSON *answer = NULL;
    pthread_mutex_lock(&all->checker.lock);
    const heddle_lsp_document *document = uri ? heddle_lsp_checker_find(&all->checker, uri) : NULL;
    const heddle_check_result *result = document && !document->changed ? document->result : NULL;
    if (strcmp(method, "textDocument/codeAction") == 0)
        answer = heddle_lsp_actions(result, document ? document->path : "", uri ? uri : "",
                                    at(params, "context.diagnostics"));
    else if (result && strcmp(method, "textDocument/hover") == 0)
        answer = heddle_lsp_hover(result, document->path, int_at(params, "position.line", LAST_LINE));
    else if (result)
        answer = heddle_lsp_hints(result, document->path, int_at(params, "range.start.line", 0),
                                  int_at(params, "range.end.line", LAST_LINE), &all->checker.form);
    pthread_mutex_unlock(&all->checker.lock);
    return answer;
}

static bool is_about_document(const char *method)
{
    return strcmp(method, "textDocument/hover") == 0 || strcmp(method, "textDocument/inlayHint") == 0 ||
           strcmp(method, "textDocument/codeAction") == 0;
}

static void handle_request(server *all, const cJSON *id, const char *method, const cJSON *params)
{
    heddle_lsp_client *client = &all->client;
    if (all->shut_down) {
        heddle_lsp_refuse(client, id, HEDDLE_LSP_INVALID_REQUEST, "the server is shut down: only exit may follow");
    } else if (strcmp(method, "initialize") == 0) {
        if (all->initialized)
            heddle_lsp_refuse(client, id, HEDDLE_LSP_INVALID_REQUEST, "the server is initialized already");
        else
            heddle_lsp_answer(client, id, initialize(all, params));
    } else if (!all->initialized) {
        heddle_lsp_refuse(client, id, HEDDLE_LSP_NOT_INITIALIZED, "initialize comes first");
    } else if (strcmp(method, "shutdown") == 0) {
        all->shut_down = true;
        heddle_lsp_answer(client, id, NULL);
    } else if (is_about_document(method)) {
        if (text_at(params, "textDocument.uri"))
            heddle_lsp_answer(client, id, ask_document(all, method, params));
        else
            heddle_lsp_refuse(client, id, HEDDLE_LSP_INVALID_PARAMS, "params have no textDocument.uri");
    } else {
        heddle_lsp_refuse(client, id, HEDDLE_LSP_METHOD_NOT_FOUND, "heddle does not have this method");
    }
}

// --- notifications
// -------------------------------------------------------------------------------------------------------

static void handle_notification(server *all, const char *method, const cJSON *params)
{
    const char *uri = text_at(params, "textDocument.uri");
    char path[PATH_MAX];
    if (strcmp(method, "exit") == 0)
        all->ended = true;
    if (!all->initialized || all->shut_down)
        return;
    if (strcmp(method, "window/workDoneProgress/cancel") == 0)
        heddle_lsp_checker_cancel(&all->checker, int_at(params, "token", 0));
    if (!uri)
        return;
    if (strcmp(method, "textDocument/didOpen") == 0) {
        // A buffer without a file has nothing to check yet.
        if (heddle_lsp_path_of(uri, path, sizeof path) &&
            heddle_lsp_checker_open(&all->checker, uri, path) == HEDDLE_OK && !all->options->only_saves)
            heddle_lsp_checker_check(&all->checker, uri);
    } else if (strcmp(method, "textDocument/didSave") == 0) {
        heddle_lsp_checker_check(&all->checker, uri);
    } else if (strcmp(method, "textDocument/didChange") == 0) {
        heddle_lsp_checker_changed(&all->checker, uri);
    } else if (strcmp(method, "textDocument/didClose") == 0) {
        heddle_lsp_checker_close(&all->checker, uri);
    }
}

// --- messages
// ------------------------------------------------------------------------------------------------------------

static void handle_message(server *all, const char *text, size_t size)
{
    cJSON *message = NULL;
    if (heddle_json_parse("message", text, size, &message) != HEDDLE_OK) {
        heddle_lsp_refuse(&all->client, NULL, HEDDLE_LSP_PARSE_ERROR, heddle_last_error());
        return;
    }
    const cJSON *id = at(message, "id"), *params = at(message, "params");
    const char *method = text_at(message, "method");
    const bool has_id = cJSON_IsString(id) || cJSON_IsNumber(id);
    if (method && has_id)
        handle_request(all, id, method, params);
    else if (method && !id)
        handle_notification(all, method, params);
    else if (method || !cJSON_IsObject(message) || !(at(message, "result") || at(message, "error"))) // else an answer
        heddle_lsp_refuse(&all->client, has_id ? id : NULL, HEDDLE_LSP_INVALID_REQUEST,
                          "neither a request, nor a notification, nor an answer");
    cJSON_Delete(message);
}

static void handle_bytes(server *all, heddle_lsp_frames *frames)
{
    const char *message;
    size_t size;
    heddle_lsp_frame frame;
    while (!all->ended && (frame = heddle_lsp_frames_next(frames, &message, &size)) != HEDDLE_LSP_INCOMPLETE)
        if (frame == HEDDLE_LSP_MESSAGE)
            handle_message(all, message, size);
        else
            heddle_lsp_refuse(&all->client, NULL, HEDDLE_LSP_PARSE_ERROR,
                              "a header without a Content-Length of at most 64 MiB");
}

// Waits for input. False: there will be none any more.
static bool has_input(const server *all)
{
    struct pollfd file = {.fd = all->options->input, .events = POLLIN};
    for (;;) {
        if (all->client.gone || (all->options->stopped && *all->options->stopped))
            return false;
        const int ready = poll(&file, 1, LOOK_MILLISECONDS);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
}

static heddle_status read_messages(server *all)
{
    heddle_lsp_frames frames = {0};
    heddle_status status = HEDDLE_OK;
    char *bytes = malloc(READ_SIZE);
    if (!bytes)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read messages");
    while (status == HEDDLE_OK && !all->ended && has_input(all)) {
        const ssize_t size = read(all->options->input, bytes, READ_SIZE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        status = heddle_lsp_frames_add(&frames, bytes, (size_t)size);
        if (status == HEDDLE_OK)
            handle_bytes(all, &frames);
    }
    free(bytes);
    heddle_lsp_frames_free(&frames);
    return status;
}

heddle_status heddle_lsp_serve(const heddle_lsp_options *options, bool *orderly)
{
    server all = {.client = {.output = options->output}, .options = options};
    all.checker = (heddle_lsp_checker){.client = &all.client, .options = options};
    pthread_mutex_init(&all.client.lock, NULL);
    heddle_status status = heddle_lsp_checker_start(&all.checker);
    if (status == HEDDLE_OK)
        status = read_messages(&all);
    heddle_lsp_checker_stop(&all.checker);
    pthread_mutex_destroy(&all.client.lock);
    *orderly = all.shut_down;
    return status;
}
