// From CUPTI's records to spans of operator calls. Nothing here needs a GPU: tests give it records.

#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

enum { AMBIGUOUS = -2, NOBODY = -1 };

typedef struct link {
    uint32_t correlation;
    int32_t tag;
} link;

static int by_correlation(const void *left, const void *right)
{
    const link *a = left, *b = right;
    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static int by_node(const void *left, const void *right)
{
    const heddle_gpu_node *a = left, *b = right;
    return (a->node > b->node) - (a->node < b->node);
}

static int by_span_begin(const void *left, const void *right)
{
    const heddle_profile_span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

static int by_launch_begin(const void *left, const void *right)
{
    const heddle_profile_launch *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static bool is_span(heddle_gpu_kind kind)
{
    return kind <= HEDDLE_GPU_SET;
}

// The lane of kernels, or of copies, of one of CUDA's streams.
static int lane_of(heddle_profile_data *data, heddle_lane_kind kind, uint32_t stream)
{
    for (int i = 0; i < data->lane_count; i++)
        if (data->lanes[i].kind == kind && data->lanes[i].stream == stream)
            return i;
    heddle_profile_lane *made = &data->lanes[data->lane_count];
    *made = (heddle_profile_lane){.kind = kind, .stream = stream};
    if (kind == HEDDLE_LANE_HOST)
        snprintf(made->name, sizeof made->name, "host");
    else
        snprintf(made->name, sizeof made->name, kind == HEDDLE_LANE_STREAM ? "stream %u" : "copies of stream %u",
                 stream);
    return data->lane_count++;
}

// --- whose -----------------------------------------------------------------------------------------------------------

typedef struct links {
    link *items;
    int count;
} links;

static int call_by_node(const heddle_gpu_node *nodes, int count, uint64_t node)
{
    const heddle_gpu_node key = {.node = node};
    const heddle_gpu_node *found = count ? bsearch(&key, nodes, (size_t)count, sizeof *nodes, by_node) : NULL;
    return node && found ? found->tag : NOBODY;
}

static int call_by_correlation(const links *known, uint32_t correlation)
{
    const link key = {.correlation = correlation};
    const link *found =
        known->count ? bsearch(&key, known->items, (size_t)known->count, sizeof key, by_correlation) : NULL;
    return found ? found->tag : NOBODY;
}

bool heddle_profile_is_pause(const heddle_profile_data *data, const heddle_profile_span *span)
{
    return span->call >= 0 && data->calls[span->call].phase == HEDDLE_PHASE_PAUSE;
}

// A kernel that nobody's mark is on takes the call of the others of its name, if they have one and the same. In a pause
// it is a kernel of an evaluation, which is no part of a step.
static heddle_status match_by_name(heddle_profile_data *data)
{
    int *owner = calloc((size_t)data->name_count + 1, sizeof *owner);
    if (!owner)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to match %d kernels", data->name_count);
    for (int i = 0; i < data->name_count; i++)
        owner[i] = NOBODY;
    for (int i = 0; i < data->span_count; i++) {
        const heddle_profile_span *span = &data->spans[i];
        if (span->kind != HEDDLE_GPU_KERNEL || span->call < 0 || span->name < 0)
            continue;
        int *at = &owner[span->name];
        *at = *at == NOBODY || *at == span->call ? span->call : AMBIGUOUS;
    }
    int64_t paused_until = INT64_MIN;
    for (int i = 0; i < data->span_count; i++) {
        heddle_profile_span *span = &data->spans[i];
        if (heddle_profile_is_pause(data, span) && span->end > paused_until)
            paused_until = span->end;
        else if (span->kind == HEDDLE_GPU_KERNEL && span->call < 0 && span->name >= 0 && owner[span->name] >= 0 &&
                 span->begin >= paused_until)
            span->call = owner[span->name];
    }
    free(owner);
    return HEDDLE_OK;
}

// --- spans -----------------------------------------------------------------------------------------------------------

static void add_span(heddle_profile_data *data, const heddle_gpu_record *record, int call)
{
    const bool kernel = record->kind == HEDDLE_GPU_KERNEL;
    data->spans[data->span_count++] = (heddle_profile_span){
        .begin = (int64_t)record->begin,
        .end = (int64_t)(record->end < record->begin ? record->begin : record->end),
        .call = call < data->call_count ? call : NOBODY,
        .name = record->name,
        .lane = lane_of(data, kernel ? HEDDLE_LANE_STREAM : HEDDLE_LANE_COPIES, record->stream),
        .run = record->correlation,
        .kind = record->kind,
        .bytes = (double)record->bytes,
    };
}

static heddle_status reserve(heddle_profile_data *data, const heddle_gpu_record *records, int count, links *known)
{
    int spans = 0, launches = 0;
    for (int i = 0; i < count; i++) {
        spans += is_span(records[i].kind);
        launches += records[i].kind == HEDDLE_GPU_LAUNCH;
    }
    data->spans = calloc((size_t)spans + 1, sizeof *data->spans);
    data->launches = calloc((size_t)launches + 1, sizeof *data->launches);
    known->items = calloc((size_t)count + 1, sizeof *known->items);
    free(data->lanes);
    data->lanes = calloc(2 * (size_t)spans + 2, sizeof *data->lanes); // each could be on a stream of its own
    data->lane_count = 0;
    if (!data->spans || !data->launches || !data->lanes || !known->items)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to match %d records", count);
    return HEDDLE_OK;
}

static void add_launch(heddle_profile_data *data, const heddle_gpu_record *record)
{
    data->launches[data->launch_count++] = (heddle_profile_launch){
        .begin = (int64_t)record->begin, .end = (int64_t)record->end, .run = record->correlation, .name = record->name};
}

heddle_status heddle_profile_match(heddle_profile_data *data, heddle_gpu_record *records, int record_count,
                                   heddle_gpu_node *nodes, int node_count)
{
    links known = {0};
    heddle_status status = reserve(data, records, record_count, &known);
    for (int i = 0; i < record_count && status == HEDDLE_OK; i++)
        if (records[i].kind == HEDDLE_GPU_EXTERNAL)
            known.items[known.count++] = (link){records[i].correlation, records[i].tag};
    if (known.count > 1)
        qsort(known.items, (size_t)known.count, sizeof *known.items, by_correlation);
    if (node_count > 1)
        qsort(nodes, (size_t)node_count, sizeof *nodes, by_node);
    for (int i = 0; i < record_count && status == HEDDLE_OK; i++) {
        const heddle_gpu_record *record = &records[i];
        int call = call_by_node(nodes, node_count, record->node);
        if (call < 0)
            call = call_by_correlation(&known, record->correlation);
        if (record->kind == HEDDLE_GPU_LAUNCH)
            add_launch(data, record);
        else if (is_span(record->kind))
            add_span(data, record, call);
    }
    free(known.items);
    if (data->launch_count > 1)
        qsort(data->launches, (size_t)data->launch_count, sizeof *data->launches, by_launch_begin);
    return status;
}

// A kernel may be launched before the one ahead of it in its stream ends, and wait for that: its own time begins there.
static heddle_status cut_waiting(heddle_profile_data *data)
{
    if (data->device != HEDDLE_CUDA)
        return HEDDLE_OK;
    int64_t *busy_until = calloc((size_t)data->lane_count + 1, sizeof *busy_until);
    if (!busy_until)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to sum up a profile");
    for (int i = 0; i < data->span_count; i++) {
        heddle_profile_span *span = &data->spans[i];
        if (data->lanes[span->lane].kind != HEDDLE_LANE_STREAM)
            continue;
        if (span->begin < busy_until[span->lane])
            span->begin = span->end < busy_until[span->lane] ? span->end : busy_until[span->lane];
        if (span->end > busy_until[span->lane])
            busy_until[span->lane] = span->end;
    }
    free(busy_until);
    return HEDDLE_OK;
}

heddle_status heddle_profile_settle(heddle_profile_data *data)
{
    if (data->span_count > 1)
        qsort(data->spans, (size_t)data->span_count, sizeof *data->spans, by_span_begin);
    HEDDLE_TRY(cut_waiting(data));
    if (data->span_count > 1)
        qsort(data->spans, (size_t)data->span_count, sizeof *data->spans, by_span_begin);
    HEDDLE_TRY(match_by_name(data));
    heddle_profile_group(data);
    return HEDDLE_OK;
}

// --- steps -----------------------------------------------------------------------------------------------------------

// A group begins where a call that is a step's first follows another call, or is launched anew. The host's work before
// it belongs to the group before.
void heddle_profile_group(heddle_profile_data *data)
{
    int group = -1, before = NOBODY;
    uint32_t run = 0;
    for (int i = 0; i < data->span_count; i++) {
        heddle_profile_span *span = &data->spans[i];
        const heddle_profile_call *call = span->call < 0 ? NULL : &data->calls[span->call];
        if (call && !call->host) {
            group += call->first && (span->call != before || span->run != run);
            before = span->call;
            run = span->run;
        }
        span->group = group;
    }
    data->groups = group + 1;
}
