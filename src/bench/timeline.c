// Reads what libheddle-cupti.so wrote, one line per span, and sums it up.

#include "bench/timeline.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/text.h"

enum { LARGEST_FILE = 1 << 30 };

static const char *const kind_names[] = {"kernel", "copy in", "copy out", "copy inside", "set"};
static const char kind_letters[] = "KIODS"; // as module_cupti.c writes them
static const char drawn_as[HEDDLE_SPAN_KINDS + 1] = "#><==";
static const double nanosecond = 1e-9;

// --- reading ---------------------------------------------------------------------------------------------------------

// The number that follows a blank at *at; *at goes behind it.
static bool take_number(const char **at, unsigned long long most, unsigned long long *value)
{
    char *end;
    if (**at != ' ' || !isdigit((unsigned char)(*at)[1]))
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0 && *value <= most;
}

// "K 1000 2500 7 0 _Z6kernelPf", "I 1000 1400 13 4096"; "X 12" is a number of spans that were lost.
static bool read_line(const char *line, heddle_timeline *timeline)
{
    enum { BEGIN, END, STREAM, BYTES, NUMBERS };
    static const unsigned long long most[] = {ULLONG_MAX, ULLONG_MAX, UINT_MAX, ULLONG_MAX};
    heddle_span *span = &timeline->spans[timeline->count];
    unsigned long long numbers[NUMBERS];
    const char *kind = strchr(kind_letters, *line), *at = line + 1;
    if (*line == 'X' && take_number(&at, LONG_MAX, &numbers[0])) {
        timeline->dropped = (long)numbers[0];
        return *at == '\0';
    }
    if (!*line || !kind)
        return false;
    for (int i = 0; i < NUMBERS; i++)
        if (!take_number(&at, most[i], &numbers[i]))
            return false;
    bool named = at[0] == ' ' && at[1] != '\0';
    if (numbers[END] < numbers[BEGIN] || (*line == 'K') != named || (!named && *at))
        return false;
    span->kind = (heddle_span_kind)(kind - kind_letters);
    span->stream = (int)numbers[STREAM];
    span->begin = (double)numbers[BEGIN] * nanosecond;
    span->end = (double)numbers[END] * nanosecond;
    span->bytes = (double)numbers[BYTES];
    heddle_kernel_name(named ? at + 1 : "", span->name, sizeof span->name);
    timeline->count++;
    return true;
}

static int by_begin(const void *left, const void *right)
{
    const heddle_span *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static heddle_status read_lines(char *text, const char *path, heddle_timeline *timeline)
{
    int lines = 1, number = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    timeline->spans = calloc((size_t)lines, sizeof *timeline->spans);
    if (!timeline->spans)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d spans", lines);
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        number++;
        if (!read_line(line, timeline))
            return heddle_fail(HEDDLE_CORRUPT, "%s:%d: not a span: '%.40s'", path, number, line);
    }
    if (timeline->count > 1)
        qsort(timeline->spans, (size_t)timeline->count, sizeof *timeline->spans, by_begin);
    return HEDDLE_OK;
}

// --- summing up ------------------------------------------------------------------------------------------------------

// Begins at zero, with streams counted.
static void settle(heddle_timeline *timeline)
{
    double first = timeline->count ? timeline->spans[0].begin : 0;
    for (int i = 0; i < timeline->count; i++) {
        heddle_span *span = &timeline->spans[i];
        span->begin -= first;
        span->end -= first;
        timeline->seconds = span->end > timeline->seconds ? span->end : timeline->seconds;
        bool known = false;
        for (int j = i - 1; j >= 0 && !known; j--)
            known = timeline->spans[j].stream == span->stream;
        timeline->streams += !known;
    }
}

// Kernels that overlap or touch, as one stretch each: begin and end in turn. Returns how many.
static int busy_stretches(const heddle_timeline *timeline, double (*stretches)[2])
{
    int count = 0;
    for (int i = 0; i < timeline->count; i++) {
        const heddle_span *span = &timeline->spans[i];
        if (span->kind != HEDDLE_SPAN_KERNEL)
            continue;
        if (count && span->begin <= stretches[count - 1][1]) {
            if (span->end > stretches[count - 1][1])
                stretches[count - 1][1] = span->end;
        } else {
            stretches[count][0] = span->begin;
            stretches[count++][1] = span->end;
        }
    }
    return count;
}

// Seconds of the span inside the stretches. `from`: the first that may still matter, spans coming by begin.
static double inside(const heddle_span *span, double (*stretches)[2], int count, int *from)
{
    while (*from < count && stretches[*from][1] <= span->begin)
        ++*from;
    double seconds = 0;
    for (int i = *from; i < count && stretches[i][0] < span->end; i++) {
        double begin = stretches[i][0] > span->begin ? stretches[i][0] : span->begin;
        double end = stretches[i][1] < span->end ? stretches[i][1] : span->end;
        seconds += end > begin ? end - begin : 0;
    }
    return seconds;
}

static heddle_timeline_row *row_of(heddle_timeline *timeline, const heddle_span *span)
{
    for (int i = 0; i < timeline->row_count; i++) {
        heddle_timeline_row *row = &timeline->rows[i];
        if (row->kind == span->kind && (span->kind != HEDDLE_SPAN_KERNEL || strcmp(row->name, span->name) == 0))
            return row;
    }
    heddle_timeline_row *row = &timeline->rows[timeline->row_count++];
    *row = (heddle_timeline_row){.kind = span->kind,
                                 .name = span->kind == HEDDLE_SPAN_KERNEL ? span->name : kind_names[span->kind]};
    return row;
}

static int by_kind_and_time(const void *left, const void *right)
{
    const heddle_timeline_row *a = left, *b = right;
    bool copies_left = a->kind != HEDDLE_SPAN_KERNEL, copies_right = b->kind != HEDDLE_SPAN_KERNEL;
    if (copies_left != copies_right)
        return copies_left - copies_right;
    return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static heddle_status sum_up(heddle_timeline *timeline)
{
    if (timeline->count <= 0)
        return HEDDLE_OK;
    double(*stretches)[2] = calloc((size_t)timeline->count, sizeof *stretches);
    timeline->rows = calloc((size_t)timeline->count, sizeof *timeline->rows);
    timeline->row_count = 0;
    if (!stretches || !timeline->rows) {
        free(stretches);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to sum up %d spans", timeline->count);
    }
    int stretch_count = busy_stretches(timeline, stretches), from = 0;
    for (int i = 0; i < stretch_count; i++)
        timeline->kernel_seconds += stretches[i][1] - stretches[i][0];
    for (int i = 0; i < timeline->count; i++) {
        const heddle_span *span = &timeline->spans[i];
        heddle_timeline_row *row = row_of(timeline, span);
        double seconds = span->end - span->begin;
        row->count++;
        row->seconds += seconds;
        row->bytes += span->bytes;
        row->longest = seconds > row->longest ? seconds : row->longest;
        if (span->kind != HEDDLE_SPAN_KERNEL)
            row->under_kernels += inside(span, stretches, stretch_count, &from);
    }
    qsort(timeline->rows, (size_t)timeline->row_count, sizeof *timeline->rows, by_kind_and_time);
    free(stretches);
    return HEDDLE_OK;
}

heddle_status heddle_timeline_read(const char *path, heddle_timeline *timeline)
{
    *timeline = (heddle_timeline){0};
    char *text;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_FILE, &text, &size));
    heddle_status status = read_lines(text, path, timeline);
    free(text);
    if (status == HEDDLE_OK) {
        settle(timeline);
        status = sum_up(timeline);
    }
    if (status != HEDDLE_OK)
        heddle_timeline_free(timeline);
    return status;
}

void heddle_timeline_free(heddle_timeline *timeline)
{
    free(timeline->spans);
    free(timeline->rows);
    *timeline = (heddle_timeline){0};
}

// --- showing ---------------------------------------------------------------------------------------------------------

void heddle_timeline_draw(const heddle_timeline *timeline, int stream, double begin, double end, int width, char *line)
{
    double cell = (end - begin) / width;
    for (int column = 0; column < width; column++) {
        double from = begin + column * cell, to = from + cell, most = 1e-6 * cell; // less is rounding
        line[column] = ' ';
        double taken[HEDDLE_SPAN_KINDS] = {0};
        for (int i = 0; i < timeline->count && timeline->spans[i].begin < to; i++) {
            const heddle_span *span = &timeline->spans[i];
            double left = span->begin > from ? span->begin : from, right = span->end < to ? span->end : to;
            if (span->stream == stream && right > left)
                taken[span->kind] += right - left;
        }
        for (int kind = 0; kind < HEDDLE_SPAN_KINDS; kind++)
            if (taken[kind] > most) {
                most = taken[kind];
                line[column] = drawn_as[kind];
            }
    }
    line[width] = '\0';
}

cJSON *heddle_trace_add(cJSON *events, const char *name, const char *kind, int stream, double begin, double end)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "name", name);
    cJSON_AddStringToObject(event, "cat", kind);
    cJSON_AddStringToObject(event, "ph", "X");
    cJSON_AddNumberToObject(event, "pid", 1);
    cJSON_AddNumberToObject(event, "tid", stream);
    cJSON_AddNumberToObject(event, "ts", 1e6 * begin); // microseconds
    cJSON_AddNumberToObject(event, "dur", 1e6 * (end - begin));
    cJSON_AddItemToArray(events, event);
    return event;
}

cJSON *heddle_timeline_trace(const heddle_timeline *timeline)
{
    cJSON *json = cJSON_CreateObject(), *events = cJSON_AddArrayToObject(json, "traceEvents");
    cJSON_AddStringToObject(json, "displayTimeUnit", "ms");
    for (int i = 0; events && i < timeline->count; i++) {
        const heddle_span *span = &timeline->spans[i];
        const char *kind = kind_names[span->kind];
        const char *name = span->kind == HEDDLE_SPAN_KERNEL ? span->name : kind;
        cJSON *event = heddle_trace_add(events, name, kind, span->stream, span->begin, span->end);
        if (span->kind != HEDDLE_SPAN_KERNEL)
            cJSON_AddNumberToObject(cJSON_AddObjectToObject(event, "args"), "bytes", span->bytes);
    }
    return json;
}

cJSON *heddle_timeline_summary(const heddle_timeline *timeline)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "seconds", timeline->seconds);
    cJSON_AddNumberToObject(json, "kernel_seconds", timeline->kernel_seconds);
    cJSON_AddNumberToObject(json, "streams", timeline->streams);
    cJSON_AddNumberToObject(json, "dropped", (double)timeline->dropped);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (int i = 0; rows && i < timeline->row_count; i++) {
        const heddle_timeline_row *row = &timeline->rows[i];
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "kind", kind_names[row->kind]);
        cJSON_AddStringToObject(one, "name", row->name);
        cJSON_AddNumberToObject(one, "count", row->count);
        cJSON_AddNumberToObject(one, "seconds", row->seconds);
        cJSON_AddNumberToObject(one, "longest", row->longest);
        if (row->kind != HEDDLE_SPAN_KERNEL) {
            cJSON_AddNumberToObject(one, "bytes", row->bytes);
            cJSON_AddNumberToObject(one, "under_kernels", row->under_kernels);
        }
        cJSON_AddItemToArray(rows, one);
    }
    return json;
}
