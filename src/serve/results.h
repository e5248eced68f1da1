// Results of `heddle bench` for the page: the files there are in a folder, and a quick measurement of one operator,
// which becomes such a file.
#pragma once

#include <signal.h>
#include <stddef.h>

#include "heddle/device.h"

struct cJSON;

enum { HEDDLE_SERVE_RESULT_NAME = 128 };

// Every file NAME.json in the folder that `heddle bench --json=FILE` wrote, newest first: name, format, device, date
// and number of rows. The caller deletes the list, which is empty where there is no such folder. Links are not
// followed.
struct cJSON *heddle_serve_results_list(const char *folder);
// The text of one of them, which the caller frees. HEDDLE_NOT_FOUND: there is none of that name.
heddle_status heddle_serve_results_read(const char *folder, const char *name, char **text, size_t *size);

// Operators that have something to measure on that kind of device; the caller deletes the list of names.
struct cJSON *heddle_serve_results_operators(heddle_device_kind kind);

typedef struct heddle_serve_measure {
    const char *device; // as of --device; NULL: the default
    int threads;        // 0: one per core
    const char *folder; // of the results; made where it is missing
    volatile sig_atomic_t *stop;
} heddle_serve_measure;

// As `heddle bench OP --quick --json=FOLDER/quick-OP-DEVICE.json`: the first shape, reduced on a CPU. The name of the
// file, which no other measurement has, is left in `name`. HEDDLE_INVALID: nothing can be measured on the device.
// HEDDLE_INTERRUPTED: *stop was set.
heddle_status heddle_serve_results_measure(const heddle_serve_measure *how, const char *op,
                                           char name[HEDDLE_SERVE_RESULT_NAME]);
