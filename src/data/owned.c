// Makes and frees a dataset with the memory behind it.

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
