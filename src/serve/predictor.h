// The thread that owns the network. Requests that wait together are predicted in one batch; while none waits it
// evaluates the test set, if asked to, a batch at a time.
#pragma once

#include <stdint.h>

#include "heddle/device.h"
#include "serve/images.h"
#include "web/server.h"

struct cJSON;
typedef struct heddle_serve_predictor heddle_serve_predictor;

typedef struct heddle_serve_predictor_settings {
    const char *device; // as of --device; NULL: the default
    int threads;        // 0: one per core
    const char *folder; // that is searched first for datasets; may be NULL
    // Tells the pages, from any thread: a name, and JSON that it takes over.
    void (*tell)(void *context, const char *event, struct cJSON *json);
    void *context;
} heddle_serve_predictor_settings;

// `checkpoint` NULL: no network yet. A failure to open it is returned.
heddle_status heddle_serve_predictor_create(const heddle_serve_predictor_settings *settings, const char *checkpoint,
                                            heddle_serve_predictor **predictor);
// Every request must be finished: after heddle_web_stop. NULL is fine.
void heddle_serve_predictor_destroy(heddle_serve_predictor *predictor);

heddle_device_kind heddle_serve_predictor_device(const heddle_serve_predictor *predictor);

// Asks for another network, which answers as soon as it is read. The pages are told "network", or why it is not.
void heddle_serve_predictor_load(heddle_serve_predictor *predictor, const char *checkpoint);
// What is known of the network, which the caller deletes; JSON's null: there is none.
struct cJSON *heddle_serve_predictor_about(heddle_serve_predictor *predictor);
// Reads images for the network there is now. HEDDLE_UNSUPPORTED: there is none.
heddle_status heddle_serve_predictor_read(heddle_serve_predictor *predictor, const struct cJSON *request,
                                          heddle_serve_images *images);
// The same for a short body that is one image as a list of numbers, at once. False: it is something else, to be read as
// JSON.
bool heddle_serve_predictor_scan(heddle_serve_predictor *predictor, const char *text, size_t size,
                                 heddle_serve_images *images);
// Predicts and finishes the request; takes the pixels over. `layers`: with what every layer gives for the first image.
// Images that the network does not take, as another one was loaded since they were read, are refused.
void heddle_serve_predictor_predict(heddle_serve_predictor *predictor, heddle_web_later *later,
                                    const heddle_serve_images *images, bool layers);

// The test image of that index, with its label; the caller deletes it. HEDDLE_NOT_FOUND: there is none.
heddle_status heddle_serve_predictor_image(heddle_serve_predictor *predictor, int index, struct cJSON **json);
// Evaluates the test set once for the network there is, or again after a failure; the pages are told "evaluation" as it
// goes.
heddle_status heddle_serve_predictor_evaluate(heddle_serve_predictor *predictor);
// How far it is, and at its end accuracy, confusion matrix and misclassified images; the caller deletes it.
struct cJSON *heddle_serve_predictor_evaluation(heddle_serve_predictor *predictor);

typedef struct heddle_serve_predictor_counts {
    uint64_t requests, images, batches;
    double seconds; // predicting
    int waiting;    // requests
} heddle_serve_predictor_counts;
heddle_serve_predictor_counts heddle_serve_predictor_count(heddle_serve_predictor *predictor);
