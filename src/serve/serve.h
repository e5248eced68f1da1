// `heddle serve`: a page on which a network is tried, trained and looked into, and its API. docs/serve.md describes it.
#pragma once

#include <signal.h>

#include "heddle/status.h"

typedef struct heddle_serve heddle_serve;

typedef struct heddle_serve_settings {
    const char *address;    // in numbers
    int port;               // 0: 8765 if it is free, else any that is
    const char *checkpoint; // NULL: the newest run's, if there is one
    const char *device;     // NULL: the default
    int threads;            // 0: one per core
    const char *folder;     // that is searched first for datasets; may be NULL
    const char *runs;       // folder of the runs
    const char *results;    // folder of the results of `heddle bench`
} heddle_serve_settings;

// The texts of the settings must live as long as it does.
heddle_status heddle_serve_open(const heddle_serve_settings *settings, heddle_serve **serve);
// Ends a training run, which saves, and everything else.
void heddle_serve_close(heddle_serve *serve); // NULL is fine
const char *heddle_serve_url(const heddle_serve *serve);
// The checkpoint that it began with; "": none.
const char *heddle_serve_checkpoint(const heddle_serve *serve);
// Serves until *stop.
void heddle_serve_run(heddle_serve *serve, const volatile sig_atomic_t *stop);
