// A folder in MNIST's layout: which files make a split, and reading them into a dataset.
#pragma once

#include "data/idx.h"
#include "data/registry.h"
#include "heddle/data.h"

enum { HEDDLE_PATH_SIZE = 4096 };

// The folder has images and labels of the split.
bool heddle_folder_has(const char *folder, heddle_split split);

// Reads a split of the folder. `set` describes a named dataset; NULL: any folder, whose classes are named in
// classes.txt (one per line) or counted from the training labels.
heddle_status heddle_folder_open(const char *folder, const heddle_named_set *set, heddle_split split,
                                 heddle_dataset **dataset);
