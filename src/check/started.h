// What a project's build compiled and made, and which programs its command started.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "heddle/status.h"

// A list of strings that ends with NULL; each is its own.
typedef struct heddle_check_strings {
    const char **at;
    int count, room;
} heddle_check_strings;

heddle_status heddle_check_strings_add(heddle_check_strings *strings, const char *text);
void heddle_check_strings_free(heddle_check_strings *strings);

// One start of a program (sim/machine/started.h).
typedef struct heddle_check_start {
    char *content;             // all strings below are in it
    const char *file, *folder; // its own, and the one that it worked in
    const char *input;         // what its standard input was: a path, or "pipe:[1234]"
    const char **arguments;    // without its name
    const char **environment;  // "NAME=VALUE"
    char report[600];          // where its report is, if it left one
    bool same;                 // as one before it
} heddle_check_start;

// Reads the starts that were recorded in a folder, in their order, but for those by which CMake tries the compiler.
// *damaged: how many of them cannot be read, and are left out.
heddle_status heddle_check_starts_read(const char *folder, heddle_check_start **starts, int *count, int *damaged);
void heddle_check_starts_free(heddle_check_start *starts, int count);

// Reads what was compiled (sim/build/nvcc.h): sources and folders of headers, each once. A file that is not there lists
// nothing, and only regular files are sources. What CMake compiles to try the compiler is left out.
heddle_status heddle_check_compiled_read(const char *path, heddle_check_strings *sources,
                                         heddle_check_strings *include);

// Finds programs below a folder that have the simulated GPU in them and were written since then.
heddle_status heddle_check_built_find(const char *folder, struct timespec since, heddle_check_strings *programs);
