// The plots of the page, as SVG: colours come from the page's style, so that they follow dark and light.

#include "bench/plots.h"

#include <math.h>
#include <string.h>

#include "base/html.h"

static const char *class_of(const heddle_bench_result *result)
{
    return result->rung->tier == HEDDLE_VENDOR ? "vendor" : result->best_own ? "best" : "own";
}

// --- ladder ----------------------------------------------------------------------------------------------------------

// Drawn for the width of a phone; the page scales it up.
enum { WIDTH = 360, ROW = 34, BAR_TOP = 17, BAR_HEIGHT = 10, BASELINE = 13 };

void heddle_bench_plot_ladder(const heddle_bench *bench, int first, int last, FILE *file)
{
    double fastest = INFINITY;
    int rows = 0;
    for (int i = first; i < last; i++) {
        rows += heddle_bench_is_timed(&bench->results[i]);
        if (heddle_bench_is_timed(&bench->results[i]))
            fastest = fmin(fastest, bench->results[i].timing.seconds);
    }
    if (rows == 0)
        return;
    fprintf(file, "<svg class=\"ladder\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"speed of each rung\">\n",
            WIDTH, rows * ROW);
    int row = 0;
    for (int i = first; i < last; i++) {
        const heddle_bench_result *result = &bench->results[i];
        if (!heddle_bench_is_timed(result))
            continue;
        double length = fmax(1, WIDTH * fastest / result->timing.seconds);
        int top = row++ * ROW;
        fprintf(file, "<text x=\"0\" y=\"%d\">", top + BASELINE);
        heddle_html_text(file, result->rung->name);
        fprintf(file, "</text><text class=\"figure\" x=\"%d\" y=\"%d\">%.4g µs", WIDTH, top + BASELINE,
                1e6 * result->timing.seconds);
        if (!isnan(result->roofline))
            fprintf(file, " · %.0f %% of roofline", 100 * result->roofline);
        if (!isnan(result->ratio))
            fprintf(file, " · × %.2f", result->ratio);
        fprintf(file, "</text><rect class=\"%s\" x=\"0\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>\n",
                class_of(result), top + BAR_TOP, length, BAR_HEIGHT);
    }
    fprintf(file, "</svg>\n");
}

// --- roofline --------------------------------------------------------------------------------------------------------

enum { HEIGHT = 260, LEFT = 44, RIGHT = 10, TOP = 12, BOTTOM = 34 };

typedef struct axes {
    double x_least, x_most, y_least, y_most; // powers of ten
} axes;

static double x_of(const axes *on, double value)
{
    double share = (log10(value) - on->x_least) / (on->x_most - on->x_least);
    return LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double y_of(const axes *on, double value)
{
    double share = (log10(value) - on->y_least) / (on->y_most - on->y_least);
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static double intensity_of(const heddle_bench_result *result)
{
    double bytes = result->cost.bytes_read + result->cost.bytes_written;
    return bytes > 0 ? result->cost.flops / bytes : 0;
}

static bool is_plotted(const heddle_bench_result *result)
{
    return heddle_bench_is_timed(result) && intensity_of(result) > 0 && result->flops_per_second > 0;
}

// Whole powers of ten around everything that is plotted; the roof's corner too.
static bool find_axes(const heddle_bench *bench, axes *on)
{
    double x_least = INFINITY, x_most = 0, y_least = INFINITY, y_most = bench->info.peak_flops;
    for (int i = 0; i < bench->count; i++) {
        const heddle_bench_result *result = &bench->results[i];
        if (!is_plotted(result))
            continue;
        x_least = fmin(x_least, intensity_of(result));
        x_most = fmax(x_most, intensity_of(result));
        y_least = fmin(y_least, result->flops_per_second);
        y_most = fmax(y_most, result->flops_per_second);
    }
    if (x_most <= 0 || bench->copy_bandwidth <= 0)
        return false;
    double corner = y_most / bench->copy_bandwidth; // above everything where the peak is not known
    x_least = fmin(x_least, corner / 4);
    x_most = fmax(x_most, corner * 2);
    on->x_least = floor(log10(x_least) - 0.1);
    on->x_most = ceil(log10(x_most) + 0.1);
    on->y_least = floor(log10(y_least));
    on->y_most = ceil(log10(y_most) + 0.05);
    return true;
}

static void plot_grid(const axes *on, FILE *file)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    for (int power = (int)on->x_least; power <= (int)on->x_most; power++) {
        double x = x_of(on, pow(10, power));
        fprintf(file, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", x, TOP, x, HEIGHT - BOTTOM);
        fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%d\">%g</text>\n", x, HEIGHT - BOTTOM + 12, pow(10, power));
    }
    for (int power = (int)on->y_least; power <= (int)on->y_most; power++) {
        double y = y_of(on, pow(10, power));
        int unit = power < 0 ? 0 : power / 3 > 5 ? 5 : power / 3;
        fprintf(file, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y, WIDTH - RIGHT, y);
        fprintf(file, "<text class=\"figure\" x=\"%d\" y=\"%.1f\">%g%s</text>\n", LEFT - 3, y + 3,
                pow(10, power - 3 * unit), units[unit]);
    }
    fprintf(file, "<text class=\"tick\" x=\"%d\" y=\"%d\">FLOP per byte</text>\n", (LEFT + WIDTH) / 2, HEIGHT - 6);
    fprintf(file, "<text x=\"%d\" y=\"%d\">FLOP/s</text>\n", LEFT + 4, TOP + 10);
}

// Memory's slope up to the peak, where the peak is known; else to the top.
static void plot_roof(const heddle_bench *bench, const axes *on, FILE *file)
{
    double bandwidth = bench->copy_bandwidth, peak = bench->info.peak_flops;
    double top = peak > 0 ? peak : pow(10, on->y_most);
    double first = fmax(pow(10, on->x_least), pow(10, on->y_least) / bandwidth);
    double corner = fmin(top / bandwidth, pow(10, on->x_most));
    fprintf(file, "<polyline class=\"roof\" points=\"%.1f,%.1f %.1f,%.1f", x_of(on, first), y_of(on, first * bandwidth),
            x_of(on, corner), y_of(on, corner * bandwidth));
    if (peak > 0 && corner < pow(10, on->x_most))
        fprintf(file, " %d,%.1f", WIDTH - RIGHT, y_of(on, peak));
    fprintf(file, "\"/>\n");
}

void heddle_bench_plot_roofline(const heddle_bench *bench, FILE *file)
{
    axes on;
    if (!find_axes(bench, &on))
        return;
    fprintf(file,
            "<h2>Roofline</h2>\n<p class=\"aside\">One point per rung and shape. The slope is the measured copy "
            "bandwidth, the "
            "level part the float32 peak%s; only tensor cores can exceed it. Operators without arithmetic are not "
            "shown.</p>\n",
            bench->info.peak_flops > 0 ? "" : " (not known here)");
    fprintf(file, "<svg class=\"roofline\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"roofline\">\n", WIDTH,
            HEIGHT);
    plot_grid(&on, file);
    plot_roof(bench, &on, file);
    for (int i = 0; i < bench->count; i++) {
        const heddle_bench_result *result = &bench->results[i];
        if (!is_plotted(result))
            continue;
        fprintf(file, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>", class_of(result),
                x_of(&on, intensity_of(result)), y_of(&on, result->flops_per_second));
        heddle_html_text(file, result->op->name);
        fprintf(file, " ");
        heddle_html_text(file, result->shape);
        fprintf(file, ": ");
        heddle_html_text(file, result->rung->name);
        fprintf(file, ", %.4g GFLOP/s</title></circle>\n", result->flops_per_second / 1e9);
    }
    fprintf(file, "</svg>\n");
}
