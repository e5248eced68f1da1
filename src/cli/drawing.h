// Small images as text, for the terminal and for pipes, and many of them on one sheet.
#ifndef HEDDLE_CLI_DRAWING_H
#define HEDDLE_CLI_DRAWING_H

#include <stdint.h>
#include <stdio.h>

#include "heddle/status.h"

typedef enum heddle_drawing_style {
    HEDDLE_DRAWING_AUTO,   // blocks on a terminal unless NO_COLOR is set, else a ramp
    HEDDLE_DRAWING_BLOCKS, // half blocks in shades of grey: UTF-8 and terminal colours
    HEDDLE_DRAWING_RAMP,   // characters from light to dense: plain ASCII
} heddle_drawing_style;

typedef struct heddle_drawing {
    const uint8_t *pixels; // (height, width), 0 dark to 255 bright
    int width, height;
    char caption[96];
} heddle_drawing;

// Draws them side by side, as many in a row as `columns` of text hold, each with its caption below. A drawing too wide
// for that is drawn smaller.
void heddle_drawing_print(FILE *file, const heddle_drawing *drawings, int count, heddle_drawing_style style,
                          int columns);
// How many columns the terminal behind `file` has; 100 where it is none.
int heddle_drawing_columns(FILE *file);

// Lays equally large drawings out in a grid, near to square, enlarged so that they can be seen. The caller frees
// *pixels.
heddle_status heddle_drawing_sheet(const heddle_drawing *drawings, int count, uint8_t **pixels, int *width,
                                   int *height);

#endif
