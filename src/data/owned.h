// A dataset with the memory behind it.
#pragma once

#include "heddle/data.h"

enum { HEDDLE_MOST_CLASSES = 256 }; // labels are bytes

typedef struct heddle_owned_dataset {
    heddle_dataset dataset; // first, so that a pointer to it is a pointer to this
    uint8_t *images, *labels;
    char *class_text; // the names' characters
    const char **class_names;
} heddle_owned_dataset;

// An empty dataset: its name, cut from the left if it is long, and where it comes from.
heddle_status heddle_owned_create(const char *name, const char *source, heddle_split split,
                                  heddle_owned_dataset **owned);
void heddle_owned_free(heddle_owned_dataset *owned);

// Fails where it has a single class, which no network can be trained with.
heddle_status heddle_dataset_trains(const heddle_dataset *dataset);
