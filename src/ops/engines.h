// The engines of a vendor's library for an operator: `heddle ops NAME --engines` asks its rungs for a list.
#pragma once

#include <stddef.h>

// Where an operator's engine lister, registered as its rung "engines", puts its lines: output[0] of the call points to
// one. The text is a string at all times; what does not fit is left out.
typedef struct heddle_engine_list {
    char *text;
    size_t size;
} heddle_engine_list;
