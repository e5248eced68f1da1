// What the command line of `heddle bench OP` requests: operators, rungs, shapes and a device.
#pragma once

#include "cli/bench.h"
#include "cli/shapes.h"

enum { HEDDLE_CLI_BENCH_NAME = 128 };

typedef struct heddle_cli_bench_request {
    const heddle_cli_bench_settings *settings;
    const char *what;                 // as it was given; NULL: all
    char name[HEDDLE_CLI_BENCH_NAME]; // operator or ladder; "": all
    const char *rung;                 // NULL: all
    heddle_cli_shapes shapes;
    const char *file;      // the user's own kernel; NULL: none
    const heddle_op *own;  // its operator, with one more rung; bench_rungs.c sets it
    const char *precision; // of the rungs; NULL: any
    heddle_cli_device device;
    heddle_device_kind kind; // of the device
} heddle_cli_bench_request;

// To be freed whatever it returns. Names and shapes are checked against the registry, and the device of a user's own
// kernel is opened.
heddle_status heddle_cli_bench_request_read(const heddle_cli_bench_settings *settings, const char *what,
                                            heddle_cli_bench_request *asked);
// bench_sweep.c: replaces the shapes by those that --sweep gives: `base` with a range of values for one or several of
// its fields, "m=128:8192:x2".
heddle_status heddle_cli_bench_sweep(const char *text, const char *base, heddle_cli_shapes *shapes);
// Opens the device, if it is not open.
heddle_status heddle_cli_bench_request_open(heddle_cli_bench_request *asked);
// How many operators there are to measure on the device; HEDDLE_INVALID, HEDDLE_MISSING: why there is none.
heddle_status heddle_cli_bench_request_count(const heddle_cli_bench_request *asked, int *wanted);
void heddle_cli_bench_request_free(heddle_cli_bench_request *asked);

bool heddle_cli_bench_wants(const heddle_cli_bench_request *asked, const heddle_op *op);
bool heddle_cli_bench_wants_rung(const heddle_cli_bench_request *asked, const heddle_op *op, const heddle_rung *rung);
// Whether the text is a shape of the operator, and whether its rung of that name supports it.
bool heddle_cli_bench_fits(const heddle_op *op, const char *text);
bool heddle_cli_bench_can_do(const heddle_op *op, const char *name, const char *text);
