// Draws small images as text, for the terminal and for pipes, and many of them on one sheet.
#pragma once

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

// Draws them side by side, as many per row as fit into `columns`, each with its caption below. A drawing that is too
// wide is scaled down.
void heddle_drawing_print(FILE *file, const heddle_drawing *drawings, int count, heddle_drawing_style style,
                          int columns);
// Columns of the terminal behind `file`; 100 if it is not a terminal.
int heddle_drawing_columns(FILE *file);

// Arranges equally large drawings in an almost square grid, enlarged to be visible. The caller frees *pixels.
heddle_status heddle_drawing_sheet(const heddle_drawing *drawings, int count, uint8_t **pixels, int *width,
                                   int *height);
