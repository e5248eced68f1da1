// The result of a check as the protocol shows it: diagnostics, hovers, inlay hints. The words are those of
// check/describe.h.
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "check/result.h"

// What the editor understands.
typedef struct heddle_lsp_form {
    bool utf8;    // columns count bytes, not units of UTF-16
    bool related; // a diagnostic may name other places
} heddle_lsp_form;

enum {
    HEDDLE_LSP_SEVERITY_ERROR = 1,
    HEDDLE_LSP_SEVERITY_WARNING,
    HEDDLE_LSP_SEVERITY_INFORMATION,
    HEDDLE_LSP_SEVERITY_HINT
};

// {address of a file: [diagnostics]} of all findings; what has no place is put at the first line of `path`. The caller
// frees it; NULL: no memory.
cJSON *heddle_lsp_diagnostics(const heddle_check_result *result, const char *path, const heddle_lsp_form *form);
// One diagnostic about a whole line, counted from 1.
cJSON *heddle_lsp_remark(int line, int severity, const char *code, const char *message);
cJSON *heddle_lsp_range(int line, int begin, int end);

// The counters of a line of `path`, counted from 0, as a hover; NULL: there are none.
cJSON *heddle_lsp_hover(const heddle_check_result *result, const char *path, int line);
// The counters of lines from `first` to `last`, in few words, each at the end of its line.
cJSON *heddle_lsp_hints(const heddle_check_result *result, const char *path, int first, int last,
                        const heddle_lsp_form *form);
// The column behind `bytes` bytes of a line, as the editor counts.
int heddle_lsp_column(const char *text, size_t bytes, const heddle_lsp_form *form);
