// A folder for a run that was told none: the first free name, taken so that no other run takes it too.
#ifndef HEDDLE_NN_TRAINER_FOLDER_H
#define HEDDLE_NN_TRAINER_FOLDER_H

#include <stddef.h>

#include "heddle/status.h"

enum { HEDDLE_RUN_FOLDER_SIZE = 4096 };

typedef struct heddle_run_folder {
    char path[HEDDLE_RUN_FOLDER_SIZE]; // "": none is taken
    size_t there;                      // so much of it, in bytes, was there before
} heddle_run_folder;

// Makes BASE, or where that is there already BASE-2, BASE-3 and so on, and the folders above it. Of runs that do this
// at the same moment each gets a name of its own.
heddle_status heddle_run_folder_take(const char *base, heddle_run_folder *folder);
// Removes what taking it made, as far as that is still empty: nothing of a run that has saved.
void heddle_run_folder_give_back(const heddle_run_folder *folder);

#endif
