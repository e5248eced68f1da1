// The progress of a check, as editors show it. One check at a time has one.
#pragma once

#include "check/check.h"
#include "lsp/client.h"

typedef struct heddle_lsp_progress {
    heddle_lsp_client *client; // NULL: the editor does not show progress
    int number;
    double told; // when, last
} heddle_lsp_progress;

void heddle_lsp_progress_begin(heddle_lsp_progress *progress, const char *file);
void heddle_lsp_progress_end(heddle_lsp_progress *progress, const char *how);
// For heddle_check_options.progress: about the progress that was begun last.
bool heddle_lsp_progress_told(const heddle_check_progress *now);
