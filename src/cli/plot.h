// Curves in the terminal: one line high for a table, or a plot of several with axes.
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct heddle_plot_series {
    const double *x, *y; // x does not fall; neither has NANs
    int count;
} heddle_plot_series;

typedef struct heddle_plot {
    const char *title, *x_title;
    const heddle_plot_series *series; // drawn as A, B, C, ... where there are several
    int count;
    int columns, rows; // of the area inside the axes
    bool percent;      // y is a fraction
    bool utf8;
} heddle_plot;

enum { HEDDLE_PLOT_MOST_SERIES = 8, HEDDLE_PLOT_MOST_COLUMNS = 160 };

// One character per column, from low to high, into `text`; "" for a series without points.
const char *heddle_plot_line(const heddle_plot_series *series, int columns, bool utf8, char *text, size_t size);
// A plot of all series on the same axes. Prints nothing where none has a point.
void heddle_plot_print(FILE *file, const heddle_plot *plot);
