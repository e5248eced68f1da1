// The settings and position of a run as JSON, the part of a checkpoint that is not numbers.
#pragma once

#include "nn/checkpoint.h"

// Text the caller frees with cJSON_free; NULL when out of memory.
char *heddle_about_to_json(const heddle_checkpoint_about *about);
// All but the class names, which live in the checkpoint.
heddle_status heddle_about_from_json(const char *what, const char *text, heddle_checkpoint_about *about);
