// The probe: puts marks around each call where clocks are ours (cpu, sim), or tells CUPTI which call is being queued
// (cuda). Spans go to a ring that was allocated before: the latest stay.

#include "profile/profile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "device/module.h"
#include "nn/plan.h"

enum {
    MOST_LANES = 64,
    MOST_NAMES = 2048,
    MOST_NODES = 1 << 16,
    MOST_RANGES = 4096,
    // Each record costs most of a microsecond of GPU time, a tenth of a step of the fused CNN: with so many a profile
    // is good, and the rest of a run goes on at its own speed. Records from before the first poll do not count: the
    // timings that choose among kernels can be more than this.
    ENOUGH_RECORDS = 1 << 11,
};

// A call as the marks know it; its address is in captured graphs, so it never moves.
typedef struct slot {
    struct heddle_profile *profile;
    const void *plan; // NULL: work of a trainer
    int call, steps;
    int index, lane; // in the lists of `data`
    double bytes;    // of a copy
    int64_t begin;   // of the run that is under way
    char range[2 * HEDDLE_PROFILE_NAME];
    struct slot *next;
} slot;

struct heddle_profile {
    heddle_probe probe;
    heddle_profile_data data;
    slot *slots;
    int call_room;
    // Of cpu and sim, and of the host: the ring.
    heddle_profile_span *ring;
    int room;
    atomic_llong count;
    // Of cuda: CUPTI's records, a ring as well.
    void *module;
    heddle_gpu_start *start;
    heddle_gpu_stop *pause, *stop;
    heddle_gpu_enter *enter;
    pthread_mutex_t lock; // of what follows
    heddle_gpu_record *records;
    long long record_count, step_records;
    uint64_t steps_from; // the first poll; 0: none yet
    heddle_gpu_node *nodes;
    int node_count;
    bool started, finished; // after data.stopped, nothing new is recorded; `stop` fetches what CUPTI still holds
};

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// --- the ring --------------------------------------------------------------------------------------------------------

static void push(heddle_profile *profile, int call, int lane, int64_t begin, int64_t end, double bytes)
{
    const long long at = atomic_fetch_add_explicit(&profile->count, 1, memory_order_relaxed);
    profile->ring[at % profile->room] = (heddle_profile_span){
        .begin = begin, .end = end, .call = call, .name = -1, .lane = lane, .run = (uint32_t)at, .bytes = bytes};
}

static void mark_begin(void *context)
{
    ((slot *)context)->begin = now();
}

static void mark_end(void *context)
{
    const slot *of = context;
    push(of->profile, of->index, of->lane, of->begin, now(), of->bytes);
}

// --- calls and lanes -------------------------------------------------------------------------------------------------

static heddle_status find_lane(heddle_profile *profile, heddle_lane_kind kind, const void *object, int *lane)
{
    heddle_profile_data *data = &profile->data;
    int of_kind = 0;
    for (*lane = 0; *lane < data->lane_count; ++*lane) {
        if (data->lanes[*lane].kind == kind && data->lanes[*lane].object == object)
            return HEDDLE_OK;
        of_kind += data->lanes[*lane].kind == kind;
    }
    if (data->lane_count == MOST_LANES)
        return heddle_fail(HEDDLE_UNSUPPORTED, "a profile of more than %d streams", MOST_LANES);
    heddle_profile_lane *made = &data->lanes[data->lane_count++];
    *made = (heddle_profile_lane){.kind = kind, .object = object};
    if (kind == HEDDLE_LANE_HOST)
        snprintf(made->name, sizeof made->name, "host");
    else
        snprintf(made->name, sizeof made->name, "stream %d", of_kind + 1);
    return HEDDLE_OK;
}

static heddle_status add_call(heddle_profile *profile, const heddle_profile_call *call, int *index)
{
    heddle_profile_data *data = &profile->data;
    if (data->call_count == profile->call_room) {
        const int room = profile->call_room ? 2 * profile->call_room : 256;
        heddle_profile_call *grown = realloc(data->calls, (size_t)room * sizeof *grown);
        if (!grown)
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the profile of %d calls", room);
        data->calls = grown;
        profile->call_room = room;
    }
    *index = data->call_count;
    data->calls[data->call_count++] = *call;
    return HEDDLE_OK;
}

// NULL where that fails; *status says why.
static slot *add_slot(heddle_profile *profile, const heddle_profile_call *call, heddle_stream *stream,
                      heddle_status *status)
{
    slot *one = calloc(1, sizeof *one);
    if (!one) {
        *status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a profile");
        return NULL;
    }
    one->profile = profile;
    one->next = profile->slots;
    profile->slots = one;
    *status = find_lane(profile, HEDDLE_LANE_STREAM, stream, &one->lane);
    if (*status == HEDDLE_OK)
        *status = add_call(profile, call, &one->index);
    snprintf(one->range, sizeof one->range, "%s%s%s", call->layer, *call->layer ? " " : "", call->op);
    return *status == HEDDLE_OK ? one : NULL;
}

static void describe_layer(const heddle_purpose *purpose, char text[HEDDLE_PROFILE_NAME])
{
    if (purpose->layer && purpose->last && strcmp(purpose->layer, purpose->last) != 0)
        snprintf(text, HEDDLE_PROFILE_NAME, "%s to %s", purpose->layer, purpose->last);
    else
        snprintf(text, HEDDLE_PROFILE_NAME, "%s", purpose->layer ? purpose->layer : "");
}

// What the plan's call computes, with the number of steps that this launch of it takes.
static heddle_cost cost_of(const heddle_planned_call *planned, int planned_steps, int steps)
{
    heddle_cost cost = planned->op->cost ? planned->op->cost(planned->call.shape) : (heddle_cost){0};
    const double part = (double)steps / planned_steps;
    return (heddle_cost){cost.flops * part, cost.bytes_read * part, cost.bytes_written * part};
}

static heddle_status slot_of(heddle_profile *profile, const heddle_probed_call *probed, slot **found)
{
    const heddle_plan *plan = probed->plan;
    for (slot *one = profile->slots; one; one = one->next)
        if (one->plan == plan && one->call == probed->call && one->steps == probed->steps) {
            *found = one;
            return HEDDLE_OK;
        }
    const heddle_planned_call *planned = &plan->calls[probed->call];
    const heddle_purpose *purpose = &plan->trace.nodes[probed->call].purpose;
    const int planned_steps = plan->whole_steps ? ((const heddle_cnn_train_shape *)planned->call.shape)->steps : 1;
    const int leading = plan->once > plan->prepared ? plan->once : plan->prepared;
    heddle_profile_call call = {.op = planned->op->name,
                                .rung = planned->rung->name,
                                .tier = heddle_tier_names[planned->rung->tier],
                                .phase = purpose->phase,
                                .arithmetic = planned->rung->arithmetic,
                                .cost = cost_of(planned, planned_steps, probed->steps),
                                .steps = probed->steps,
                                .first = probed->call == leading};
    describe_layer(purpose, call.layer);
    heddle_status status;
    slot *made = *found = add_slot(profile, &call, probed->stream, &status);
    if (!made)
        return status;
    made->plan = plan;
    made->call = probed->call;
    made->steps = probed->steps;
    return HEDDLE_OK;
}

static heddle_status slot_of_work(heddle_profile *profile, const heddle_probed_work *work, slot **found)
{
    for (slot *one = profile->slots; one; one = one->next)
        if (!one->plan && profile->data.calls[one->index].op == work->name) {
            *found = one;
            return HEDDLE_OK;
        }
    const heddle_profile_call call = {.op = work->name,
                                      .phase = work->phase,
                                      .cost = {.bytes_read = work->bytes, .bytes_written = work->bytes},
                                      .steps = 1,
                                      .first = work->phase == HEDDLE_PHASE_LOAD};
    heddle_status status;
    slot *made = *found = add_slot(profile, &call, work->stream, &status);
    if (!made)
        return status;
    made->bytes = work->bytes;
    // A step begins with this, no longer with its plan's first call.
    for (int i = 0; call.first && i < profile->data.call_count; i++)
        profile->data.calls[i].first = profile->data.calls[i].first && !profile->data.calls[i].rung;
    return HEDDLE_OK;
}

// --- the probe -------------------------------------------------------------------------------------------------------

static heddle_status enter(heddle_profile *profile, slot *at, heddle_stream *stream)
{
    heddle_nvtx_push(at->range);
    if (profile->data.device == HEDDLE_CUDA) {
        if (profile->started && !profile->data.stopped)
            profile->enter(at->index);
        return HEDDLE_OK;
    }
    return heddle_stream_callback(stream, mark_begin, at);
}

static heddle_status leave(heddle_profile *profile, slot *at, heddle_stream *stream)
{
    heddle_nvtx_pop();
    if (profile->data.device == HEDDLE_CUDA) {
        if (profile->started && !profile->data.stopped)
            profile->enter(-1);
        return HEDDLE_OK;
    }
    return heddle_stream_callback(stream, mark_end, at);
}

static heddle_status before(heddle_probe *probe, const heddle_probed_call *call)
{
    slot *at = NULL;
    HEDDLE_TRY(slot_of((heddle_profile *)probe, call, &at));
    return enter(at->profile, at, call->stream);
}

static heddle_status behind(heddle_probe *probe, const heddle_probed_call *call)
{
    slot *at = NULL;
    HEDDLE_TRY(slot_of((heddle_profile *)probe, call, &at));
    return leave(at->profile, at, call->stream);
}

static heddle_status begin(heddle_probe *probe, const heddle_probed_work *work)
{
    slot *at = NULL;
    HEDDLE_TRY(slot_of_work((heddle_profile *)probe, work, &at));
    return enter(at->profile, at, work->stream);
}

static heddle_status end(heddle_probe *probe, const heddle_probed_work *work)
{
    slot *at = NULL;
    HEDDLE_TRY(slot_of_work((heddle_profile *)probe, work, &at));
    return leave(at->profile, at, work->stream);
}

static void host(heddle_probe *probe, const char *name, heddle_phase phase, double from, double to)
{
    heddle_profile *profile = (heddle_profile *)probe;
    int lane, call = 0;
    while (call < profile->data.call_count && !(profile->data.calls[call].host && profile->data.calls[call].op == name))
        call++;
    const heddle_profile_call made = {.op = name, .phase = phase, .steps = 1, .host = true};
    if (call == profile->data.call_count && add_call(profile, &made, &call) != HEDDLE_OK)
        return; // one line less in a profile is no reason to stop training
    if (find_lane(profile, HEDDLE_LANE_HOST, NULL, &lane) == HEDDLE_OK)
        push(profile, call, lane, nanoseconds(from), nanoseconds(to), 0);
}

static void poll_records(heddle_probe *probe)
{
    heddle_profile *profile = (heddle_profile *)probe;
    pthread_mutex_lock(&profile->lock);
    if (!profile->steps_from)
        profile->steps_from = (uint64_t)now();
    const bool enough = profile->started && !profile->data.stopped && profile->step_records >= ENOUGH_RECORDS;
    pthread_mutex_unlock(&profile->lock);
    if (!enough)
        return;
    profile->pause();
    profile->data.stopped = true;
}

// --- CUPTI -----------------------------------------------------------------------------------------------------------

// The index of a name in a list; it is added where it is new. -1: the list is full.
static int intern(char ***list, int *count, int most, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp((*list)[i], name) == 0)
            return i;
    char *copy = *count < most ? strdup(name) : NULL;
    if (!copy)
        return -1;
    (*list)[*count] = copy;
    return (*count)++;
}

static void take_record(void *context, const heddle_gpu_record *record, const char *name)
{
    heddle_profile *profile = context;
    heddle_profile_data *data = &profile->data;
    pthread_mutex_lock(&profile->lock);
    if (record->kind == HEDDLE_GPU_RANGE) {
        (void)intern(&data->ranges, &data->range_count, MOST_RANGES, name);
    } else {
        heddle_gpu_record *kept = &profile->records[profile->record_count++ % profile->room];
        *kept = *record;
        profile->step_records += profile->steps_from && record->begin >= profile->steps_from;
        char plain[HEDDLE_PROFILE_NAME] = "";
        heddle_kernel_name(name ? name : "", plain, sizeof plain);
        kept->name = name ? intern(&data->names, &data->name_count, MOST_NAMES, plain) : -1;
    }
    pthread_mutex_unlock(&profile->lock);
}

static void take_node(void *context, uint64_t node, uint64_t from, int32_t tag)
{
    heddle_profile *profile = context;
    pthread_mutex_lock(&profile->lock);
    for (int i = profile->node_count - 1; tag < 0 && i >= 0; i--)
        if (profile->nodes[i].node == from)
            tag = profile->nodes[i].tag;
    if (tag >= 0 && profile->node_count < MOST_NODES)
        profile->nodes[profile->node_count++] = (heddle_gpu_node){.node = node, .tag = tag};
    pthread_mutex_unlock(&profile->lock);
}

// Finds and starts the module; the note says why there are no times if that fails: nvtx ranges are still given.
static void start_module(heddle_profile *profile)
{
    char path[4096], why[sizeof profile->data.note] = "";
    char *note = profile->data.note;
    const size_t size = sizeof profile->data.note;
    if (!heddle_module_find("libheddle-cupti.so", path, sizeof path)) {
        snprintf(note, size, "heddle was built without CUPTI; rebuild where cupti.h of the CUDA toolkit is installed");
        return;
    }
    profile->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!profile->module) {
        snprintf(note, size, "%s", dlerror());
        return;
    }
    *(void **)&profile->start = dlsym(profile->module, HEDDLE_GPU_START);
    *(void **)&profile->pause = dlsym(profile->module, HEDDLE_GPU_PAUSE);
    *(void **)&profile->stop = dlsym(profile->module, HEDDLE_GPU_STOP);
    *(void **)&profile->enter = dlsym(profile->module, HEDDLE_GPU_ENTER);
    if (!profile->start || !profile->pause || !profile->stop || !profile->enter) {
        snprintf(note, size, "%.120s is of another version of heddle; build it again", path);
        return;
    }
    const heddle_gpu_sink sink = {.context = profile, .record = take_record, .node = take_node};
    profile->started = profile->start(&sink, why, sizeof why) == 0;
    if (!profile->started)
        snprintf(note, size, "%s", why);
}

// --- making and ending -----------------------------------------------------------------------------------------------

static heddle_status allocate(heddle_profile *made)
{
    const bool gpu = made->data.device == HEDDLE_CUDA;
    made->ring = calloc((size_t)made->room, sizeof *made->ring);
    made->data.lanes = calloc(MOST_LANES, sizeof *made->data.lanes);
    made->data.names = calloc(MOST_NAMES, sizeof *made->data.names);
    made->data.ranges = calloc(MOST_RANGES, sizeof *made->data.ranges);
    made->records = gpu ? calloc((size_t)made->room, sizeof *made->records) : NULL;
    made->nodes = gpu ? calloc(MOST_NODES, sizeof *made->nodes) : NULL;
    if (!made->ring || !made->data.lanes || !made->data.names || !made->data.ranges ||
        (gpu && (!made->records || !made->nodes)))
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a profile of %d spans", made->room);
    return HEDDLE_OK;
}

heddle_status heddle_profile_create(heddle_device_kind device, int spans, heddle_profile **profile)
{
    *profile = NULL;
    heddle_profile *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a profile");
    made->probe = (heddle_probe){
        .before = before, .behind = behind, .begin = begin, .end = end, .host = host, .poll = poll_records};
    made->data.device = device;
    made->room = spans;
    pthread_mutex_init(&made->lock, NULL);
    heddle_status status = allocate(made);
    if (status != HEDDLE_OK) {
        heddle_profile_destroy(made);
        return status;
    }
    if (device == HEDDLE_CUDA)
        start_module(made);
    *profile = made;
    return HEDDLE_OK;
}

static void free_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

void heddle_profile_destroy(heddle_profile *profile)
{
    if (!profile)
        return;
    if (profile->started && !profile->finished)
        profile->stop();
    while (profile->slots) {
        slot *next = profile->slots->next;
        free(profile->slots);
        profile->slots = next;
    }
    free_names(profile->data.names, profile->data.names ? profile->data.name_count : 0);
    free_names(profile->data.ranges, profile->data.ranges ? profile->data.range_count : 0);
    free(profile->data.calls);
    free(profile->data.lanes);
    free(profile->data.spans);
    free(profile->data.launches);
    free(profile->ring);
    free(profile->records);
    free(profile->nodes);
    pthread_mutex_destroy(&profile->lock);
    free(profile); // the module stays: CUPTI's threads may still be in it
}

heddle_probe *heddle_profile_probe(heddle_profile *profile)
{
    return &profile->probe;
}

// What the host did, beside what CUPTI saw. Its lane is made anew: matching has made all others.
static heddle_status add_host(heddle_profile *profile)
{
    heddle_profile_data *data = &profile->data;
    const long long seen = atomic_load(&profile->count);
    const int kept = (int)(seen < profile->room ? seen : profile->room);
    heddle_profile_span *spans =
        realloc(data->spans, ((size_t)data->span_count + (size_t)kept + 1) * sizeof *data->spans);
    heddle_profile_lane *lanes = realloc(data->lanes, ((size_t)data->lane_count + 1) * sizeof *data->lanes);
    data->spans = spans ? spans : data->spans;
    data->lanes = lanes ? lanes : data->lanes;
    if (!spans || !lanes)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a profile");
    for (int i = 0; i < kept; i++) {
        data->spans[data->span_count] = profile->ring[i];
        data->spans[data->span_count++].lane = data->lane_count;
    }
    if (kept)
        data->lanes[data->lane_count++] = (heddle_profile_lane){.kind = HEDDLE_LANE_HOST, .name = "host"};
    return HEDDLE_OK;
}

heddle_status heddle_profile_finish(heddle_profile *profile, const heddle_profile_data **data)
{
    heddle_profile_data *made = &profile->data;
    *data = made;
    if (profile->finished)
        return HEDDLE_OK;
    if (profile->started)
        profile->stop(); // all records have come
    profile->finished = true;
    if (made->device == HEDDLE_CUDA) {
        const long long seen = profile->record_count;
        const int kept = (int)(seen < profile->room ? seen : profile->room);
        made->dropped += (long)(seen - kept);
        HEDDLE_TRY(heddle_profile_match(made, profile->records, kept, profile->nodes, profile->node_count));
        HEDDLE_TRY(add_host(profile));
    } else {
        const long long seen = atomic_load(&profile->count);
        made->span_count = (int)(seen < profile->room ? seen : profile->room);
        made->dropped = (long)(seen - made->span_count);
        made->spans = profile->ring;
        profile->ring = NULL;
    }
    return heddle_profile_settle(made);
}
