// Makes and frees a dataset with the memory behind it, and makes one of memory that is the caller's.

#include "data/owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

heddle_status heddle_owned_create(const char *name, const char *source, heddle_split split,
                                  heddle_owned_dataset **owned)
{
    heddle_owned_dataset *made = *owned = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to open dataset %s", name);
    // Of a long folder the end says more than the beginning.
    size_t length = strlen(name), room = sizeof made->dataset.name - 1;
    snprintf(made->dataset.name, sizeof made->dataset.name, "%s", name + (length > room ? length - room : 0));
    snprintf(made->dataset.source, sizeof made->dataset.source, "%s", source);
    made->dataset.split = split;
    return HEDDLE_OK;
}

void heddle_owned_free(heddle_owned_dataset *owned)
{
    free(owned->images);
    free(owned->labels);
    free(owned->class_text);
    free(owned->class_names);
    free(owned);
}

// --- from memory ----------------------------------------------------------------------------------------------------

static heddle_status check_given(const heddle_dataset *given)
{
    if (given->split != HEDDLE_TRAIN && given->split != HEDDLE_TEST)
        return heddle_fail(HEDDLE_INVALID, "%d is not a split of a dataset", (int)given->split);
    if (given->count < 1 || given->channels < 1 || given->height < 1 || given->width < 1)
        return heddle_fail(HEDDLE_INVALID, "a dataset of %d images of %d×%d×%d; all four must be at least 1",
                           given->count, given->channels, given->height, given->width);
    int sample, pixels;
    if (__builtin_mul_overflow(given->channels, given->height, &sample) ||
        __builtin_mul_overflow(sample, given->width, &pixels))
        return heddle_fail(HEDDLE_INVALID, "an image of %d×%d×%d is too large", given->channels, given->height,
                           given->width);
    if (given->classes < 1 || given->classes > HEDDLE_MOST_CLASSES)
        return heddle_fail(HEDDLE_INVALID, "a dataset of %d classes; 1 to %d are possible", given->classes,
                           HEDDLE_MOST_CLASSES);
    if (!given->images || !given->labels)
        return heddle_fail(HEDDLE_INVALID, "a dataset in memory needs images and labels, and got NULL");
    for (int i = 0; i < given->count; i++)
        if (given->labels[i] >= given->classes)
            return heddle_fail(HEDDLE_INVALID, "label %d of image %d is not below the number of classes, %d",
                               given->labels[i], i, given->classes);
    return HEDDLE_OK;
}

static heddle_status copy_class_names(const heddle_dataset *given, heddle_owned_dataset *owned)
{
    size_t size = 0;
    for (int i = 0; i < given->classes; i++) {
        if (!given->class_names[i])
            return heddle_fail(HEDDLE_INVALID, "class %d has no name; name all %d classes or none", i, given->classes);
        size += strlen(given->class_names[i]) + 1;
    }
    owned->class_text = malloc(size);
    owned->class_names = malloc((size_t)given->classes * sizeof *owned->class_names);
    if (!owned->class_text || !owned->class_names)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for the names of %d classes", given->classes);
    char *end = owned->class_text;
    for (int i = 0; i < given->classes; i++) {
        size_t length = strlen(given->class_names[i]) + 1;
        memcpy(end, given->class_names[i], length);
        owned->class_names[i] = end;
        end += length;
    }
    owned->dataset.class_names = owned->class_names;
    return HEDDLE_OK;
}

heddle_status heddle_dataset_create(const heddle_dataset *given, heddle_dataset **dataset)
{
    if (!given || !dataset)
        return heddle_fail(HEDDLE_INVALID, "heddle_dataset_create needs what the dataset is and a place for it");
    *dataset = NULL;
    HEDDLE_TRY(check_given(given));
    heddle_owned_dataset *owned;
    HEDDLE_TRY(heddle_owned_create(given->name[0] ? given->name : "memory",
                                   given->source[0] ? given->source : "the caller's memory", given->split, &owned));
    heddle_dataset *made = &owned->dataset;
    made->count = given->count;
    made->channels = given->channels;
    made->height = given->height;
    made->width = given->width;
    made->classes = given->classes;
    made->images = given->images; // not owned->images, which is freed
    made->labels = given->labels;
    memcpy(made->scaled, given->scaled, sizeof made->scaled);
    heddle_status status = given->class_names ? copy_class_names(given, owned) : HEDDLE_OK;
    if (status != HEDDLE_OK) {
        heddle_owned_free(owned);
        return status;
    }
    *dataset = made;
    return HEDDLE_OK;
}

heddle_status heddle_dataset_trains(const heddle_dataset *dataset)
{
    if (dataset->classes > 1)
        return HEDDLE_OK;
    if (dataset->class_names && strchr(dataset->spec, '/'))
        return heddle_fail(HEDDLE_INVALID,
                           "%s has a single class, %s; training needs at least two, each with a subfolder of images",
                           dataset->spec, dataset->class_names[0]);
    return heddle_fail(HEDDLE_INVALID, "%s has a single class; training needs at least two", dataset->spec);
}
