// The files of a program: its sources, with those that they include by a name in quotes and that lie beside them.
#pragma once

#include "check/report.h"
#include "check/sources.h"

enum { HEDDLE_CHECK_MOST_FILES = 256 }; // others are not read

typedef struct heddle_check_own_files {
    const sim_source *at[HEDDLE_CHECK_MOST_FILES];
    int count;
} heddle_check_own_files;

// Adds a file and what it includes, each once. NULL: nothing.
void heddle_check_own_files_add(heddle_check_own_files *files, heddle_check_sources *sources, const sim_source *source);
// The same with what lies in the folders of -I; NULL: none.
void heddle_check_own_files_find(heddle_check_own_files *files, heddle_check_sources *sources, const sim_source *source,
                                 const char *const *folders);
// Those of the sources at these paths; the list ends with NULL.
heddle_check_own_files heddle_check_own_files_read(heddle_check_sources *sources, const char *const *paths);
// The place of a token, for a finding about the source itself.
heddle_check_place heddle_check_own_place(const sim_source *source, int token, heddle_arena *arena);
