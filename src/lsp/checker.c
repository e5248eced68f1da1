// Checks open files in a thread of its own, and publishes what it finds.

#include "lsp/checker.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spawn.h"
#include "base/text.h"
#include "check/check.h"
#include "check/describe.h"
#include "check/folder.h"
#include "check/sandbox.h"
#include "lsp/how.h"
#include "lsp/progress.h"
#include "lsp/uri.h"

enum { SCHEDULES = 2, TEXT_SIZE = 2048 };

static void free_document(heddle_lsp_document *document)
{
    free(document->uri);
    free(document->path);
    free(document->address);
    heddle_check_result_free(document->result);
    cJSON_Delete(document->shown);
    free(document);
}

// --- publishing
// --------------------------------------------------------------------------------------------------------

static void send_diagnostics(heddle_lsp_checker *checker, const char *uri, cJSON *diagnostics)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddStringToObject(params, "uri", uri);
    cJSON_AddItemToObject(params, "diagnostics", diagnostics);
    heddle_lsp_notify(checker->client, "textDocument/publishDiagnostics", params);
}

static bool has_same(const cJSON *list, const cJSON *diagnostic)
{
    const cJSON *one;
    cJSON_ArrayForEach(one, list)
    {
        if (cJSON_Compare(one, diagnostic, true))
            return true;
    }
    return false;
}

// What the checks of all open files found in the file at `address`. A header has findings from each that includes it.
static cJSON *found_in(const heddle_lsp_checker *checker, const char *address)
{
    cJSON *all = cJSON_CreateArray();
    for (const heddle_lsp_document *document = checker->documents; document; document = document->next) {
        const cJSON *one;
        cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(document->shown, address))
        {
            if (!has_same(all, one))
                cJSON_AddItemToArray(all, cJSON_Duplicate(one, true));
        }
    }
    return all;
}

// An editor that has the file open may write its address in another way, and looks for diagnostics there.
static void publish(heddle_lsp_checker *checker, const char *address)
{
    cJSON *all = found_in(checker, address);
    bool is_open = false;
    for (const heddle_lsp_document *document = checker->documents; document; document = document->next)
        if (!document->closed && strcmp(document->address, address) == 0) {
            send_diagnostics(checker, document->uri, cJSON_Duplicate(all, true));
            is_open = true;
        }
    if (!is_open)
        send_diagnostics(checker, address, cJSON_Duplicate(all, true));
    cJSON_Delete(all);
}

// Shows `files`, which it takes over, in place of what the last check of the document showed.
static void show(heddle_lsp_checker *checker, heddle_lsp_document *document, cJSON *files)
{
    const char *own = document->address;
    cJSON *old = document->shown;
    const cJSON *list;
    document->shown = files;
    cJSON_ArrayForEach(list, old)
    {
        if (strcmp(list->string, own) != 0 && !cJSON_GetObjectItemCaseSensitive(files, list->string))
            publish(checker, list->string);
    }
    cJSON_ArrayForEach(list, files)
    {
        if (strcmp(list->string, own) != 0)
            publish(checker, list->string);
    }
    publish(checker, own); // also without any: the editor learns that the check is over
    cJSON_Delete(old);
}

static void show_remark(heddle_lsp_checker *checker, heddle_lsp_document *document, int line, int severity,
                        const char *message)
{
    cJSON *files = cJSON_CreateObject();
    cJSON_AddItemToArray(cJSON_AddArrayToObject(files, document->address),
                         heddle_lsp_remark(line, severity, NULL, message));
    show(checker, document, files);
}

static void say(heddle_lsp_checker *checker, const char *method, int type, const char *text)
{
    cJSON *params = cJSON_CreateObject();
    cJSON_AddNumberToObject(params, "type", type);
    cJSON_AddStringToObject(params, "message", text);
    heddle_lsp_notify(checker->client, method, params);
}

static void show_failure(heddle_lsp_checker *checker, heddle_lsp_document *document, heddle_status status, int line)
{
    char text[TEXT_SIZE];
    const char *error = heddle_last_error();
    if (status == HEDDLE_MISSING) { // on this machine, not in the file
        snprintf(text, sizeof text, "heddle: %s", error);
        say(checker, "window/showMessage", HEDDLE_LSP_SEVERITY_ERROR, text);
        return;
    }
    if (strstr(error, "nothing to run"))
        snprintf(text, sizeof text,
                 "not checked: the file has no main. A comment near its top can say how to check it: "
                 "`// heddle: check main.cu -- 64` builds it with other files, `// heddle: check --op matmul` compares "
                 "it with an operator of heddle.");
    else
        snprintf(text, sizeof text, "not checked: %s", error);
    show_remark(checker, document, line,
                strstr(error, "nothing to run") ? HEDDLE_LSP_SEVERITY_HINT : HEDDLE_LSP_SEVERITY_WARNING, text);
}

static void show_result(heddle_lsp_checker *checker, heddle_lsp_document *document, heddle_check_result *result)
{
    char verdict[TEXT_SIZE / 2], text[TEXT_SIZE];
    cJSON *files = heddle_lsp_diagnostics(result, document->path, &checker->form);
    heddle_check_sources_line(result->sources, document->path, 1); // reads the file now, as it was checked
    heddle_check_result_free(document->result);
    document->result = result;
    if (files)
        show(checker, document, files);
    snprintf(text, sizeof text, "%s: %s", heddle_check_file_name(document->path),
             heddle_check_verdict(result, verdict, sizeof verdict));
    say(checker, "window/logMessage", HEDDLE_LSP_SEVERITY_INFORMATION, text);
    if (checker->refreshes)
        heddle_lsp_request(checker->client, "workspace/inlayHint/refresh", NULL);
}

// --- one check
// -----------------------------------------------------------------------------------------------------------

static heddle_status check(const heddle_lsp_checker *checker, const char *path, heddle_check_result **result, int *line)
{
    heddle_lsp_how how = {0};
    heddle_check_folder folder, room;
    char place[PATH_MAX];
    // Opening a file in an editor is no wish to run a stranger's program with all rights.
    heddle_status status =
        heddle_sandbox_contains()
            ? heddle_lsp_how_read(path, &how, line)
            : heddle_fail(HEDDLE_MISSING, "nothing contains programs on this machine, so the file is not run: install "
                                          "bubblewrap, or run `heddle check` in a terminal");
    if (status == HEDDLE_OK)
        status = heddle_check_folder_create(&folder, false);
    if (status != HEDDLE_OK) {
        heddle_lsp_how_free(&how);
        return status;
    }
    snprintf(place, sizeof place, "%.*s", (int)(strrchr(path, '/') - path), path);
    heddle_check_options options = {
        .no_input = true,
        .schedules = SCHEDULES,
        .seconds = checker->options->seconds,
        .budget = checker->options->budget,
        .seed = 1,
        .nvcc = HEDDLE_CHECK_NVCC_NEVER,
        .sandbox = true,
        .carry = true,
        .divergence = true,
        .progress = heddle_lsp_progress_told,
        .output = -1,
        .errors = -1,
    };
    heddle_lsp_how_set(&how, &options);
    status = heddle_check_folder_inner(&folder, "room", &room);
    options.folder = checker->options->in_place ? (place[0] ? place : "/") : room.path;
    if (status == HEDDLE_OK)
        status = heddle_check_run(&options, result);
    heddle_check_folder_release(&folder);
    heddle_lsp_how_free(&how);
    return status;
}

// Forgets a file that was closed. The caller holds the lock.
static void forget(heddle_lsp_checker *checker, heddle_lsp_document *document)
{
    heddle_lsp_document **link = &checker->documents;
    while (*link && *link != document)
        link = &(*link)->next;
    if (*link)
        *link = document->next;
    free_document(document);
}

// Checks the file; the lock is released meanwhile.
static void check_document(heddle_lsp_checker *checker, heddle_lsp_document *document)
{
    heddle_check_result *result = NULL;
    int line = 1;
    document->wanted = false;
    checker->running = document;
    const int number = ++checker->number;
    heddle_check_resume();
    pthread_mutex_unlock(&checker->lock);

    heddle_lsp_progress progress = {.client = checker->shows_progress ? checker->client : NULL, .number = number};
    heddle_lsp_progress_begin(&progress, heddle_check_file_name(document->path));
    const heddle_status status = check(checker, document->path, &result, &line);

    pthread_mutex_lock(&checker->lock);
    checker->running = NULL;
    const bool dropped = status == HEDDLE_INTERRUPTED || document->wanted || document->closed || checker->stopping;
    heddle_lsp_progress_end(&progress, dropped ? "cancelled" : "checked");
    if (dropped)
        heddle_check_result_free(result);
    else if (status == HEDDLE_OK)
        show_result(checker, document, result);
    else
        show_failure(checker, document, status, line);
    if (document->closed)
        forget(checker, document);
}

static void *work(void *context)
{
    heddle_lsp_checker *checker = context;
    pthread_mutex_lock(&checker->lock);
    while (!checker->stopping) {
        heddle_lsp_document *document = checker->documents;
        while (document && !document->wanted)
            document = document->next;
        if (document)
            check_document(checker, document);
        else
            pthread_cond_wait(&checker->wanted, &checker->lock);
    }
    pthread_mutex_unlock(&checker->lock);
    return NULL;
}

// --- for the server
// ------------------------------------------------------------------------------------------------------

heddle_status heddle_lsp_checker_start(heddle_lsp_checker *checker)
{
    pthread_mutex_init(&checker->lock, NULL);
    pthread_cond_init(&checker->wanted, NULL);
    const heddle_status status = heddle_thread_start(&checker->thread, "checker", work, checker);
    checker->has_thread = status == HEDDLE_OK;
    return status;
}

void heddle_lsp_checker_stop(heddle_lsp_checker *checker)
{
    pthread_mutex_lock(&checker->lock);
    checker->stopping = true;
    if (checker->running)
        heddle_check_interrupt();
    pthread_cond_signal(&checker->wanted);
    pthread_mutex_unlock(&checker->lock);
    if (checker->has_thread)
        pthread_join(checker->thread, NULL);
    while (checker->documents)
        forget(checker, checker->documents);
    heddle_check_resume();
    pthread_cond_destroy(&checker->wanted);
    pthread_mutex_destroy(&checker->lock);
}

heddle_lsp_document *heddle_lsp_checker_find(const heddle_lsp_checker *checker, const char *uri)
{
    for (heddle_lsp_document *document = checker->documents; document; document = document->next)
        if (!document->closed && strcmp(document->uri, uri) == 0)
            return document;
    return NULL;
}

// What was published of a file before it was opened goes to the address that the editor has for it.
static void move_diagnostics(heddle_lsp_checker *checker, const heddle_lsp_document *opened)
{
    cJSON *known = found_in(checker, opened->address);
    if (known->child && strcmp(opened->uri, opened->address) != 0) {
        send_diagnostics(checker, opened->address, cJSON_CreateArray());
        publish(checker, opened->address);
    }
    cJSON_Delete(known);
}

heddle_status heddle_lsp_checker_open(heddle_lsp_checker *checker, const char *uri, const char *path)
{
    char address[sizeof "file://" + 3 * PATH_MAX];
    heddle_lsp_document *made = calloc(1, sizeof *made);
    if (made)
        *made = (heddle_lsp_document){.uri = strdup(uri),
                                      .path = strdup(path),
                                      .address = strdup(heddle_lsp_uri_of(path, address, sizeof address))};
    if (!made || !made->uri || !made->path || !made->address) {
        if (made)
            free_document(made);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for an open file");
    }
    pthread_mutex_lock(&checker->lock);
    const bool known = heddle_lsp_checker_find(checker, uri) != NULL;
    if (!known) {
        made->next = checker->documents;
        checker->documents = made;
        move_diagnostics(checker, made);
    }
    pthread_mutex_unlock(&checker->lock);
    if (known)
        free_document(made);
    return HEDDLE_OK;
}

void heddle_lsp_checker_close(heddle_lsp_checker *checker, const char *uri)
{
    pthread_mutex_lock(&checker->lock);
    heddle_lsp_document *document = heddle_lsp_checker_find(checker, uri);
    if (document) {
        document->closed = true;
        if (strcmp(document->uri, document->address) != 0)
            send_diagnostics(checker, document->uri, cJSON_CreateArray());
        show(checker, document, cJSON_CreateObject()); // findings of other files in it stay
        document->wanted = false;
        if (checker->running == document)
            heddle_check_interrupt();
        else
            forget(checker, document);
    }
    pthread_mutex_unlock(&checker->lock);
}

void heddle_lsp_checker_changed(heddle_lsp_checker *checker, const char *uri)
{
    pthread_mutex_lock(&checker->lock);
    heddle_lsp_document *document = heddle_lsp_checker_find(checker, uri);
    if (document)
        document->changed = true;
    pthread_mutex_unlock(&checker->lock);
}

void heddle_lsp_checker_check(heddle_lsp_checker *checker, const char *uri)
{
    pthread_mutex_lock(&checker->lock);
    heddle_lsp_document *document = heddle_lsp_checker_find(checker, uri);
    if (document) {
        document->wanted = true;
        document->changed = false;
        heddle_check_result_free(document->result); // of a text that is gone
        document->result = NULL;
        if (checker->running == document)
            heddle_check_interrupt();
        pthread_cond_signal(&checker->wanted);
    }
    pthread_mutex_unlock(&checker->lock);
}

void heddle_lsp_checker_cancel(heddle_lsp_checker *checker, int number)
{
    pthread_mutex_lock(&checker->lock);
    if (checker->running && checker->number == number)
        heddle_check_interrupt();
    pthread_mutex_unlock(&checker->lock);
}
