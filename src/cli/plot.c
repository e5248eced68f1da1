// Draws curves with characters. A curve is first brought to one value per column: the mean of its points there, or what
// lies between its neighbours.

#include "cli/plot.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 8 };

static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}; // 0 to 8 eighths of a cell
static const char heights[] = "_.-'";                                              // ASCII that stands as low or high

// Fills values[0..columns) from `first` to `last` on the x axis; NAN before the series begins and after it ends. A
// point stands for what lies before it, so one at the end of a column belongs to that column.
static void resample(const heddle_plot_series *series, double first, double last, int columns, double *values)
{
    const double width = (last - first) / columns;
    int next = 0, known = -1;
    for (int column = 0; column < columns; column++) {
        const double end = column + 1 == columns ? INFINITY : first + width * (column + 1);
        double sum = 0;
        int count = 0;
        for (; next < series->count && series->x[next] <= end; next++, count++)
            sum += series->y[next];
        values[column] = count > 0 ? sum / count : NAN;
        for (int gap = known + 1; count > 0 && known >= 0 && gap < column; gap++)
            values[gap] = values[known] + (values[column] - values[known]) * (gap - known) / (column - known);
        known = count > 0 ? column : known;
    }
}

static void find_range(const double *values, int count, double *least, double *most)
{
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        *least = fmin(*least, values[i]);
        *most = fmax(*most, values[i]);
    }
}

// Where between least and most, 0 to 1; the middle where all are equal.
static double share(double value, double least, double most)
{
    return most > least ? (value - least) / (most - least) : 0.5;
}

const char *heddle_plot_line(const heddle_plot_series *series, int columns, bool utf8, char *text, size_t size)
{
    double values[HEDDLE_PLOT_MOST_COLUMNS], least = INFINITY, most = -INFINITY;
    text[0] = '\0';
    if (series->count == 0 || columns < 1 || columns > HEDDLE_PLOT_MOST_COLUMNS)
        return text;
    // From the first point: before it there is nothing to show in so little room.
    resample(series, series->x[0], series->x[series->count - 1], columns, values);
    find_range(values, columns, &least, &most);
    const int levels = utf8 ? LEVELS : (int)sizeof heights - 1;
    size_t used = 0;
    for (int i = 0; i < columns; i++) {
        char ascii[2] = " ";
        const char *cell = ascii;
        if (!isnan(values[i])) {
            const int level = (int)fmin(share(values[i], least, most) * levels, levels - 1);
            ascii[0] = heights[utf8 ? 0 : level];
            cell = utf8 ? blocks[level + 1] : ascii;
        }
        if (used + strlen(cell) >= size)
            break;
        memcpy(text + used, cell, strlen(cell) + 1);
        used += strlen(cell);
    }
    return text;
}

// --- plots ----------------------------------------------------------------------------------------------------------

typedef struct canvas {
    double values[HEDDLE_PLOT_MOST_SERIES][HEDDLE_PLOT_MOST_COLUMNS];
    double least, most, last; // of y; the end of x
} canvas;

// The area below one curve, in eighths of a cell; in ASCII in whole cells.
static const char *area_cell(const heddle_plot *plot, const canvas *drawn, int row, int column)
{
    const double value = drawn->values[0][column];
    if (isnan(value))
        return " ";
    const int eighths = 1 + (int)(share(value, drawn->least, drawn->most) * (plot->rows * LEVELS - 1));
    const int here = eighths - (plot->rows - 1 - row) * LEVELS;
    if (!plot->utf8)
        return here >= LEVELS / 2 || (row == plot->rows - 1) ? "#" : " ";
    return blocks[here < 0 ? 0 : here > LEVELS ? LEVELS : here];
}

// The letter of the curve that passes here, or a star for several.
static const char *letter_cell(const heddle_plot *plot, const canvas *drawn, int row, int column)
{
    static const char *const letters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    const char *cell = " ";
    for (int i = 0; i < plot->count; i++) {
        const double value = drawn->values[i][column];
        if (isnan(value))
            continue;
        const int at = (int)lround(share(value, drawn->least, drawn->most) * (plot->rows - 1));
        if (plot->rows - 1 - at == row)
            cell = cell[0] == ' ' ? letters[i] : "*";
    }
    return cell;
}

static void print_label(FILE *file, const heddle_plot *plot, const canvas *drawn, int row)
{
    const bool top = row == 0, bottom = row == plot->rows - 1;
    const double value = top ? drawn->most : drawn->least;
    if (!top && !bottom)
        fprintf(file, "%9s ", "");
    else if (plot->percent)
        fprintf(file, "%7.2f %% ", 100 * value);
    else
        fprintf(file, "%9.4g ", value);
    fputs(plot->utf8 ? "│" : "|", file);
}

void heddle_plot_print(FILE *file, const heddle_plot *plot)
{
    canvas drawn = {.least = INFINITY, .most = -INFINITY};
    for (int i = 0; i < plot->count; i++)
        if (plot->series[i].count > 0)
            drawn.last = fmax(drawn.last, plot->series[i].x[plot->series[i].count - 1]);
    for (int i = 0; i < plot->count; i++) {
        resample(&plot->series[i], 0, drawn.last, plot->columns, drawn.values[i]);
        find_range(drawn.values[i], plot->columns, &drawn.least, &drawn.most);
    }
    if (!isfinite(drawn.least))
        return;
    fprintf(file, "\n%s\n", plot->title);
    for (int row = 0; row < plot->rows; row++) {
        int blanks = 0; // none at the end of a line
        print_label(file, plot, &drawn, row);
        for (int column = 0; column < plot->columns; column++) {
            const char *cell =
                plot->count == 1 ? area_cell(plot, &drawn, row, column) : letter_cell(plot, &drawn, row, column);
            if (cell[0] == ' ') {
                blanks++;
                continue;
            }
            fprintf(file, "%*s%s", blanks, "", cell);
            blanks = 0;
        }
        fputc('\n', file);
    }
    fprintf(file, "%9s %s", "", plot->utf8 ? "└" : "+");
    for (int column = 0; column < plot->columns; column++)
        fputs(plot->utf8 ? "─" : "-", file);
    fprintf(file, "\n%10s 0%*s%g\n", "", plot->columns - 2, plot->x_title, drawn.last);
}
