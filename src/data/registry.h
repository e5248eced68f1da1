// The datasets that heddle knows by name: what they are, where they lie, what their files are. Help, lookup, download
// and tests read this one table.
#pragma once

#include "data/download.h"
#include "heddle/data.h"

enum { HEDDLE_FILES_OF_A_SET = 4 };

typedef struct heddle_named_set {
    const char *name;
    const char *summary;
    const char *how_to_get;     // completes "dataset NAME is not here: "
    const char *const *folders; // names its folder may have under a data folder, NULL-terminated
    bool may_be_at_root;        // its files may also be in a data folder itself
    int classes;
    const char *const *class_names;    // NULL: the numbers
    const heddle_download_file *files; // HEDDLE_FILES_OF_A_SET of them; NULL: drawn, not read
    const char *const *mirrors;        // NULL-terminated
} heddle_named_set;

extern const heddle_named_set heddle_named_sets[];
extern const int heddle_named_set_count;

// The set whose name is the first `length` characters of `name`, or NULL.
const heddle_named_set *heddle_named_set_find(const char *name, size_t length);
// The name nearest to `name`, or NULL if none is near enough to suggest.
const char *heddle_named_set_nearest(const char *name);
