// The files of a translation unit and who includes whom.
#pragma once

#include "rewrite/unit.h"

typedef struct sim_include {
    int from, to;  // files
    int directive; // of `from`
    bool quoted;
} sim_include;

// Index of the new file; -1: it cannot be read. sim_unit_add takes over text.
int sim_unit_add(sim_unit *unit, const char *path, char *text, size_t bytes);
int sim_unit_read(sim_unit *unit, const char *path);
// Reads what is included, and what that includes, from these folders; NULL ends the list.
void sim_includes_read(sim_unit *unit, const char *const *folders);
// Makes the files that have a shadow include each other's shadows. shadows[i]: of file i; NULL: none.
void sim_includes_edit(sim_unit *unit, const char *const *shadows);
