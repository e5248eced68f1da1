// The curve of a run: curve.jsonl in its folder, with its settings, the loss as it fell and the test accuracy after
// each epoch, one JSON object per line. trainer_curve.c writes it while the run trains; this reads it. docs/training.md
// describes the format.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/op.h"

struct cJSON;

#define HEDDLE_RUN_CURVE "curve.jsonl"

enum {
    HEDDLE_CURVE_FORMAT = 1,
    HEDDLE_CURVE_POINTS = 500,      // about as many of a run, however long it is; an epoch has one at least
    HEDDLE_CURVE_WORD = 32,         // bytes of a state or a time
    HEDDLE_CURVE_LARGEST = 1 << 28, // bytes of the file: a million epochs
};

// The means over the images since the point before, or since the epoch began.
typedef struct heddle_curve_point {
    int64_t step; // steps done
    int epoch;    // from 1
    int64_t images;
    double loss, accuracy;
    double learning_rate;
    double seconds;           // training so far
    double images_per_second; // NAN: not known
} heddle_curve_point;

// After an epoch, on the test set.
typedef struct heddle_curve_test {
    int64_t step;
    int epoch;
    double loss, accuracy;
    double seconds;
} heddle_curve_test;

typedef struct heddle_curve {
    struct cJSON *settings; // an object; those of the latest start, which may differ in the device and in epochs
    char started[HEDDLE_CURVE_WORD]; // when the run began: "2026-11-18T09:30:00Z"
    int starts;                      // 1, and one more each time it was resumed
    heddle_curve_point *points;
    int point_count;
    heddle_curve_test *tests;
    int test_count;
    char end[HEDDLE_CURVE_WORD]; // "complete", "stopped", "diverged", "failed"; "": it has not ended, or was killed
    int bad_line;                // the first that is not one of a curve, from 1; 0: none. Such lines are left out
} heddle_curve;

// Reads the curve in `folder`. A last line that a killed process left unfinished is left out. HEDDLE_NOT_FOUND: there
// is none; HEDDLE_CORRUPT: no line is one of a curve. heddle_curve_free frees it, after a failure too.
heddle_status heddle_curve_read(const char *folder, heddle_curve *curve);
// The same from its text; `what` names it in errors.
heddle_status heddle_curve_take(const char *what, const char *text, size_t size, heddle_curve *curve);
void heddle_curve_free(heddle_curve *curve);

// As `--precision` says it.
const char *heddle_curve_precision(heddle_arithmetic arithmetic);

// One line of the file, for who writes it too.
typedef enum heddle_curve_event {
    HEDDLE_CURVE_NONE, // not a line of a curve
    HEDDLE_CURVE_STARTED,
    HEDDLE_CURVE_STEP,
    HEDDLE_CURVE_TEST,
    HEDDLE_CURVE_ENDED,
} heddle_curve_event;
extern const char *const heddle_curve_events[]; // by heddle_curve_event; "" for the first

typedef struct heddle_curve_line {
    heddle_curve_event event;
    heddle_curve_point point; // HEDDLE_CURVE_STEP; of the others the step
    heddle_curve_test test;
    char word[HEDDLE_CURVE_WORD]; // the state in which it ended, or the time when it started
    struct cJSON *settings;       // HEDDLE_CURVE_STARTED; the caller's
} heddle_curve_line;

heddle_curve_line heddle_curve_parse(const char *text, size_t size);
