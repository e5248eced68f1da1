// Progress of a long job: a bar with rate, time left, loss and accuracy on a terminal; a plain line now and then when
// piped.
#pragma once

#include <stdio.h>

#include "heddle/status.h"

typedef enum heddle_progress_mode {
    HEDDLE_PROGRESS_AUTO, // bar if the file is a terminal, else lines
    HEDDLE_PROGRESS_BAR,
    HEDDLE_PROGRESS_LINES,
} heddle_progress_mode;

typedef struct heddle_progress heddle_progress;

typedef struct heddle_progress_state {
    double done, total;    // in `unit`s
    const char *unit;      // "images": the rate is shown as images/s
    double loss, accuracy; // NAN: not shown; accuracy in [0, 1]
    double seconds;        // since the job began, measured by the caller's clock; < 0: since create
} heddle_progress_state;

heddle_progress *heddle_progress_create(FILE *file, heddle_progress_mode mode, const char *label); // NULL: no memory
void heddle_progress_update(heddle_progress *progress,
                            const heddle_progress_state *state); // draws at most 10 times a s
// Draws the last state for good and ends the line.
void heddle_progress_finish(heddle_progress *progress, const heddle_progress_state *state);
void heddle_progress_destroy(heddle_progress *progress);
