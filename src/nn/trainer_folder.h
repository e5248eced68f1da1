// The folder of a run: whether one may train there, and for a run that was told none the first free name, taken so that
// no other run takes it too.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

enum { HEDDLE_RUN_FOLDER_SIZE = 4096 };

// The checkpoints in it: where the run is, and where it was best.
#define HEDDLE_RUN_LAST "last.safetensors"
#define HEDDLE_RUN_BEST "best.safetensors"

typedef struct heddle_run_folder {
    char path[HEDDLE_RUN_FOLDER_SIZE]; // "": none is taken
    size_t there;                      // so much of it, in bytes, was there before
} heddle_run_folder;

// Makes BASE, or where that is there already BASE-2, BASE-3 and so on, and the folders above it. Of runs that do this
// at the same moment each gets a name of its own.
heddle_status heddle_run_folder_take(const char *base, heddle_run_folder *folder);
// Locks a folder that is there until *lock, a descriptor, is closed. HEDDLE_INVALID: another run is training in it now.
// *lock < 0: it cannot be read or locked.
heddle_status heddle_run_folder_lock(const char *folder, int *lock);
// Whether a run is training in it now.
bool heddle_run_folder_is_busy(const char *folder);
// *there: the folder, which need not be there itself, holds a file of that name. A failure where nobody can tell.
heddle_status heddle_run_folder_holds(const char *folder, const char *name, bool *there);
// HEDDLE_INVALID where `folder`, which need not be there, holds a run already.
heddle_status heddle_run_folder_is_free(const char *folder);
// HEDDLE_INVALID where a run cannot train in `folder` as things are: it is a file, one does so now, or it holds one
// that is neither resumed nor overwritten. HEDDLE_IO: one may not look into it.
heddle_status heddle_run_folder_check(const char *folder, bool goes_on_or_replaces);
// Removes what taking it made, as far as that is still empty: nothing of a run that has saved.
void heddle_run_folder_release(const heddle_run_folder *folder);
