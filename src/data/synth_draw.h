// One digit drawn as a picture, from random numbers alone.
#pragma once

#include <stdint.h>

#include "heddle/random.h"

enum {
    HEDDLE_SYNTH_CLASSES = 10,
    HEDDLE_SYNTH_LEAST_SIZE = 8,
    HEDDLE_SYNTH_MOST_SIZE = 256,
};

// --- the skeletons (synth_digits.c) ---------------------------------------------------------------------------------

enum {
    HEDDLE_SYNTH_MAX_POINTS = 14,
    HEDDLE_SYNTH_MAX_STROKES = 3,
};

// A point of a stroke, in a box of 100 by 100 with y downwards. The stroke is a smooth curve through its points, but
// turns sharply at a corner.
typedef struct heddle_synth_point {
    int8_t x, y;
    int8_t corner;
} heddle_synth_point;

typedef struct heddle_synth_stroke {
    int count;
    heddle_synth_point points[HEDDLE_SYNTH_MAX_POINTS];
} heddle_synth_stroke;

// One way in which people write a digit.
typedef struct heddle_synth_form {
    int count;
    heddle_synth_stroke strokes[HEDDLE_SYNTH_MAX_STROKES];
} heddle_synth_form;

// The forms of a digit; returns how many.
int heddle_synth_forms(int digit, const heddle_synth_form **forms);

// --- the drawing ----------------------------------------------------------------------------------------------------

// Draws `digit` into size × size pixels, light on dark. `distances` is room for size × size numbers.
void heddle_synth_draw(heddle_random *random, int digit, int size, int32_t *distances, uint8_t *pixels);
