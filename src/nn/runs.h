// The runs in a folder such as runs/: each a folder of its own, with its curve, its state and the figures that follow
// from them. The terminal and the page show what is read here.
#pragma once

#include "nn/curve.h"
#include "nn/trainer_folder.h"

typedef struct heddle_run {
    char *name, *folder; // "synth-cnn", "runs/synth-cnn"
    heddle_curve curve;
    // "running", as the curve ended ("complete", "stopped", "diverged", "failed"), "killed": it has not ended and does
    // not run, "no curve": the checkpoints alone are there
    char state[HEDDLE_CURVE_WORD];
    double changed;       // when its files were last written: seconds since 1970
    int epochs_done;      // whole ones
    double best_accuracy; // on the test set; NAN: not evaluated yet
    int best_epoch;
    double loss;              // of the latest point; NAN: none
    double seconds;           // of training
    double images_per_second; // over all of it; NAN: not known
} heddle_run;

typedef struct heddle_runs {
    heddle_run *items; // newest first
    int count;
} heddle_runs;

// Reads every run in `folder`. A folder below it that holds no run is left out, and
// so is one whose curve cannot be read, with a warning. HEDDLE_NOT_FOUND: there is no such folder.
heddle_status heddle_runs_read(const char *folder, heddle_runs *runs);
// Adds the run in one folder. HEDDLE_NOT_FOUND: it holds none.
heddle_status heddle_runs_add(const char *name, const char *folder, heddle_runs *runs);
void heddle_runs_free(heddle_runs *runs);

// What is known of a run as an object that the caller deletes, with its curve where asked for; NULL: no memory. Its
// fields are in docs/json.md.
struct cJSON *heddle_run_json(const heddle_run *run, bool with_curve);
// A setting as text on one line; "" where the run has none of that name.
const char *heddle_run_setting(const heddle_run *run, const char *name, char *text, size_t size);
