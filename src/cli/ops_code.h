// `heddle ops OPERATOR/RUNG --ptx` and `--sass`.
#pragma once

#include <stdbool.h>

#include "cli/json.h"

#define HEDDLE_CLI_USUAL_ARCHITECTURE "sm_90a" // for which every rung compiles

typedef struct heddle_cli_ops_code {
    bool sass;
    const char *architecture; // "sm_90a"
    const char *kernel;       // part of a kernel's name; NULL: not said
    const char *source;       // a checkout of heddle; NULL: look for one
    heddle_cli_json json;
} heddle_cli_ops_code;

// `name` is an operator or a ladder, a slash and a rung. Returns the command's exit code.
int heddle_cli_ops_code_show(const char *name, const heddle_cli_ops_code *wanted);
