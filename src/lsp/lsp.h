// A language server: findings of `heddle check` as diagnostics when a file is opened or saved, counters as hovers and
// inlay hints. Speaks JSON-RPC on two file descriptors until the editor says `exit` or goes.
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "heddle/status.h"

typedef struct heddle_lsp_options {
    int input, output;
    double seconds;  // that a run may take
    double budget;   // millions of accesses that a run watches in full
    bool in_place;   // programs run in the folder of their file, and may write there; else in a folder of their own
    bool only_saves; // what is opened is not checked before it is saved
    const volatile sig_atomic_t *stopped; // becomes not 0 when it is to end; NULL: never
} heddle_lsp_options;

// *orderly: the editor has said `shutdown` before it went.
heddle_status heddle_lsp_serve(const heddle_lsp_options *options, bool *orderly);
