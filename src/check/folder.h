// The folder a check works in: made new in a temporary folder, locked while its owner lives, removed with all in it.
// What a killed check left behind is removed by the next one.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

typedef struct heddle_check_folder {
    char path[512];
    int lock;
    bool keep;
    bool exposed; // there was no place outside of the folder that a program may write in
} heddle_check_folder;

// `keep`: it stays when it is released, under a name that the sweep leaves alone.
heddle_status heddle_check_folder_create(heddle_check_folder *folder, bool keep);
// Where a program that may write below `writable` cannot reach it: in /tmp or /var/tmp, if $TMPDIR is below `writable`.
heddle_status heddle_check_folder_create_outside(heddle_check_folder *folder, bool keep, const char *writable);
void heddle_check_folder_release(heddle_check_folder *folder);
// A new folder inside that a program may write in, released with the outer one. What was there by that name is removed,
// and no link is followed.
heddle_status heddle_check_folder_inner(const heddle_check_folder *outer, const char *name, heddle_check_folder *inner);
// Removes links, pipes and the like: what a program that writes there has left must be safe to open.
void heddle_check_folder_clean(const heddle_check_folder *folder);
// "folder/name"; returns `path`.
const char *heddle_check_folder_path(const heddle_check_folder *folder, const char *name, char *path, size_t size);
// Removes folders in `root` that no living process holds. Returns how many.
int heddle_check_folder_sweep(const char *root);
