// The open files, and the thread that checks them, one at a time. A file that is saved again while it is checked is
// checked anew from its start.
#pragma once

#include <pthread.h>

#include "lsp/client.h"
#include "lsp/lsp.h"
#include "lsp/show.h"

typedef struct heddle_lsp_document {
    struct heddle_lsp_document *next;
    char *uri, *path;            // the address as the editor writes it
    char *address;               // of `path`, as findings name it
    bool closed;                 // to be forgotten when its check has ended
    bool wanted;                 // waits to be checked
    bool changed;                // since it was saved: what is known of its lines may not fit any more
    heddle_check_result *result; // of the last check; NULL: there is none
    cJSON *shown;                // {address of a file: [diagnostics]} of the last check, in headers too
} heddle_lsp_document;

typedef struct heddle_lsp_checker {
    heddle_lsp_client *client;
    const heddle_lsp_options *options;
    heddle_lsp_form form;
    bool shows_progress;
    bool refreshes; // the editor can be asked to fetch inlay hints again
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t wanted;
    bool stopping;
    heddle_lsp_document *documents, *running;
    int number; // of the check that runs, which is also the token of its progress
} heddle_lsp_checker;

heddle_status heddle_lsp_checker_start(heddle_lsp_checker *checker);
// Ends the check that runs, and the thread.
void heddle_lsp_checker_stop(heddle_lsp_checker *checker);

heddle_status heddle_lsp_checker_open(heddle_lsp_checker *checker, const char *uri, const char *path);
void heddle_lsp_checker_close(heddle_lsp_checker *checker, const char *uri);
void heddle_lsp_checker_changed(heddle_lsp_checker *checker, const char *uri);
void heddle_lsp_checker_check(heddle_lsp_checker *checker, const char *uri);
// Ends the check with that number, if it still runs.
void heddle_lsp_checker_cancel(heddle_lsp_checker *checker, int number);
// The file of that address; NULL: it is not open. The caller holds the lock.
heddle_lsp_document *heddle_lsp_checker_find(const heddle_lsp_checker *checker, const char *uri);
