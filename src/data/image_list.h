// The image files of a folder with one subfolder per class: which there are, what they show, and which are for testing.
// Reading them is image_folder.c's business.
#pragma once

#include "data/owned.h"
#include "io/picture.h"

typedef struct heddle_image_entry {
    char *path;
    const char *name; // of the file inside the folder of its class; part of `path`
    int label;
    heddle_split split;
    heddle_picture_info info; // once the file was measured
    heddle_status status;     // of reading it
    char *error;              // why it could not be read; NULL: it could
} heddle_image_entry;

// What lies in the folders and is left out.
typedef struct heddle_image_ignored {
    int files, folders, links;           // not PNG or JPEG; beside train and test; that lead nowhere
    char file[64], folder[64], link[64]; // the name of the first of each
} heddle_image_ignored;

typedef struct heddle_image_list {
    heddle_image_entry *entries; // by class, then by name
    int count, room;
    char *class_names[HEDDLE_MOST_CLASSES];
    int classes;
    heddle_image_ignored ignored;
} heddle_image_list;

typedef enum heddle_image_layout {
    HEDDLE_IMAGES_NONE,
    HEDDLE_IMAGES_LOOSE,    // image files, but not in subfolders
    HEDDLE_IMAGES_BY_CLASS, // in subfolders
} heddle_image_layout;

heddle_image_layout heddle_image_layout_of(const char *folder);

// Lists the files of both splits: those of train/ and test/ (or val/) if these are there and have subfolders, else one
// in ten of each class is for testing, chosen by a hash of its name. Classes are numbered in the order of their names,
// or as in `known` if that is not NULL: then a subfolder of another name is refused. Free the list after a failure too.
heddle_status heddle_image_list_read(const char *folder, const char *const *known, int known_count,
                                     heddle_image_list *list);
void heddle_image_list_free(heddle_image_list *list);
// "2 files that are not PNG or JPEG (such as a.webp)"; "": nothing was ignored.
const char *heddle_image_ignored_text(const heddle_image_ignored *ignored, char *text, size_t size);
