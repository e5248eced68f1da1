// Sums up a profile: what each call took, how far that is from what the device can do, and what a step is made of.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

const char *const heddle_phase_names[HEDDLE_PHASES] = {
    [HEDDLE_PHASE_LOAD] = "load",     [HEDDLE_PHASE_FORWARD] = "forward", [HEDDLE_PHASE_BACKWARD] = "backward",
    [HEDDLE_PHASE_UPDATE] = "update", [HEDDLE_PHASE_FUSED] = "fused",     [HEDDLE_PHASE_PAUSE] = "pause",
};
const heddle_phase heddle_phase_order[HEDDLE_PHASES] = {HEDDLE_PHASE_LOAD,     HEDDLE_PHASE_FORWARD,
                                                        HEDDLE_PHASE_BACKWARD, HEDDLE_PHASE_UPDATE,
                                                        HEDDLE_PHASE_FUSED,    HEDDLE_PHASE_PAUSE};

static const double nanosecond = 1e-9;

// --- which groups ----------------------------------------------------------------------------------------------------

// Complete groups, without the first where there are others; the last one's length is not known.
typedef struct stretch {
    int first, last; // groups, both included; last < first: none
    int64_t begin, end;
    int64_t steps;
} stretch;

static bool begins_group(const heddle_profile_data *data, int span)
{
    const heddle_profile_span *at = &data->spans[span];
    return at->call >= 0 && data->calls[at->call].first && (span == 0 || data->spans[span - 1].group != at->group);
}

// All but the first and, unless there is only one, the last, behind which a run may wait for long.
static stretch choose_groups(const heddle_profile_data *data)
{
    stretch chosen = {.first = data->groups > 2 ? 1 : 0,
                      .last = data->groups > 2 ? data->groups - 2 : data->groups - 1};
    for (int i = 0; i < data->span_count; i++) {
        const heddle_profile_span *span = &data->spans[i];
        if (begins_group(data, i) && span->group == chosen.first)
            chosen.begin = span->begin;
        if (begins_group(data, i) && span->group == chosen.last + 1)
            chosen.end = span->begin;
        if (begins_group(data, i) && span->group >= chosen.first && span->group <= chosen.last)
            chosen.steps += data->calls[span->call].steps;
    }
    for (int i = 0; chosen.end == 0 && i < data->span_count; i++)
        if (data->spans[i].group >= chosen.first && data->spans[i].end > chosen.end)
            chosen.end = data->spans[i].end;
    return chosen;
}

static bool is_inside(const stretch *chosen, const heddle_profile_span *span)
{
    return span->group >= chosen->first && span->group <= chosen->last;
}

// --- rows ------------------------------------------------------------------------------------------------------------

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_row(const heddle_profile_call *a, const heddle_profile_call *b)
{
    return a->phase == b->phase && a->host == b->host && strcmp(a->layer, b->layer) == 0 && same_text(a->op, b->op) &&
           same_text(a->rung, b->rung);
}

static heddle_profile_row *row_of(heddle_profile_report *report, const heddle_profile_call *call)
{
    for (int i = 0; i < report->row_count; i++)
        if (same_row(report->rows[i].call, call))
            return &report->rows[i];
    heddle_profile_row *row = &report->rows[report->row_count++];
    *row = (heddle_profile_row){.call = call, .phase = call->phase};
    return row;
}

// The least time it could take. Products on tensor cores are held to memory alone: their peak was not measured.
static void find_roofline(heddle_profile_row *row, double flops, double bytes, const heddle_profile_limits *limits)
{
    const double peak = row->call->arithmetic == HEDDLE_FULL ? limits->flops : 0;
    const double by_memory = limits->bytes_per_second > 0 ? bytes / limits->bytes_per_second : 0;
    const double by_flops = peak > 0 ? flops / peak : 0;
    row->roofline = NAN;
    row->bound = "";
    if (!row->call->rung || row->seconds <= 0 || fmax(by_memory, by_flops) <= 0)
        return;
    row->roofline = fmax(by_memory, by_flops) / row->seconds;
    row->bound = by_flops > by_memory ? "f32 peak" : "memory";
}

static int order_of(heddle_phase phase)
{
    int place = 0;
    while (heddle_phase_order[place] != phase)
        place++;
    return place;
}

// By phase; inside of one as they were met, which is the order of a step.
static void sort_rows(heddle_profile_report *report)
{
    for (int i = 1; i < report->row_count; i++) {
        const heddle_profile_row moved = report->rows[i];
        int place = i;
        for (; place > 0 && order_of(report->rows[place - 1].phase) > order_of(moved.phase); place--)
            report->rows[place] = report->rows[place - 1];
        report->rows[place] = moved;
    }
}

// `timed`: times are the device's own, not those of a simulation.
static void finish_rows(heddle_profile_report *report, const heddle_profile_limits *limits, const double *flops,
                        const double *bytes, bool timed)
{
    for (int i = 0; i < report->row_count; i++) {
        heddle_profile_row *row = &report->rows[i];
        row->share = report->seconds > 0 ? row->seconds / report->seconds : 0;
        row->flops = timed && flops[i] > 0 && row->seconds > 0 ? flops[i] / row->seconds : NAN;
        row->bytes = timed && bytes[i] > 0 && row->seconds > 0 ? bytes[i] / row->seconds : NAN;
        find_roofline(row, flops[i], bytes[i], limits);
    }
    sort_rows(report);
}

// --- time in which something ran -------------------------------------------------------------------------------------

// Seconds of a copy in which some kernel ran. Spans are by begin; `from` is the first that may still matter.
static double covered(const heddle_profile_data *data, int copy)
{
    const heddle_profile_span *span = &data->spans[copy];
    int64_t at = span->begin, sum = 0;
    // A kernel that began long before may still run: as many are looked at as can be by then.
    enum { LOOK_BACK = 512 };
    for (int i = copy > LOOK_BACK ? copy - LOOK_BACK : 0; i < data->span_count && data->spans[i].begin < span->end;
         i++) {
        const heddle_profile_span *kernel = &data->spans[i];
        if (kernel->kind != HEDDLE_GPU_KERNEL || kernel->end <= at ||
            data->lanes[kernel->lane].kind != HEDDLE_LANE_STREAM)
            continue;
        const int64_t begin = kernel->begin > at ? kernel->begin : at;
        const int64_t end = kernel->end < span->end ? kernel->end : span->end;
        if (end > begin) {
            sum += end - begin;
            at = end;
        }
    }
    return (double)sum * nanosecond;
}

static bool is_link_copy(const heddle_profile_span *span)
{
    return span->kind == HEDDLE_GPU_COPY_IN || span->kind == HEDDLE_GPU_COPY_OUT;
}

typedef struct sums {
    double *flops, *bytes;         // by row
    int *last_group;               // by call: the latest that it was counted in
    int64_t busy_until;            // when the latest of what was met ends
    int64_t pause_at, pause_until; // what of the latest pause is still to be counted
} sums;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Counts a pause up to then: steps that were queued before it may still run, and what they take is no pause.
static void count_pause(heddle_profile_report *report, sums *so_far, int64_t until)
{
    const int64_t end = until < so_far->pause_until ? until : so_far->pause_until;
    if (end > so_far->pause_at)
        report->pauses += (double)(end - so_far->pause_at) * nanosecond;
    so_far->pause_at = later(so_far->pause_at, end);
}

static void add_span(const heddle_profile_data *data, int index, heddle_profile_report *report, sums *so_far)
{
    const heddle_profile_span *span = &data->spans[index];
    if (span->call < 0 && span->begin < so_far->pause_until)
        return; // an evaluation's
    const double seconds = (double)(span->end - span->begin) * nanosecond;
    const double gap = span->begin > so_far->busy_until ? (double)(span->begin - so_far->busy_until) * nanosecond : 0;
    report->gaps += gap;
    if (heddle_profile_is_pause(data, span)) {
        count_pause(report, so_far, INT64_MAX);
        so_far->pause_at = later(span->begin, so_far->busy_until);
        so_far->pause_until = span->end;
        so_far->busy_until = later(so_far->busy_until, span->end);
        return;
    }
    count_pause(report, so_far, span->begin);
    so_far->pause_at = later(so_far->pause_at, span->end);
    so_far->busy_until = later(so_far->busy_until, span->end);
    if (is_link_copy(span)) {
        report->copies += seconds;
        report->copies_covered += covered(data, index);
    }
    if (span->call < 0) {
        report->other += seconds;
        return;
    }
    const heddle_profile_call *call = &data->calls[span->call];
    heddle_profile_row *row = row_of(report, call);
    const size_t place = (size_t)(row - report->rows);
    row->seconds += seconds;
    row->gap += gap;
    row->kernels += span->name >= 0;
    report->phases[call->phase] += seconds;
    if (so_far->last_group[span->call] == span->group && data->device == HEDDLE_CUDA)
        return;
    so_far->last_group[span->call] = span->group;
    row->calls++;
    so_far->flops[place] += call->cost.flops;
    so_far->bytes[place] += call->rung ? call->cost.bytes_read + call->cost.bytes_written : call->cost.bytes_read;
}

// A pause that began before the first of the groups: the steps were queued by then.
static bool is_pause_into(const heddle_profile_data *data, const stretch *chosen, const heddle_profile_span *span)
{
    return heddle_profile_is_pause(data, span) && span->group < chosen->first && span->end > chosen->begin;
}

static void sum_up(const heddle_profile_data *data, const heddle_profile_limits *limits, heddle_profile_report *report,
                   sums *so_far)
{
    const stretch chosen = choose_groups(data);
    for (int i = 0; i < data->call_count; i++)
        so_far->last_group[i] = -1;
    so_far->busy_until = so_far->pause_at = so_far->pause_until = chosen.begin;
    for (int i = 0; i < data->span_count; i++)
        if (is_inside(&chosen, &data->spans[i]) || is_pause_into(data, &chosen, &data->spans[i]))
            add_span(data, i, report, so_far);
    count_pause(report, so_far, chosen.end);
    report->gaps += chosen.end > so_far->busy_until ? (double)(chosen.end - so_far->busy_until) * nanosecond : 0;
    report->steps = chosen.steps;
    report->seconds = (double)(chosen.end - chosen.begin) * nanosecond - report->pauses;
    finish_rows(report, limits, so_far->flops, so_far->bytes, data->device != HEDDLE_SIM);
}

heddle_status heddle_profile_summarise(const heddle_profile_data *data, const heddle_profile_limits *limits,
                                       heddle_profile_report *report)
{
    const size_t room = (size_t)data->call_count + 1;
    sums so_far = {.flops = calloc(room, sizeof(double)),
                   .bytes = calloc(room, sizeof(double)),
                   .last_group = calloc(room, sizeof(int))};
    *report = (heddle_profile_report){.rows = calloc(room, sizeof *report->rows)};
    const bool enough = so_far.flops && so_far.bytes && so_far.last_group && report->rows;
    if (enough)
        sum_up(data, limits, report, &so_far);
    free(so_far.flops);
    free(so_far.bytes);
    free(so_far.last_group);
    return enough ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to sum up a profile");
}

void heddle_profile_report_free(heddle_profile_report *report)
{
    free(report->rows);
    *report = (heddle_profile_report){0};
}

// --- one step --------------------------------------------------------------------------------------------------------

typedef struct period {
    int64_t begin, length;
    int steps;
} period;

static int by_length(const void *left, const void *right)
{
    const period *a = left, *b = right;
    return (a->length > b->length) - (a->length < b->length);
}

// The host's loading just before the first call of a group, if nothing else ran between.
static int64_t with_load(const heddle_profile_data *data, int span)
{
    for (int i = span - 1; i >= 0 && i >= span - 4; i--) {
        const heddle_profile_span *before = &data->spans[i];
        if (before->call < 0 || !data->calls[before->call].host)
            break;
        if (data->calls[before->call].phase == HEDDLE_PHASE_LOAD)
            return before->begin;
    }
    return data->spans[span].begin;
}

bool heddle_profile_typical(const heddle_profile_data *data, int64_t *begin, int64_t *end, int *steps)
{
    period *periods = calloc((size_t)data->groups + 1, sizeof *periods);
    int count = 0;
    for (int i = 0; periods && i < data->span_count; i++) {
        if (!begins_group(data, i))
            continue;
        const int64_t at = with_load(data, i);
        if (count > 0)
            periods[count - 1].length = at - periods[count - 1].begin;
        periods[count++] = (period){.begin = at, .steps = data->calls[data->spans[i].call].steps};
    }
    for (int i = 0; count > 0 && i < data->span_count; i++) // the last ends with its last span
        if (data->spans[i].group == data->groups - 1 &&
            data->spans[i].end - periods[count - 1].begin > periods[count - 1].length)
            periods[count - 1].length = data->spans[i].end - periods[count - 1].begin;
    const int first = count > 2 ? 1 : 0, last = count > 2 ? count - 1 : count;
    if (last > first) {
        qsort(periods + first, (size_t)(last - first), sizeof *periods, by_length);
        const period *typical = &periods[first + (last - first) / 2];
        *begin = typical->begin;
        *end = typical->begin + typical->length;
        *steps = typical->steps;
    }
    free(periods);
    return last > first;
}
