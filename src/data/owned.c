// Frees a dataset with the memory behind it.

#include "data/owned.h"

#include <stdlib.h>

void heddle_owned_free(heddle_owned_dataset *owned)
{
    free(owned->images);
    free(owned->labels);
    free(owned->class_text);
    free(owned->class_names);
    free(owned);
}
