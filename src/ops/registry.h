// The list of operators, and what the files around it share.
#pragma once

#include "heddle/op.h"

extern const heddle_op *const heddle_registry[];
extern const int heddle_registry_count;

enum {
    HEDDLE_SUGGESTION_SIZE = 128,
    HEDDLE_SHAPE_TEXT_SIZE = 256,
};

// "; did you mean 'nearest'?", or nothing when `nearest` is NULL.
void heddle_suggestion(const char *nearest, char text[HEDDLE_SUGGESTION_SIZE]);
