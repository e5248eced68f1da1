// The results as one HTML file: machine, roofline, and for each operator and shape its ladder and all figures.

#include <math.h>
#include <string.h>

#include "base/html.h"
#include "bench/bench.h"
#include "bench/plots.h"
#include "heddle/heddle.h"

// One row of the table of facts, where the fact is known.
static void print_fact(FILE *file, const char *name, const char *value)
{
    if (!value[0])
        return;
    fprintf(file, "<tr><td>%s</td><td>", name);
    heddle_html_text(file, value);
    fprintf(file, "</td></tr>\n");
}

// On sim nothing is timed.
static bool is_timed(const heddle_bench *bench)
{
    return bench->info.kind != HEDDLE_SIM;
}

static void print_method(const heddle_bench *bench, FILE *file)
{
    const char *interrupted = bench->complete ? "" : " The run was interrupted.";
    fprintf(file, "<p class=\"aside\">Every result was checked against a float64 reference");
    if (!is_timed(bench)) {
        fprintf(file, ". The simulated GPU reports no timings.%s</p>\n", interrupted);
        return;
    }
    fprintf(file,
            " before the timing and, with other inputs in the same memory, after it; a wrong rung has no timing. Time: "
            "median of single launches with a cold cache; ± is half the distance between the fastest and the slowest "
            "tenth. Back to back: one launch among many, with a warm cache. Roofline: the least time that the measured "
            "copy bandwidth and the peak allow, divided by the time. ×: speed relative to the vendor's rung%s",
            bench->options.against ? ", here " : "");
    heddle_html_text(file, bench->options.against ? bench->options.against : "");
    fprintf(file,
            ".%s</p>\n<p class=\"key\"><span class=\"own\"></span>own<span class=\"best\"></span>best own"
            "<span class=\"vendor\"></span>vendor</p>\n",
            interrupted);
}

static void print_machine(const heddle_bench *bench, FILE *file)
{
    const heddle_device_info *info = &bench->info;
    char text[256];
    struct tm when;
    fprintf(file, "<table>\n");
    snprintf(text, sizeof text, "%s (%s, %s)", info->name, heddle_device_kind_name(info->kind), info->instructions);
    print_fact(file, "device", text);
    print_fact(file, "driver", info->driver);
    print_fact(file, "runtime", info->runtime);
    snprintf(text, sizeof text, "%.0f MHz before, %.0f after; memory %.0f and %.0f", info->clock, bench->clock_after,
             info->memory_clock, bench->memory_clock_after);
    print_fact(file, "clocks", info->clock > 0 ? text : "");
    snprintf(text, sizeof text, "%.1f GB/s, read and written", bench->copy_bandwidth / 1e9);
    print_fact(file, "copies", bench->copy_bandwidth > 0 ? text : "");
    snprintf(text, sizeof text, "%.1f TFLOP/s, from the number of units", info->peak_flops / 1e12);
    print_fact(file, "float32 peak", info->peak_flops > 0 ? text : "");
    strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", gmtime_r(&bench->began, &when));
    print_fact(file, "date", text);
    print_fact(file, "heddle", heddle_version());
    snprintf(text, sizeof text, "%llu", (unsigned long long)bench->options.seed);
    print_fact(file, "seed", text);
    fprintf(file, "</table>\n");
    print_method(bench, file);
}

static void print_figure(FILE *file, const char *format, double value)
{
    fprintf(file, "<td>");
    if (isfinite(value))
        fprintf(file, format, value);
    fprintf(file, "</td>");
}

static void print_times(const heddle_bench_result *result, FILE *file)
{
    const heddle_bench_timing *timing = &result->timing;
    print_figure(file, "%.4g", 1e6 * timing->seconds);
    print_figure(file, "%.1f %%", 50 * (timing->high - timing->low) / timing->seconds);
    print_figure(file, "%.4g", 1e6 * timing->back_to_back);
    print_figure(file, "%.4g", result->flops_per_second / 1e9);
    print_figure(file, "%.4g", result->bytes_per_second / 1e9);
    print_figure(file, "%.1f %%", 100 * result->roofline);
    fprintf(file, "<td>%s</td>", result->bound ? result->bound : "");
    print_figure(file, "%.3g", result->ratio);
}

static void print_row(const heddle_bench_result *result, bool timed, FILE *file)
{
    fprintf(file, "<tr><td>");
    heddle_html_text(file, result->rung->name);
    fprintf(file, "</td><td>%s</td><td>%s</td>", heddle_tier_names[result->rung->tier], result->precision);
    if (timed)
        print_times(result, file);
    print_figure(file, "%.2g", result->worst);
    fprintf(file, "<td>");
    heddle_html_text(file, result->rung->note ? result->rung->note : "");
    fprintf(file, "</td></tr>\n");
}

static void print_group(const heddle_bench *bench, int first, int last, FILE *file)
{
    int right = 0;
    fprintf(file, "<h2>%s <span class=\"aside\">", bench->results[first].op->name);
    heddle_html_text(file, bench->results[first].shape);
    fprintf(file, "</span></h2>\n");
    heddle_bench_plot_ladder(bench, first, last, file);
    for (int i = first; i < last; i++) {
        right += bench->results[i].state == HEDDLE_BENCH_RIGHT;
        if (bench->results[i].state == HEDDLE_BENCH_RIGHT)
            continue;
        bool not_run = bench->results[i].state == HEDDLE_BENCH_NOT_RUN;
        bool aside = not_run || bench->results[i].state == HEDDLE_BENCH_UNCHECKED;
        fprintf(file, "<p class=\"%s\">%s", aside ? "aside" : "wrong", not_run ? "not run: " : "");
        heddle_html_text(file, bench->results[i].message);
        fprintf(file, "</p>\n");
    }
    if (right == 0)
        return;
    fprintf(file,
            "<div class=\"scroll\"><table class=\"measured noted\">\n<tr><th>rung</th><th>tier</th><th>type</th>%s"
            "<th>largest error</th><th>what it does, what limits it</th></tr>\n",
            is_timed(bench) ? "<th>µs</th><th>±</th><th>µs back to back</th><th>GFLOP/s</th><th>GB/s</th>"
                              "<th>roofline</th><th>bound</th><th>×</th>"
                            : "");
    for (int i = first; i < last; i++)
        if (bench->results[i].state == HEDDLE_BENCH_RIGHT)
            print_row(&bench->results[i], is_timed(bench), file);
    fprintf(file, "</table></div>\n");
}

heddle_status heddle_bench_show_page(const heddle_bench *bench, const heddle_bench_more *more, FILE *file)
{
    heddle_html_begin(file, "heddle bench", more ? more->style : "");
    print_machine(bench, file);
    heddle_bench_plot_sweep(bench, file);
    heddle_bench_plot_roofline(bench, file);
    for (int first = 0, last; first < bench->count; first = last) {
        last = heddle_bench_group_end(bench, first);
        print_group(bench, first, last, file);
    }
    if (more)
        HEDDLE_TRY(more->print(more->context, file));
    return heddle_html_end(file);
}
