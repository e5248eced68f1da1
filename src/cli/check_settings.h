// The options of `heddle check`.
#pragma once

#include "cli/json.h"
#include "cli/options.h"

typedef struct heddle_check_settings {
    const char *op, *cmake, *gpu, *suppress, *sarif, *html, *trace, *compiler, *standard;
    const char *kernel, *args, *grid, *block, *shared, *reference, *driver;
    double tolerance;
    heddle_cli_list expect, shapes, include, define, library;
    int schedules;
    double budget, timeout, memory;
    uint64_t seed;
    bool strict, grade, any_status, unwatched, full, divergence, counters, no_counters, quiet, keep, nvcc, no_nvcc,
        no_sandbox, list_kernels, watch;
    heddle_cli_json json;
} heddle_check_settings;
