// Training from the page: one run at a time, in a thread and on a device of its own, kept in a folder like any run.
#pragma once

#include "heddle/train.h"
#include "serve/predictor.h"

typedef struct heddle_serve_training heddle_serve_training;

typedef struct heddle_serve_training_settings {
    const char *device; // where a request names none; NULL: the default
    int threads;
    const char *folder; // that is searched first for datasets; may be NULL
    const char *runs;   // folder for the runs
    void (*tell)(void *context, const char *event, struct cJSON *json); // as the predictor's
    void *context;
    heddle_serve_predictor *predictor; // gets the network after each epoch that was the best so far
} heddle_serve_training_settings;

heddle_status heddle_serve_training_create(const heddle_serve_training_settings *settings,
                                           heddle_serve_training **training);
// Stops the run, if there is one, which saves. NULL is fine.
void heddle_serve_training_destroy(heddle_serve_training *training);

// What a request asks for. Text lives in the request.
typedef struct heddle_serve_training_wish {
    const char *model, *data, *device; // device NULL: not named
    heddle_train_options options;
} heddle_serve_training_wish;

// Checks everything that can be checked at once. HEDDLE_CORRUPT or HEDDLE_INVALID says which field is wrong.
heddle_status heddle_serve_training_read(const struct cJSON *request, const char *folder,
                                         heddle_serve_training_wish *wish);
// HEDDLE_UNSUPPORTED: a run is under way.
heddle_status heddle_serve_training_start(heddle_serve_training *training, const heddle_serve_training_wish *wish);

typedef enum heddle_serve_training_order {
    HEDDLE_SERVE_PAUSE,
    HEDDLE_SERVE_RESUME,
    HEDDLE_SERVE_STOP, // saves
} heddle_serve_training_order;
// HEDDLE_UNSUPPORTED: there is nothing to pause, resume or stop.
heddle_status heddle_serve_training_tell(heddle_serve_training *training, heddle_serve_training_order order);

// How it stands, with its curve so far; the caller deletes it. Its fields are in docs/serve.md.
struct cJSON *heddle_serve_training_json(heddle_serve_training *training, bool with_curve);

typedef struct heddle_serve_training_counts {
    bool active;
    double epoch, loss, accuracy, images_per_second; // NAN: not known
    uint64_t runs, images;
} heddle_serve_training_counts;
heddle_serve_training_counts heddle_serve_training_count(heddle_serve_training *training);
