// How a file is to be checked, where it says so itself, in a comment near its top:
//     // heddle: check kernels.cu -I include -D N=64 -- 1024
// Whoever wrote the file wrote the comment: it names sources, macros, an operator and arguments, and can neither lift
// the sandbox nor choose the compiler.
#pragma once

#include "check/check.h"

enum { HEDDLE_LSP_MOST_WORDS = 64 };

typedef struct heddle_lsp_words {
    const char *at[HEDDLE_LSP_MOST_WORDS + 1]; // ends with NULL
    int count;
} heddle_lsp_words;

typedef struct heddle_lsp_how {
    heddle_lsp_words sources, arguments, include, define, shapes;
    const char *op, *gpu, *standard;
    heddle_arena *arena; // of all strings
} heddle_lsp_how;

// Reads what the file at `path` says. HEDDLE_INVALID: its comment is wrong; *line is the comment's, from 1.
heddle_status heddle_lsp_how_read(const char *path, heddle_lsp_how *how, int *line);
// What it says, as options; the rest is left as it is.
void heddle_lsp_how_set(const heddle_lsp_how *how, heddle_check_options *options);
void heddle_lsp_how_free(heddle_lsp_how *how);
