// `heddle check --watch`: checks again whenever a file of the check is saved.
#pragma once

#include "cli/check_settings.h"

// check(context) makes one check and returns its exit code. Returns the code of the command: that of a first check that
// could not be made, otherwise what a signal ends a command with.
int heddle_cli_check_watch(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                           const char *const *folders, int (*check)(void *context), void *context);
