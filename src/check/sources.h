// The source files that findings and counters point to, read once each: their lines, and their tokens.
#pragma once

#include <stddef.h>

#include "sim/source/lexer.h"

enum {
    HEDDLE_CHECK_LARGEST_SOURCE = 16 << 20, // bytes of a file
    HEDDLE_CHECK_LARGEST_SENT = 1 << 20, // of one that a learner or a page hands in: web/serve/check.js knows it, too
};

typedef struct heddle_check_sources heddle_check_sources;

typedef struct heddle_check_source {
    const char *path;
    char *content;
    const char **lines; // without their line ends; lines[0] is line 1
    int count;          // 0: the file cannot be read, or too many were read already
    sim_source code;    // with brackets matched and scopes found
} heddle_check_source;

heddle_check_sources *heddle_check_sources_create(void); // NULL when out of memory
void heddle_check_sources_free(heddle_check_sources *sources);
// NULL when out of memory.
const heddle_check_source *heddle_check_sources_get(heddle_check_sources *sources, const char *path);
// The tokens of a file; NULL where it cannot be read.
const sim_source *heddle_check_sources_code(heddle_check_sources *sources, const char *path);
// The file that a directive of `from` includes by a name in quotes, if it lies beside it; NULL: it does not.
const sim_source *heddle_check_sources_included(heddle_check_sources *sources, const sim_source *from,
                                                const sim_directive *directive);
// The same, or in one of the folders of -I (the list ends with NULL; NULL: none).
const sim_source *heddle_check_sources_found(heddle_check_sources *sources, const sim_source *from,
                                             const sim_directive *directive, const char *const *folders);
// The text of a line counted from 1; NULL where there is none.
const char *heddle_check_sources_line(heddle_check_sources *sources, const char *path, int line);

// The path as a person would type it here: relative to the working folder where it lies below it. Returns `text`.
const char *heddle_check_short_path(const char *path, char *text, size_t size);
// The last part of a path.
const char *heddle_check_file_name(const char *path);
