// The profile as a trace in Perfetto's format, for ui.perfetto.dev: one track per lane, copies on their own, what the
// host launched with arrows to the kernels, layer, operator and rung of each span, and counters of what a call does per
// second. Names are written once and referred to by number.

#include "profile/profile.h"

#include "heddle/status.h"

#ifndef HEDDLE_HAVE_PROTOBUF

bool heddle_profile_has_perfetto(void)
{
    return false;
}

heddle_status heddle_profile_write_perfetto(const heddle_profile_data *data, const char *path)
{
    (void)data;
    return heddle_fail(HEDDLE_MISSING,
                       "cannot write %s: heddle was built without protobuf-c; install protobuf-c-compiler and "
                       "libprotobuf-c-dev and rebuild",
                       path);
}

#else

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "profile/perfetto.pb-c.h"

enum {
    SEQUENCE = 1,
    STATE_CLEARED = 1, // the first packet of the sequence: names begin anew
    NEEDS_STATE = 2,   // a packet that refers to names
    CLOCK_MONOTONIC_ID = 3,
    EXPLICIT_ORDER = 3,
    PROCESS_TRACK = 1,
    LAUNCH_TRACK = 2,
    COUNTER_TRACKS = 3,
    COUNTERS = 2,
    FIRST_LANE_TRACK = 16,
    OTHER_CATEGORY = HEDDLE_PHASES + 1,
    LAUNCH_CATEGORY,
    MOST_NOTES = 4,
    PACKET_TAG = 1 << 3 | 2, // field 1 of Trace, of some length
    VARINT_MOST = 10,
};

// The file as it grows: packets one behind another, each with its length before it.
typedef struct output {
    const heddle_profile_data *data;
    unsigned char *bytes;
    size_t size, room;
    heddle_status status;
} output;

static void append(output *to, const Perfetto__TracePacket *packet)
{
    const size_t length = perfetto__trace_packet__get_packed_size(packet), most = length + 1 + VARINT_MOST;
    if (to->status != HEDDLE_OK)
        return;
    if (!to->bytes || to->size + most > to->room) {
        const size_t room = 2 * to->room + most;
        unsigned char *grown = realloc(to->bytes, room);
        if (!grown) {
            to->status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a trace of %zu bytes", room);
            return;
        }
        to->bytes = grown;
        to->room = room;
    }
    to->bytes[to->size++] = PACKET_TAG;
    for (size_t rest = length;; rest >>= 7) {
        to->bytes[to->size++] = (unsigned char)((rest & 127) | (rest > 127 ? 128 : 0));
        if (rest <= 127)
            break;
    }
    to->size += perfetto__trace_packet__pack(packet, to->bytes + to->size);
}

static Perfetto__TracePacket new_packet(void)
{
    Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
    packet.has_trusted_packet_sequence_id = 1;
    packet.trusted_packet_sequence_id = SEQUENCE;
    return packet;
}

// --- tracks ----------------------------------------------------------------------------------------------------------

static void add_track(output *to, uint64_t uuid, uint64_t parent, const char *name, int rank, const char *unit)
{
    Perfetto__TracePacket packet = new_packet();
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
    track.has_uuid = track.has_sibling_order_rank = 1;
    track.uuid = uuid;
    track.sibling_order_rank = rank;
    track.name = (char *)name;
    if (parent) {
        track.has_parent_uuid = 1;
        track.parent_uuid = parent;
    }
    if (unit) {
        counter.unit_name = (char *)unit;
        track.counter = &counter;
    }
    packet.track_descriptor = &track;
    append(to, &packet);
}

static void add_process(output *to)
{
    Perfetto__TracePacket packet = new_packet();
    Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
    Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
    char name[64];
    snprintf(name, sizeof name, "heddle on %s", heddle_device_kind_name(to->data->device));
    process.has_pid = 1;
    process.pid = (int32_t)getpid();
    process.process_name = name;
    track.has_uuid = track.has_child_ordering = 1;
    track.uuid = PROCESS_TRACK;
    track.child_ordering = EXPLICIT_ORDER;
    track.process = &process;
    packet.track_descriptor = &track;
    append(to, &packet);
}

static void add_tracks(output *to)
{
    static const char *const counters[COUNTERS][2] = {{"arithmetic", "GFLOP/s"}, {"memory", "GB/s"}};
    const heddle_profile_data *data = to->data;
    add_process(to);
    int rank = 0;
    if (data->launch_count)
        add_track(to, LAUNCH_TRACK, PROCESS_TRACK, "launches", rank++, NULL);
    for (int i = 0; i < data->lane_count; i++)
        add_track(to, FIRST_LANE_TRACK + (uint64_t)i, PROCESS_TRACK, data->lanes[i].name, rank++, NULL);
    for (int i = 0; i < COUNTERS && data->device == HEDDLE_CPU; i++)
        add_track(to, COUNTER_TRACKS + (uint64_t)i, PROCESS_TRACK, counters[i][0], rank++, counters[i][1]);
}

// --- names -----------------------------------------------------------------------------------------------------------

// Numbers begin at 1: calls, then kernels.
static uint64_t name_of_call(int call)
{
    return (uint64_t)call + 1;
}

static uint64_t name_of_kernel(const heddle_profile_data *data, int name)
{
    return (uint64_t)data->call_count + (uint64_t)name + 1;
}

// What spans are called where neither call nor name is known.
static uint64_t name_of_kind(const heddle_profile_data *data, heddle_gpu_kind kind)
{
    return (uint64_t)data->call_count + (uint64_t)data->name_count + (uint64_t)kind + 1;
}

static void intern_name(output *to, uint64_t number, const char *name, bool category, bool first)
{
    Perfetto__TracePacket packet = new_packet();
    Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
    Perfetto__EventName event = PERFETTO__EVENT_NAME__INIT, *events[] = {&event};
    Perfetto__EventCategory group = PERFETTO__EVENT_CATEGORY__INIT, *groups[] = {&group};
    event.has_iid = group.has_iid = 1;
    event.iid = group.iid = number;
    event.name = group.name = (char *)name;
    if (category) {
        interned.n_event_categories = 1;
        interned.event_categories = groups;
    } else {
        interned.n_event_names = 1;
        interned.event_names = events;
    }
    packet.has_sequence_flags = 1;
    packet.sequence_flags = first ? STATE_CLEARED : NEEDS_STATE;
    packet.interned_data = &interned;
    append(to, &packet);
}

static void intern_names(output *to)
{
    const heddle_profile_data *data = to->data;
    char text[2 * HEDDLE_PROFILE_NAME];
    for (int i = 0; i < HEDDLE_PHASES; i++)
        intern_name(to, (uint64_t)i + 1, heddle_phase_names[i], true, i == 0);
    intern_name(to, OTHER_CATEGORY, "other", true, false);
    intern_name(to, LAUNCH_CATEGORY, "launch", true, false);
    for (int i = 0; i < data->call_count; i++) {
        const heddle_profile_span span = {.call = i, .name = -1};
        intern_name(to, name_of_call(i), heddle_profile_label(data, &span, text, sizeof text), false, false);
    }
    for (int i = 0; i < data->name_count; i++)
        intern_name(to, name_of_kernel(data, i), data->names[i], false, false);
    for (int i = 0; i < HEDDLE_GPU_KINDS; i++) {
        const heddle_profile_span span = {.call = -1, .name = -1, .kind = (heddle_gpu_kind)i};
        if (i <= HEDDLE_GPU_SET)
            intern_name(to, name_of_kind(data, span.kind), heddle_profile_label(data, &span, text, sizeof text), false,
                        false);
    }
}

// --- events ----------------------------------------------------------------------------------------------------------

static void add_event(output *to, int64_t time, Perfetto__TrackEvent *event)
{
    Perfetto__TracePacket packet = new_packet();
    packet.has_timestamp = packet.has_timestamp_clock_id = packet.has_sequence_flags = 1;
    packet.timestamp = (uint64_t)time;
    packet.timestamp_clock_id = CLOCK_MONOTONIC_ID;
    packet.sequence_flags = NEEDS_STATE;
    packet.track_event = event;
    append(to, &packet);
}

static Perfetto__TrackEvent new_event(Perfetto__TrackEvent__Type type, uint64_t track)
{
    Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
    event.has_type = event.has_track_uuid = 1;
    event.type = type;
    event.track_uuid = track;
    return event;
}

static void add_end(output *to, int64_t time, uint64_t track)
{
    Perfetto__TrackEvent event = new_event(PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, track);
    add_event(to, time, &event);
}

typedef struct notes {
    Perfetto__DebugAnnotation items[MOST_NOTES], *places[MOST_NOTES];
    size_t count;
} notes;

static void note(notes *on, const char *name, const char *text, double number)
{
    Perfetto__DebugAnnotation *item = &on->items[on->count];
    perfetto__debug_annotation__init(item);
    item->name = (char *)name;
    item->string_value = (char *)text;
    item->has_double_value = text == NULL;
    item->double_value = number;
    on->places[on->count++] = item;
}

static void note_span(notes *on, const heddle_profile_data *data, const heddle_profile_span *span)
{
    const heddle_profile_call *call = span->call < 0 ? NULL : &data->calls[span->call];
    on->count = 0;
    if (call && *call->layer)
        note(on, "layer", call->layer, 0);
    if (call && call->rung)
        note(on, "rung", call->rung, 0);
    if (call && span->name >= 0)
        note(on, "kernel", data->names[span->name], 0);
    if (span->bytes > 0)
        note(on, "bytes", NULL, span->bytes);
}

// Whether an arrow from a launch ends here: at the first span of that launch.
static bool ends_flow(const heddle_profile_data *data, int span)
{
    const uint32_t run = data->spans[span].run;
    bool launched = false;
    for (int i = 0; i < data->launch_count && !launched; i++)
        launched = data->launches[i].run == run;
    return launched;
}

static void add_begin(output *to, int index, bool flow)
{
    const heddle_profile_data *data = to->data;
    const heddle_profile_span *span = &data->spans[index];
    Perfetto__TrackEvent event =
        new_event(PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, FIRST_LANE_TRACK + (uint64_t)span->lane);
    uint64_t category = span->call < 0 ? OTHER_CATEGORY : (uint64_t)data->calls[span->call].phase + 1;
    uint64_t id = span->run;
    notes about;
    note_span(&about, data, span);
    event.n_debug_annotations = about.count;
    event.debug_annotations = about.places;
    event.n_category_iids = 1;
    event.category_iids = &category;
    event.has_name_iid = 1;
    event.name_iid = span->call >= 0   ? name_of_call(span->call)
                     : span->name >= 0 ? name_of_kernel(data, span->name)
                                       : name_of_kind(data, span->kind);
    event.n_terminating_flow_ids = flow;
    event.terminating_flow_ids = &id;
    add_event(to, span->begin, &event);
}

static void add_counter(output *to, int counter, int64_t time, double value)
{
    Perfetto__TrackEvent event =
        new_event(PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, COUNTER_TRACKS + (uint64_t)counter);
    event.has_double_counter_value = 1;
    event.double_counter_value = value;
    add_event(to, time, &event);
}

// What the call does per second while it runs. On cuda a call may have several kernels, and it is not known which does
// what; on sim there is no such thing.
static void add_rates(output *to, const heddle_profile_span *span)
{
    const heddle_profile_call *call = span->call < 0 ? NULL : &to->data->calls[span->call];
    const double nanoseconds = (double)(span->end - span->begin);
    if (!call || !call->rung || nanoseconds <= 0 || to->data->device != HEDDLE_CPU)
        return;
    add_counter(to, 0, span->begin, call->cost.flops / nanoseconds);
    add_counter(to, 1, span->begin, (call->cost.bytes_read + call->cost.bytes_written) / nanoseconds);
    add_counter(to, 0, span->end, 0);
    add_counter(to, 1, span->end, 0);
}

static void add_launches(output *to)
{
    const heddle_profile_data *data = to->data;
    for (int i = 0; i < data->launch_count; i++) {
        const heddle_profile_launch *launch = &data->launches[i];
        Perfetto__TrackEvent event = new_event(PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, LAUNCH_TRACK);
        uint64_t category = LAUNCH_CATEGORY, id = launch->run;
        event.n_category_iids = 1;
        event.category_iids = &category;
        event.has_name_iid = launch->name >= 0;
        event.name_iid = launch->name >= 0 ? name_of_kernel(data, launch->name) : 0;
        event.n_flow_ids = 1;
        event.flow_ids = &id;
        add_event(to, launch->begin, &event);
        add_end(to, launch->end, LAUNCH_TRACK);
    }
}

static void add_spans(output *to)
{
    const heddle_profile_data *data = to->data;
    uint32_t run = 0;
    for (int i = 0; i < data->span_count && to->status == HEDDLE_OK; i++) {
        const heddle_profile_span *span = &data->spans[i];
        const bool flow = data->launch_count > 0 && (i == 0 || span->run != run) && ends_flow(data, i);
        run = span->run;
        add_begin(to, i, flow);
        add_end(to, span->end, FIRST_LANE_TRACK + (uint64_t)span->lane);
        add_rates(to, span);
    }
}

bool heddle_profile_has_perfetto(void)
{
    return true;
}

heddle_status heddle_profile_write_perfetto(const heddle_profile_data *data, const char *path)
{
    output to = {.data = data};
    add_tracks(&to);
    intern_names(&to);
    add_launches(&to);
    add_spans(&to);
    const heddle_slice all = {to.bytes, to.size};
    heddle_status status = to.status == HEDDLE_OK ? heddle_file_write_atomic(path, &all, 1) : to.status;
    free(to.bytes);
    return status;
}

#endif
