// `heddle trace`, for `heddle profile` too.
#pragma once

#include "cli/json.h"

typedef struct heddle_cli_trace {
    const char *out;
    heddle_cli_json json;
} heddle_cli_trace;

// Runs a program, NULL behind its words, and shows what it did on the GPU. Returns the exit code.
int heddle_cli_trace_program(char **words, const heddle_cli_trace *settings);
