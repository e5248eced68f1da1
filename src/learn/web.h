// `heddle learn --web`: a second view of the same judge, in a browser. The files in the learner's folder are the truth:
// the page edits them, any editor may, and each change is judged.
#pragma once

#include <signal.h>

#include "learn/workspace.h"

typedef struct heddle_learn_web heddle_learn_web;

typedef struct heddle_learn_web_settings {
    const char *address; // in numbers; NULL: loopback
    int port;            // 0: the usual one if it is free, else any
} heddle_learn_web_settings;

// HEDDLE_MISSING: this build has no web server. HEDDLE_UNSUPPORTED: another process watches the folder.
heddle_status heddle_learn_web_open(heddle_learn_workspace *workspace, const heddle_learn_web_settings *settings,
                                    heddle_learn_web **web);
// Judges what changes, until *stop is not 0.
void heddle_learn_web_run(heddle_learn_web *web, const volatile sig_atomic_t *stop);
void heddle_learn_web_close(heddle_learn_web *web); // NULL is fine

const char *heddle_learn_web_url(const heddle_learn_web *web); // to open, with the token
