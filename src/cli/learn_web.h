// The options of `heddle learn --web`, and the command itself.
#pragma once

#include "cli/learn.h"

typedef struct heddle_cli_learn_web_settings {
    bool web;
    const char *listen; // ADDRESS[:PORT]; NULL: loopback
    int port;           // 0: not given
} heddle_cli_learn_web_settings;

// Serves the page. Returns the exit code.
int heddle_cli_learn_web(heddle_cli_learn *learn, const heddle_cli_learn_web_settings *settings);
