// How one moment of a job's progress looks, in each of its forms.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/progress.h"

typedef struct heddle_progress_view {
    const char *label;
    const heddle_progress_state *state;
    double seconds; // since the job began
    double rate;    // units a second; NAN: not known yet
    bool finished;
} heddle_progress_view;

// Over the line the cursor is on; ends it when finished.
void heddle_progress_draw_bar(FILE *file, const heddle_progress_view *view);
void heddle_progress_draw_line(FILE *file, const heddle_progress_view *view);
