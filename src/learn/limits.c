// What a correct result is not enough for: counters under a limit, lines of output.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/describe.h"
#include "check/show.h"
#include "learn/judging.h"

enum { MOST_QUOTED = 3 };
static const double rounding = 1e-9;

// --- counters --------------------------------------------------------------------------------------------------------

static bool applies_to_kernel(const heddle_learn_limit *limit, const heddle_check_kernel *kernel)
{
    return !limit->kernel || heddle_check_same_function(limit->kernel, kernel->name);
}

static bool applies_to_line(const heddle_learn_limit *limit, const heddle_check_line *line)
{
    return (!limit->space || strcmp(limit->space, line->space) == 0) &&
           (!limit->access || strcmp(limit->access, line->access) == 0);
}

// What one line adds to a total.
static double amount(heddle_learn_measure measure, const heddle_check_line *line)
{
    switch (measure) {
    case HEDDLE_LEARN_ACCESSES: return line->lanes;
    case HEDDLE_LEARN_REQUESTS: return line->requests;
    case HEDDLE_LEARN_SECTORS: return heddle_check_is_shared(line->space) ? 0 : line->units;
    case HEDDLE_LEARN_SECTORS_PER_REQUEST:
    case HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST:
    case HEDDLE_LEARN_LAUNCHES:
    case HEDDLE_LEARN_BARRIERS:
    case HEDDLE_LEARN_MEASURES: break;
    }
    return 0;
}

static bool is_average(heddle_learn_measure measure)
{
    return measure == HEDDLE_LEARN_SECTORS_PER_REQUEST || measure == HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST;
}

// The unit that is limited, if the line is counted in it at all.
static bool has_unit(heddle_learn_measure measure, const heddle_check_line *line)
{
    return line->requests > 0 &&
           heddle_check_is_shared(line->space) == (measure == HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST);
}

static void quote_line(const heddle_learn_judging *judging, heddle_learn_reason *reason, const heddle_check_line *line,
                       const char *about)
{
    heddle_check_place place = {.frame = {{.file = line->file, .line = line->line}}, .frames = 1};
    heddle_learn_quote(judging, reason, &place, about ? about : "");
}

// What the warp that does worst touches, without the line above the picture, which names our folder.
static void draw_request(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                         const heddle_check_kernel *kernel, const heddle_check_line *line)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = line->worst ? open_memstream(&text, &size) : NULL;
    if (!file)
        return;
    heddle_check_show_request(line, &(heddle_check_style){.utf8 = judging->utf8}, file);
    fclose(file);
    const char *picture = strchr(text, '\n');
    if (picture)
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_DRAWING, "%s",
                              heddle_learn_short_indices(judging, picture + 1, heddle_learn_dimensions(kernel)));
    free(text);
}

static void tell_average(const heddle_learn_judging *judging, const heddle_learn_limit *limit,
                         const heddle_check_kernel *kernel, const heddle_check_line *line)
{
    bool shared = limit->measure == HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST;
    double measured = line->units / line->requests;
    heddle_learn_reason *reason = heddle_learn_add_reason(judging->verdict, "limit", HEDDLE_LEARN_RANK_LIMIT,
                                                          "`%s`: %.4g %s per request, at most %.4g allowed",
                                                          kernel->name, measured, heddle_check_unit(line), limit->most);
    quote_line(judging, reason, line,
               heddle_learn_format(judging->verdict->arena, "%s of %s memory: %.4g %s per request", line->access,
                                   line->space, measured, heddle_check_unit(line)));
    heddle_learn_add_item(
        judging->verdict, reason, HEDDLE_LEARN_TEXT, "%s",
        shared ? "A request is one load or store by the 32 lanes of a warp. Shared memory has 32 banks, and a bank "
                 "delivers one word at a time: different words in the same bank are served one after another, one "
                 "wavefront each. This is the warp that needs most:"
               : "A request is one load or store by the 32 lanes of a warp. Global memory is moved in sectors of 32 "
                 "bytes, whole ones even if a lane uses only 4 bytes of it. This is the warp that needs most:");
    draw_request(judging, reason, kernel, line);
}

static void check_averages(const heddle_learn_judging *judging, const heddle_learn_limit *limit)
{
    const heddle_check_report *run = judging->result->runs[0];
    const heddle_check_kernel *worst_kernel = NULL;
    const heddle_check_line *worst = NULL;
    for (int k = 0; k < run->kernel_count; k++)
        for (int l = 0; applies_to_kernel(limit, &run->kernels[k]) && l < run->kernels[k].line_count; l++) {
            const heddle_check_line *line = &run->kernels[k].lines[l];
            if (!applies_to_line(limit, line) || !has_unit(limit->measure, line) ||
                line->units / line->requests <= limit->most + rounding)
                continue;
            if (!worst || line->units / line->requests > worst->units / worst->requests) {
                worst = line;
                worst_kernel = &run->kernels[k];
            }
        }
    if (worst)
        tell_average(judging, limit, worst_kernel, worst);
}

// The lines that add most to a total.
static void quote_largest(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                          const heddle_learn_limit *limit)
{
    const heddle_check_report *run = judging->result->runs[0];
    const heddle_check_line *quoted[MOST_QUOTED] = {NULL};
    for (int n = 0; n < MOST_QUOTED; n++) {
        const heddle_check_line *largest = NULL;
        for (int k = 0; k < run->kernel_count; k++)
            for (int l = 0; applies_to_kernel(limit, &run->kernels[k]) && l < run->kernels[k].line_count; l++) {
                const heddle_check_line *line = &run->kernels[k].lines[l];
                bool seen = false;
                for (int i = 0; i < n; i++)
                    seen |= quoted[i] == line;
                if (!seen && applies_to_line(limit, line) && amount(limit->measure, line) > 0 &&
                    (!largest || amount(limit->measure, line) > amount(limit->measure, largest)))
                    largest = line;
            }
        if (!largest)
            return;
        quoted[n] = largest;
        quote_line(judging, reason, largest,
                   heddle_learn_format(judging->verdict->arena, "%.0f %s: %s of %s memory",
                                       amount(limit->measure, largest), heddle_learn_measure_names[limit->measure],
                                       largest->access, largest->space));
    }
}

static double total_of(const heddle_learn_judging *judging, const heddle_learn_limit *limit)
{
    const heddle_check_report *run = judging->result->runs[0];
    double total = 0;
    for (int k = 0; k < run->kernel_count; k++) {
        const heddle_check_kernel *kernel = &run->kernels[k];
        if (!applies_to_kernel(limit, kernel))
            continue;
        total += limit->measure == HEDDLE_LEARN_LAUNCHES   ? kernel->launches
                 : limit->measure == HEDDLE_LEARN_BARRIERS ? kernel->barriers
                                                           : 0;
        for (int l = 0; l < kernel->line_count; l++)
            if (applies_to_line(limit, &kernel->lines[l]))
                total += amount(limit->measure, &kernel->lines[l]);
    }
    return total;
}

static const char *meaning_of(heddle_learn_measure measure)
{
    switch (measure) {
    case HEDDLE_LEARN_ACCESSES: return "An access is one load or store by one thread.";
    case HEDDLE_LEARN_REQUESTS: return "A request is one load or store by a whole warp.";
    case HEDDLE_LEARN_SECTORS: return "A sector is 32 bytes of global memory: the least that is moved at a time.";
    case HEDDLE_LEARN_LAUNCHES: return "Every launch costs time, and kernels pass data on through global memory.";
    case HEDDLE_LEARN_BARRIERS: return "A barrier counts once for each block that passes it.";
    case HEDDLE_LEARN_SECTORS_PER_REQUEST:
    case HEDDLE_LEARN_WAVEFRONTS_PER_REQUEST:
    case HEDDLE_LEARN_MEASURES: break;
    }
    return "";
}

// Requests of few lanes: blocks of few threads, or one thread that does the work of all.
static void tell_lanes(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                       const heddle_learn_limit *limit)
{
    const heddle_check_report *run = judging->result->runs[0];
    const heddle_check_kernel *small = NULL, *serial = NULL;
    for (int k = 0; k < run->kernel_count; k++) {
        const heddle_check_kernel *kernel = &run->kernels[k];
        int threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
        double lanes = 0, requests = 0;
        for (int l = 0; applies_to_kernel(limit, kernel) && l < kernel->line_count; l++) {
            lanes += kernel->lines[l].lanes;
            requests += kernel->lines[l].requests;
        }
        if (requests > 0 && threads < HEDDLE_CHECK_LANES)
            small = kernel;
        else if (requests > 0 && lanes == requests)
            serial = kernel;
    }
    int threads = small ? small->block[0] * small->block[1] * small->block[2] : 0;
    if (small)
        heddle_learn_add_item(
            judging->verdict, reason, HEDDLE_LEARN_ADVICE,
            "A block of `%s` has %d thread%s, so each request uses %d of the %d lanes of a warp: make "
            "the blocks larger, such as 256 threads.",
            small->name, threads, threads == 1 ? "" : "s", threads, HEDDLE_CHECK_LANES);
    else if (serial)
        heddle_learn_add_item(
            judging->verdict, reason, HEDDLE_LEARN_ADVICE,
            "Each request uses 1 of the %d lanes of a warp: in `%s`, one thread does the work of all. "
            "Let every thread do its part.",
            HEDDLE_CHECK_LANES, serial->name);
}

static void check_total(const heddle_learn_judging *judging, const heddle_learn_limit *limit)
{
    double total = total_of(judging, limit);
    if (total <= limit->most + rounding)
        return;
    const char *kind = limit->access ? limit->access : heddle_learn_measure_names[limit->measure];
    heddle_learn_reason *reason = heddle_learn_add_reason(
        judging->verdict, "limit", HEDDLE_LEARN_RANK_LIMIT,
        "too many %s%s%s%s%s%s: %.0f over all cases, at most %.0f allowed", limit->access ? kind : "",
        limit->access ? " " : "", heddle_learn_measure_names[limit->measure], limit->space ? " to " : "",
        limit->space ? limit->space : "", limit->space ? " memory" : "", total, limit->most);
    quote_largest(judging, reason, limit);
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT, "%s", meaning_of(limit->measure));
    if (limit->measure == HEDDLE_LEARN_REQUESTS)
        tell_lanes(judging, reason, limit);
}

void heddle_learn_apply_limits(const heddle_learn_judging *judging)
{
    if (judging->result->run_count == 0)
        return;
    for (int i = 0; i < judging->rules->limit_count; i++) {
        const heddle_learn_limit *limit = &judging->rules->limits[i];
        if (is_average(limit->measure))
            check_averages(judging, limit);
        else
            check_total(judging, limit);
    }
}

// --- output ----------------------------------------------------------------------------------------------------------

static bool is_line(const char *line, size_t length, const char *wanted)
{
    return strlen(wanted) == length && strncmp(line, wanted, length) == 0;
}

static int count_lines(const char *output, const char *wanted)
{
    int count = 0;
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n");
        count += is_line(line, length, wanted);
        line += length + (line[length] == '\n');
    }
    return count;
}

static int count_wanted(const char **list, const char *line, size_t length)
{
    int count = 0;
    for (int i = 0; list[i]; i++)
        count += is_line(line, length, list[i]);
    return count;
}

// The printed line that is most like `wanted` and is not asked for: the one that begins like it longest. *same: for
// how many bytes, whatever their case.
static const char *nearest_line(const char **wanted, const char *output, const char *missing, size_t *same)
{
    const char *nearest = NULL;
    *same = 0;
    for (const char *line = output; *line;) {
        size_t length = strcspn(line, "\n"), equal = 0;
        while (equal < length && tolower((unsigned char)line[equal]) == tolower((unsigned char)missing[equal]))
            equal++;
        if (count_wanted(wanted, line, length) == 0 && (!nearest || equal > *same)) {
            nearest = line;
            *same = equal;
        }
        line += length + (line[length] == '\n');
    }
    return nearest;
}

// Where the line that was meant differs from the one that was asked for.
static void tell_difference(const heddle_learn_judging *judging, heddle_learn_reason *reason, const char *missing)
{
    size_t same, equal = 0;
    const char *line = nearest_line(judging->rules->output, judging->verdict->output, missing, &same);
    size_t length = line ? strcspn(line, "\n") : 0;
    if (same < 2) // another line altogether
        return;
    while (equal < length && line[equal] == missing[equal])
        equal++;
    if (missing[equal] == '\0' && isdigit((unsigned char)line[equal]))
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                              "Your line has another number at its end: '%.*s'.", (int)length, line);
    else if (missing[equal] == '\0')
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                              "Your line goes on where it should end, at '%.*s': is the line end, \\n, missing?",
                              (int)(length - equal < 12 ? length - equal : 12), line + equal);
    else if (equal == length)
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT, "Your line ends before '%s'.",
                              missing + equal);
    else
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                              "Your line differs first at '%c', character %zu: it should be '%c'.", line[equal],
                              equal + 1, missing[equal]);
}

// Lines may come in any order, each as often as it is listed.
void heddle_learn_apply_output(const heddle_learn_judging *judging)
{
    const char **wanted = judging->rules->output, *output = judging->verdict->output;
    const char *missing = NULL, *extra = NULL;
    for (int i = 0; wanted && wanted[i] && !missing; i++)
        if (count_lines(output, wanted[i]) < count_wanted(wanted, wanted[i], strlen(wanted[i])))
            missing = wanted[i];
    for (const char *line = output; wanted && *line && !extra;) {
        size_t length = strcspn(line, "\n");
        const char *one = heddle_learn_format(judging->verdict->arena, "%.*s", (int)length, line);
        if (one && count_lines(output, one) > count_wanted(wanted, line, length))
            extra = one;
        line += length + (line[length] == '\n');
    }
    if (!missing && !extra)
        return;
    heddle_learn_reason *reason =
        heddle_learn_add_reason(judging->verdict, "output", HEDDLE_LEARN_RANK_OUTPUT, "%s: %s",
                                !output[0] ? "the program prints nothing, and should print"
                                : missing  ? "a line is missing from what the program prints"
                                           : "the program prints a line too many",
                                missing ? missing : extra);
    if (missing)
        tell_difference(judging, reason, missing);
}
