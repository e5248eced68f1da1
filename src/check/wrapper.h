// bubblewrap (bwrap), which contains a program where the kernel has no Landlock: all files are there, but only given
// folders can be written in, and no process outside is seen.
#pragma once

#include <stdbool.h>

#include "heddle/status.h"

// Whether bwrap is installed and can be used here: it needs rights that containers often lack. Tried once.
bool heddle_wrapper_works(void);
// The words that come before a command, ended with NULL. `folders`: as in heddle_sandbox_open. `filters`: a descriptor
// of filters for system calls, which bwrap reads; -1: none, so the program gets a network of its own instead.
heddle_status heddle_wrapper_make(const char *const *folders, int filters, char ***words);
void heddle_wrapper_free(char **words);
