// The shapes that --shape gives.
#pragma once

#include "cli/cli.h"
#include "heddle/status.h"

enum { HEDDLE_CLI_MOST_SHAPES = 64 };

typedef struct heddle_cli_shapes {
    char *text;                                    // what the items point into
    const char *items[HEDDLE_CLI_MOST_SHAPES + 1]; // the last is followed by NULL
    int count;
} heddle_cli_shapes;

// Splits them. An empty --shape is HEDDLE_INVALID. The caller frees them, after a failure too.
heddle_status heddle_cli_shapes_read(const heddle_cli_list *given, heddle_cli_shapes *shapes);
void heddle_cli_shapes_free(heddle_cli_shapes *shapes);
