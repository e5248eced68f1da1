// A range of shapes as curves: roofline and time of every rung, as SVG.

#include "bench/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/html.h"
#include "bench/plots.h"

double heddle_bench_swept_value(const heddle_bench *bench, const heddle_bench_result *result)
{
    const char *name = bench->options.sweep;
    size_t length = strcspn(name, ",=");
    for (const char *word = result->shape; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL)
        if (strncmp(word, name, length) == 0 && word[length] == '=')
            return strtod(word + length + 1, NULL);
    for (int i = 0; i < result->op->field_count; i++) // a shape's text leaves out what has its default
        if (strlen(result->op->fields[i].name) == length && strncmp(result->op->fields[i].name, name, length) == 0)
            return result->op->fields[i].initial;
    return NAN;
}

const char *heddle_bench_swept_names(const heddle_bench *bench, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *at = bench->options.sweep; *at && *at != '='; at++)
        used += (size_t)snprintf(text + used, used < size ? size - used : 0, *at == ',' ? " = " : "%c", *at);
    return text;
}

int heddle_bench_op_end(const heddle_bench *bench, int first)
{
    int last = first;
    while (last < bench->count && bench->results[last].op == bench->results[first].op)
        last++;
    return last;
}

// --- curves ----------------------------------------------------------------------------------------------------------

enum { WIDTH = 360, HEIGHT = 190, LEFT = 44, RIGHT = 12, TOP = 12, BOTTOM = 34, MOST_LABELS = 8 };

typedef struct curves {
    const heddle_bench *bench;
    int first, last; // of the results: one operator's
    int shapes;      // steps along x: shapes are equally far apart, as they are in the range
    double (*y)(const heddle_bench_result *result); // NAN: no point
    double least, most;
} curves;

static double roofline_of(const heddle_bench_result *result)
{
    return heddle_bench_is_timed(result) ? 100 * result->roofline : NAN;
}

static double time_of(const heddle_bench_result *result)
{
    return heddle_bench_is_timed(result) ? log10(1e6 * result->timing.seconds) : NAN;
}

static double x_at(const curves *on, int step)
{
    return LEFT + (on->shapes > 1 ? (double)step / (on->shapes - 1) : 0.5) * (WIDTH - LEFT - RIGHT);
}

static double y_at(const curves *on, double value)
{
    return HEIGHT - BOTTOM - (value - on->least) / (on->most - on->least) * (HEIGHT - TOP - BOTTOM);
}

static void plot_label(FILE *file, const char *class, double x, double y, double value)
{
    fprintf(file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%.6g</text>\n", class, x, y, value);
}

static void plot_axes(const curves *on, bool logarithmic, FILE *file)
{
    double step = logarithmic ? 1 : on->most > 200 ? 100 : on->most > 100 ? 50 : 25;
    for (int line = 0; on->least + line * step <= on->most + step / 2; line++) {
        double value = on->least + line * step;
        fprintf(file, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y_at(on, value),
                WIDTH - RIGHT, y_at(on, value));
        plot_label(file, "figure", LEFT - 3, y_at(on, value) + 3, logarithmic ? pow(10, value) : value);
    }
    int every = 1 + (on->shapes - 1) / MOST_LABELS, shape = 0;
    for (int i = on->first; i < on->last; i = heddle_bench_group_end(on->bench, i), shape++)
        if (shape % every == 0)
            plot_label(file, "tick", x_at(on, shape), HEIGHT - BOTTOM + 12,
                       heddle_bench_swept_value(on->bench, &on->bench->results[i]));
}

// The class of a rung's curve: that of the best rung if it is the fastest own one at any shape.
static const char *class_of(const curves *on, const heddle_rung *rung)
{
    for (int i = on->first; i < on->last; i++)
        if (on->bench->results[i].rung == rung && on->bench->results[i].best_own)
            return "best";
    return rung->tier == HEDDLE_VENDOR ? "vendor" : "own";
}

static void plot_curve(const curves *on, const heddle_rung *rung, FILE *file)
{
    fprintf(file, "<g class=\"%s\"><polyline points=\"", class_of(on, rung));
    for (int pass = 0; pass < 2; pass++) {
        int shape = -1;
        for (int i = on->first; i < on->last; i++) {
            const heddle_bench_result *result = &on->bench->results[i];
            shape += i == on->first || strcmp(result->shape, on->bench->results[i - 1].shape) != 0;
            double value = on->y(result);
            if (result->rung != rung || isnan(value))
                continue;
            double x = x_at(on, shape), y = y_at(on, value);
            if (pass == 0) {
                fprintf(file, "%.1f,%.1f ", x, y);
                continue;
            }
            fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"><title>", x, y);
            heddle_html_text(file, rung->name);
            fprintf(file, ", ");
            heddle_html_text(file, result->shape);
            fprintf(file, ": %.4g µs", 1e6 * result->timing.seconds);
            if (!isnan(result->roofline))
                fprintf(file, ", %.0f %% of the roofline", 100 * result->roofline);
            fprintf(file, "</title></circle>");
        }
        fprintf(file, pass == 0 ? "\"/>\n" : "</g>\n");
    }
}

static void plot(curves *on, const char *title, bool logarithmic, FILE *file)
{
    char names[HEDDLE_BENCH_TEXT];
    on->least = INFINITY;
    on->most = -INFINITY;
    for (int i = on->first; i < on->last; i++) {
        double value = on->y(&on->bench->results[i]);
        on->least = isnan(value) ? on->least : fmin(on->least, value);
        on->most = isnan(value) ? on->most : fmax(on->most, value);
    }
    if (isinf(on->least))
        return;
    on->least = logarithmic ? floor(on->least) : 0;
    on->most = logarithmic ? fmax(ceil(on->most), on->least + 1) : fmax(on->most, 100);
    fprintf(file, "<svg class=\"sweep\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT, title);
    plot_axes(on, logarithmic, file);
    fprintf(file, "<text x=\"%d\" y=\"%d\">%s</text><text class=\"tick\" x=\"%d\" y=\"%d\">", LEFT + 4, TOP + 10, title,
            (LEFT + WIDTH) / 2, HEIGHT - 6);
    heddle_html_text(file, heddle_bench_swept_names(on->bench, names, sizeof names));
    fprintf(file, "</text>\n");
    const heddle_op *op = on->bench->results[on->first].op;
    for (int i = 0; i < op->rungs; i++)
        plot_curve(on, &op->ladder[i], file);
    fprintf(file, "</svg>\n");
}

void heddle_bench_plot_sweep(const heddle_bench *bench, FILE *file)
{
    curves on = {.bench = bench};
    for (; bench->options.sweep && bench->timer && on.first < bench->count; on.first = on.last) {
        on.last = heddle_bench_op_end(bench, on.first);
        on.shapes = 0;
        for (int i = on.first; i < on.last; i = heddle_bench_group_end(bench, i))
            on.shapes++;
        fprintf(file, "<h2>%s <span class=\"aside\">", bench->results[on.first].op->name);
        heddle_html_text(file, bench->options.sweep);
        fprintf(file, "</span></h2>\n");
        on.y = roofline_of;
        plot(&on, "% of the roofline", false, file);
        on.y = time_of;
        plot(&on, "µs", true, file);
    }
}
