// Results as a table for the terminal, slowest rung first, with a bar for each: the ladder as one sees it.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "bench/sweep.h"
#include "heddle/heddle.h"

enum { BAR = 24, CELL = 64 };

// Rungs without a time first, then the slowest.
static int slowest_first(const void *a, const void *b)
{
    const heddle_bench_result *x = *(const heddle_bench_result *const *)a;
    const heddle_bench_result *y = *(const heddle_bench_result *const *)b;
    double left = heddle_bench_is_timed(x) ? x->timing.seconds : INFINITY,
           right = heddle_bench_is_timed(y) ? y->timing.seconds : INFINITY;
    if (left != right)
        return left < right ? 1 : -1;
    return x < y ? -1 : 1;
}

// "12.34 µs": four digits that count.
static const char *time_text(double seconds, char *text, size_t size)
{
    static const struct {
        double least;
        const char *unit;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds < 0.9999 * units[i].least)
        i++;
    double value = seconds / units[i].least;
    snprintf(text, size, "%.*f %s", value < 10 ? 3 : value < 100 ? 2 : 1, value, units[i].unit);
    return text;
}

// In the unit that the roofline is made of.
static const char *rate_text(const heddle_bench_result *result, char *text, size_t size)
{
    bool memory =
        result->bound ? strcmp(result->bound, "memory") == 0 : result->flops_per_second <= result->bytes_per_second;
    double rate = memory ? result->bytes_per_second : result->flops_per_second;
    const char *unit = memory ? "B/s" : "FLOP/s";
    static const struct {
        double least, one; // from here on in this unit
        const char *prefix;
        int decimals;
    } scales[] = {{1e12, 1e12, "T", 2}, {1e11, 1e9, "G", 0}, {1e8, 1e9, "G", 1}, {1e5, 1e6, "M", 1}, {0, 1e3, "k", 1}};
    size_t i = 0;
    while (i + 1 < sizeof scales / sizeof *scales && !(rate >= scales[i].least))
        i++;
    snprintf(text, size, "%.*f %s%s", scales[i].decimals, rate / scales[i].one, scales[i].prefix, unit);
    return text;
}

static const char *bar_text(const heddle_bench_result *result, double fastest, char *text)
{
    int length = (int)(BAR * fastest / result->timing.seconds + 0.5);
    length = length < 1 ? 1 : length > BAR ? BAR : length;
    memset(text, '#', (size_t)length);
    text[length] = '\0';
    return text;
}

static const char *mark_of(const heddle_bench_result *result)
{
    return result->rung->tier == HEDDLE_VENDOR ? "vendor" : result->best_own ? "best own" : "";
}

// ±: half the distance between the fastest and the slowest tenth, as a share of the median.
static double spread_of(const heddle_bench_result *result)
{
    return (result->timing.high - result->timing.low) / 2 / result->timing.seconds;
}

static void add_roofline_and_ratio(heddle_table *table, const heddle_bench_result *result)
{
    if (isnan(result->roofline))
        heddle_table_cell(table, "-");
    else
        heddle_table_cell(table, "%.1f%%", 100 * result->roofline);
    if (isnan(result->ratio))
        heddle_table_cell(table, "-");
    else
        heddle_table_cell(table, "%.*f", result->ratio < 0.1 ? 3 : 2, result->ratio);
}

static void add_timed_row(heddle_table *table, const heddle_bench_result *result, double fastest)
{
    char text[CELL];
    heddle_table_cell(table, "%s", result->rung->name);
    heddle_table_cell(table, "%s", result->precision);
    heddle_table_cell(table, "%s", time_text(result->timing.seconds, text, sizeof text));
    bool once = result->timing.launches == 1;
    if (once)
        heddle_table_cell(table, "once");
    else
        heddle_table_cell(table, "%.1f%%", 100 * spread_of(result));
    heddle_table_cell(table, "%s", once ? "" : time_text(result->timing.back_to_back, text, sizeof text));
    heddle_table_cell(table, "%s", rate_text(result, text, sizeof text));
    add_roofline_and_ratio(table, result);
    heddle_table_cell(table, "%s", mark_of(result));
    heddle_table_cell(table, "%s", bar_text(result, fastest, text));
}

static heddle_status print_timed(const heddle_bench_result *const *sorted, int count, const char *against, FILE *file)
{
    double fastest = INFINITY;
    for (int i = 0; i < count; i++)
        fastest = heddle_bench_is_timed(sorted[i]) ? fmin(fastest, sorted[i]->timing.seconds) : fastest;
    if (isinf(fastest))
        return HEDDLE_OK;
    heddle_table *table = heddle_table_create();
    static const char *const titles[] = {"time", "±", "back to back", "rate", "roofline"};
    heddle_table_column(table, "rung", HEDDLE_LEFT);
    heddle_table_column(table, "type", HEDDLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        heddle_table_column(table, titles[i], HEDDLE_RIGHT);
    char versus[CELL];
    snprintf(versus, sizeof versus, "× %s", against ? against : "vendor");
    heddle_table_column(table, versus, HEDDLE_RIGHT);
    heddle_table_column(table, "", HEDDLE_LEFT);
    heddle_table_column(table, "", HEDDLE_LEFT);
    for (int i = 0; i < count; i++)
        if (heddle_bench_is_timed(sorted[i]))
            add_timed_row(table, sorted[i], fastest);
    return heddle_table_finish(table, file);
}

// For a device without timings: which rungs are right, and how near to the limit the farthest of them came.
static void print_untimed(const heddle_bench_result *const *sorted, int count, FILE *file)
{
    int right = 0;
    double share = 0;
    for (int i = 0; i < count; i++) {
        if (sorted[i]->state != HEDDLE_BENCH_RIGHT || heddle_bench_is_timed(sorted[i]))
            continue;
        fprintf(file, "%s %s", right++ ? "," : "correct:", sorted[i]->rung->name);
        share = fmax(share, sorted[i]->worst_share);
    }
    if (right > 0)
        fprintf(file, " (error at most %.0f %% of the bound)\n", 100 * share);
}

// One line for all rungs with the same reason.
static void print_not_run(const heddle_bench_result *const *sorted, int count, FILE *file)
{
    for (int i = 0; i < count; i++) {
        const char *reason = sorted[i]->reason;
        bool told = false;
        for (int k = 0; k < i && reason; k++)
            told |= sorted[k]->reason && strcmp(sorted[k]->reason, reason) == 0;
        if (!reason || told)
            continue;
        fprintf(file, "not run: %s", sorted[i]->rung->name);
        for (int k = i + 1; k < count; k++)
            if (sorted[k]->reason && strcmp(sorted[k]->reason, reason) == 0)
                fprintf(file, ", %s", sorted[k]->rung->name);
        fprintf(file, ": %s\n", reason);
    }
}

// Why a result was not timed, if the reason is its own.
static void print_trouble(const heddle_bench_result *result, FILE *file)
{
    if (result->state == HEDDLE_BENCH_UNCHECKED)
        fprintf(file, "%s\n", result->message);
    else if (result->state == HEDDLE_BENCH_NOT_RUN && !result->reason)
        fprintf(file, "not run: %s\n", result->message);
    else if (result->state == HEDDLE_BENCH_WRONG || result->state == HEDDLE_BENCH_FAILED)
        fprintf(file, "%s: %s\n", result->state == HEDDLE_BENCH_WRONG ? "WRONG" : "FAILED", result->message);
}

heddle_status heddle_bench_show_text(const heddle_bench *bench, int first, int last, FILE *file)
{
    if (first >= last)
        return HEDDLE_OK;
    const heddle_bench_result **sorted = calloc((size_t)(last - first), sizeof *sorted);
    if (!sorted)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table");
    for (int i = first; i < last; i++)
        sorted[i - first] = &bench->results[i];
    qsort(sorted, (size_t)(last - first), sizeof *sorted, slowest_first);
    fprintf(file, "\n%s  %s\n", sorted[0]->op->name, sorted[0]->shape);
    int unchecked = 0;
    for (int i = 0; i < last - first; i++)
        if (sorted[i]->state != HEDDLE_BENCH_UNCHECKED || unchecked++ == 0)
            print_trouble(sorted[i], file);
    print_not_run(sorted, last - first, file);
    print_untimed(sorted, last - first, file);
    heddle_status status = print_timed(sorted, last - first, bench->options.against, file);
    free(sorted);
    return status;
}

// --- sweeps ----------------------------------------------------------------------------------------------------------

// A bar as long as the roofline's share; where no roofline is known, as the speed relative to the vendor's.
static const char *share_bar(const heddle_bench_result *result, char *text)
{
    double share = isnan(result->roofline) ? result->ratio : result->roofline;
    int length = isnan(share) ? 0 : (int)(BAR * fmin(share, 1) + 0.5);
    memset(text, '#', (size_t)length);
    text[length] = '\0';
    return text;
}

static void add_swept_row(heddle_table *table, const heddle_bench *bench, const heddle_bench_result *result)
{
    char text[CELL];
    heddle_table_cell(table, "%.0f", heddle_bench_swept_value(bench, result));
    heddle_table_cell(table, "%s", result->precision);
    heddle_table_cell(table, "%s", result->rung->name);
    heddle_table_cell(table, "%s", time_text(result->timing.seconds, text, sizeof text));
    heddle_table_cell(table, "%s", rate_text(result, text, sizeof text));
    add_roofline_and_ratio(table, result);
    heddle_table_cell(table, "%s", share_bar(result, text));
}

// `only`, or the fastest own rung of its type at its shape; the fastest of the vendor's where no own one was measured.
static bool stands_for_shape(const heddle_bench *bench, int first, int last, const char *only, int index)
{
    const heddle_bench_result *result = &bench->results[index];
    bool vendors = result->rung->tier == HEDDLE_VENDOR;
    if (only)
        return heddle_bench_is_timed(result) && strcmp(result->rung->name, only) == 0;
    for (int i = first; i < last; i++) {
        const heddle_bench_result *other = &bench->results[i];
        bool is_rival = heddle_bench_is_timed(other) && strcmp(other->shape, result->shape) == 0 &&
                        strcmp(other->precision, result->precision) == 0;
        if (vendors && is_rival &&
            (other->rung->tier != HEDDLE_VENDOR || other->timing.seconds < result->timing.seconds))
            return false;
    }
    return heddle_bench_is_timed(result) && (vendors || result->best_own);
}

// Every shape of one type, then those of the next.
static int add_swept_rows(heddle_table *table, const heddle_bench *bench, int first, int last, const char *only)
{
    int rows = 0;
    for (int of = first; of < last; of++) {
        bool known = false;
        for (int i = first; i < of; i++)
            known |= strcmp(bench->results[i].precision, bench->results[of].precision) == 0;
        for (int i = known ? last : of; i < last; i++) {
            if (strcmp(bench->results[i].precision, bench->results[of].precision) != 0 ||
                !stands_for_shape(bench, first, last, only, i))
                continue;
            add_swept_row(table, bench, &bench->results[i]);
            rows++;
        }
    }
    return rows;
}

// A wrong rung's message names its shape; others begin with it. What several rungs have in common is said once, and
// that a rung does not take a shape where it was asked for by name.
static void print_swept_trouble(const heddle_bench *bench, int first, int index, const char *only, FILE *file)
{
    const heddle_bench_result *result = &bench->results[index];
    bool asked = only && strcmp(result->rung->name, only) == 0;
    if (result->state == HEDDLE_BENCH_RIGHT || (result->reason && !asked))
        return;
    for (int i = first; i < index && result->state == HEDDLE_BENCH_UNCHECKED; i++)
        if (bench->results[i].state == HEDDLE_BENCH_UNCHECKED && strcmp(bench->results[i].shape, result->shape) == 0)
            return;
    if (result->state == HEDDLE_BENCH_UNCHECKED || result->state == HEDDLE_BENCH_NOT_RUN)
        fprintf(file, "%s: ", result->shape);
    if (result->state == HEDDLE_BENCH_NOT_RUN && result->reason)
        fprintf(file, "not run: %s: %s\n", result->rung->name, result->reason);
    else
        print_trouble(result, file);
}

heddle_status heddle_bench_show_sweep(const heddle_bench *bench, int first, int last, const char *only, FILE *file)
{
    char text[CELL];
    fprintf(file, "\n%s  %s\n", bench->results[first].op->name, bench->options.sweep);
    for (int i = first; i < last; i++)
        print_swept_trouble(bench, first, i, only, file);
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, heddle_bench_swept_names(bench, text, sizeof text), HEDDLE_RIGHT);
    heddle_table_column(table, "type", HEDDLE_LEFT);
    heddle_table_column(table, "rung", HEDDLE_LEFT);
    heddle_table_column(table, "time", HEDDLE_RIGHT);
    heddle_table_column(table, "rate", HEDDLE_RIGHT);
    heddle_table_column(table, "roofline", HEDDLE_RIGHT);
    snprintf(text, sizeof text, "× %s", bench->options.against ? bench->options.against : "vendor");
    heddle_table_column(table, text, HEDDLE_RIGHT);
    heddle_table_column(table, "", HEDDLE_LEFT);
    if (add_swept_rows(table, bench, first, last, only) > 0)
        return heddle_table_finish(table, file);
    heddle_table_destroy(table);
    return HEDDLE_OK;
}

// --- the machine -----------------------------------------------------------------------------------------------------

static void warn_of_clocks(const char *what, double before, double after, FILE *file)
{
    const double noticeable = 0.05;
    if (before > 0 && after > 0 && fabs(after - before) > noticeable * before)
        fprintf(file, "the %s clock changed from %.0f to %.0f MHz while measuring: read the times with care\n", what,
                before, after);
}

void heddle_bench_show_machine(const heddle_bench *bench, FILE *file)
{
    const heddle_device_info *info = &bench->info;
    fprintf(file, "%s, %s", heddle_device_kind_name(info->kind), info->name);
    if (info->kind == HEDDLE_CPU)
        fprintf(file, ", %d thread%s", info->threads, info->threads == 1 ? "" : "s");
    if (info->driver[0])
        fprintf(file, ", driver %s", info->driver);
    if (info->runtime[0])
        fprintf(file, ", CUDA %s", info->runtime);
    if (info->clock > 0)
        fprintf(file, ", %.0f MHz", info->clock);
    if (info->memory_clock > 0)
        fprintf(file, ", memory %.0f MHz", info->memory_clock);
    if (bench->copy_bandwidth > 0)
        fprintf(file, ", copies %.0f GB/s", bench->copy_bandwidth / 1e9);
    fprintf(file, "; seed %llu\n", (unsigned long long)bench->options.seed);
    if (info->kind == HEDDLE_SIM)
        fprintf(file, "the simulated GPU reports no timings; results are checked\n");
}

void heddle_bench_show_doubts(const heddle_bench *bench, FILE *file)
{
    const heddle_device_info *info = &bench->info;
    const double noticeable = 0.2;
    double spread = 0;
    warn_of_clocks("processor", info->clock, bench->clock_after, file);
    warn_of_clocks("memory", info->memory_clock, bench->memory_clock_after, file);
    for (int i = 0; i < bench->count; i++)
        if (heddle_bench_is_timed(&bench->results[i]))
            spread = fmax(spread, spread_of(&bench->results[i]));
    if (spread > noticeable)
        fprintf(file, "times vary by up to %.0f %%: the machine is probably busy; measure again when it is idle\n",
                100 * spread);
}
