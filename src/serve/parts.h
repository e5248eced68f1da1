// What the parts of the serving page share: serve.c opens and closes, routes.c answers, metrics.c counts.
#pragma once

#include <pthread.h>

#include "serve/checker.h"
#include "serve/predictor.h"
#include "serve/serve.h"
#include "serve/training.h"
#include "serve/worker.h"

enum { HEDDLE_SERVE_PATH_SIZE = 4096 };

struct heddle_serve {
    heddle_serve_settings settings;
    pthread_mutex_t lock;      // of what follows
    heddle_web_server *server; // NULL: pages are not told anything yet, or any more
    // The rest stays as it is from the first request to the last.
    heddle_serve_predictor *predictor;
    heddle_serve_training *training;
    heddle_serve_checker *checker;
    heddle_serve_worker *images, *runs, *bench; // read what requests carry, and runs and results; measure
    volatile sig_atomic_t ending;               // what is measured stops
    char checkpoint[HEDDLE_SERVE_PATH_SIZE];    // that it began with; "": none
};

// serve.c: the best checkpoint in a run's folder, or the last. HEDDLE_NOT_FOUND: there is neither.
heddle_status heddle_serve_find_checkpoint(const char *folder, char path[HEDDLE_SERVE_PATH_SIZE]);

// routes.c
extern const heddle_web_route heddle_serve_routes[];

// metrics.c: in Prometheus' text format; the caller frees it. NULL: no memory.
char *heddle_serve_metrics(heddle_serve *serve);
