// CUPTI's records, made up here, become spans of the calls they belong to; the trace that is written of them is read
// back by the messages' own decoder.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "made_up.h"
#ifdef HEDDLE_HAVE_PROTOBUF
#include "profile/perfetto.pb-c.h"
#endif

static char *kernels[] = {"conv_kernel", "update_kernel", "shared_kernel", "cudaGraphLaunch"};
enum { CONV, UPDATE, SHARED, LAUNCH };

static heddle_gpu_record kernel(uint64_t begin, uint64_t end, uint32_t stream, uint64_t node, uint32_t run, int name)
{
    return (heddle_gpu_record){.kind = HEDDLE_GPU_KERNEL,
                               .begin = begin,
                               .end = end,
                               .stream = stream,
                               .node = node,
                               .correlation = run,
                               .name = name};
}

static void begin(heddle_profile_data *data)
{
    made_up_calls(data);
    data->device = HEDDLE_CUDA;
    data->names = kernels;
    data->name_count = sizeof kernels / sizeof *kernels;
}

static void match(heddle_profile_data *data, heddle_gpu_record *records, int record_count, heddle_gpu_node *nodes,
                  int node_count)
{
    assert_int_equal(heddle_profile_match(data, records, record_count, nodes, node_count), HEDDLE_OK);
    assert_int_equal(heddle_profile_settle(data), HEDDLE_OK);
}

static void a_node_of_a_graph_says_whose_kernel_it_is(void **state)
{
    (void)state;
    heddle_profile_data data;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(2000, 2100, 7, 12, 5, UPDATE), // out of order, as buffers may come
        kernel(1000, 1300, 7, 11, 5, CONV),
        kernel(1400, 1500, 9, 13, 5, SHARED),
        {.kind = HEDDLE_GPU_COPY_IN, .begin = 1100, .end = 1200, .stream = 8, .bytes = 4096, .name = -1},
    };
    heddle_gpu_node nodes[] = {{13, 1}, {12, 2}, {11, 0}};
    match(&data, records, 4, nodes, 3);
    assert_int_equal(data.span_count, 4);
    static const int calls[] = {0, -1, 1, 2};
    for (int i = 0; i < 4; i++)
        assert_int_equal(data.spans[i].call, calls[i]);
    // Streams 7 and 9, and copies of 8, each in a lane of its own.
    assert_int_equal(data.lane_count, 3);
    assert_string_equal(data.lanes[data.spans[1].lane].name, "copies of stream 8");
    assert_int_equal(data.lanes[data.spans[1].lane].kind, HEDDLE_LANE_COPIES);
    assert_int_not_equal(data.spans[0].lane, data.spans[2].lane);
    made_up_free(&data);
}

static void a_launch_without_a_graph_goes_by_what_the_host_was_inside_of(void **state)
{
    (void)state;
    heddle_profile_data data;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(1000, 1100, 7, 0, 21, CONV),
        kernel(1200, 1300, 7, 0, 22, UPDATE),
        kernel(1400, 1500, 7, 0, 23, SHARED),
        {.kind = HEDDLE_GPU_EXTERNAL, .correlation = 22, .tag = 2, .name = -1},
        {.kind = HEDDLE_GPU_EXTERNAL, .correlation = 21, .tag = 0, .name = -1},
    };
    match(&data, records, 5, NULL, 0);
    assert_int_equal(data.spans[0].call, 0);
    assert_int_equal(data.spans[1].call, 2);
    assert_int_equal(data.spans[2].call, -1);
    made_up_free(&data);
}

static void a_name_serves_only_where_one_call_has_it(void **state)
{
    (void)state;
    heddle_profile_data data;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(1000, 1100, 7, 11, 1, CONV),   kernel(1200, 1300, 7, 12, 1, SHARED),
        kernel(1400, 1500, 7, 13, 1, SHARED), kernel(1600, 1700, 7, 99, 2, CONV), // a node that nobody told of
        kernel(1800, 1900, 7, 98, 2, SHARED),
    };
    heddle_gpu_node nodes[] = {{11, 0}, {12, 1}, {13, 2}};
    match(&data, records, 5, nodes, 3);
    assert_int_equal(data.spans[3].call, 0);
    assert_int_equal(data.spans[4].call, -1);
    made_up_free(&data);
}

static void one_call_of_many_steps_is_one_group(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    begin(&data);
    data.call_count = 1;
    data.calls[0].steps = 8;
    heddle_gpu_record records[24];
    heddle_gpu_node nodes[] = {{11, 0}};
    for (int i = 0; i < 24; i++) // three launches of a graph in which eight kernels run
        records[i] = kernel(1000 + 100 * (uint64_t)i, 1080 + 100 * (uint64_t)i, 7, 11, 5 + (uint32_t)i / 8, CONV);
    match(&data, records, 24, nodes, 1);
    assert_int_equal(data.groups, 3);
    assert_int_equal(heddle_profile_summarise(&data, &(heddle_profile_limits){0}, &report), HEDDLE_OK);
    assert_int_equal(report.steps, 8);
    assert_int_equal(report.rows[0].calls, 1);
    assert_int_equal(report.rows[0].kernels, 8);
    assert_true(fabs(report.rows[0].seconds - 640e-9) < 1e-15);
    assert_true(fabs(report.gaps - 160e-9) < 1e-15); // before the other seven, and behind the last
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

// Programmatic launches: a kernel is there before the one ahead of it ends, and waits.
static void a_kernel_begins_where_the_one_ahead_ends(void **state)
{
    (void)state;
    heddle_profile_data data;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(1000, 1300, 7, 11, 1, CONV), kernel(1050, 1400, 7, 12, 1, UPDATE), // waits
        kernel(1100, 1200, 7, 13, 1, SHARED),                                     // over by then
        kernel(1250, 1350, 9, 13, 1, SHARED),                                     // on another stream
    };
    heddle_gpu_node nodes[] = {{11, 0}, {12, 1}, {13, 2}};
    match(&data, records, 4, nodes, 3);
    int64_t seconds = 0;
    for (int i = 0; i < data.span_count; i++)
        seconds += data.spans[i].end - data.spans[i].begin;
    assert_int_equal(data.span_count, 4);
    assert_int_equal(seconds, 300 + 100 + 0 + 100);
    for (int i = 0; i + 1 < data.span_count; i++)
        assert_true(data.spans[i].begin <= data.spans[i + 1].begin);
    made_up_free(&data);
}

static void add_pause(heddle_profile_data *data, int64_t begin, int64_t end)
{
    data->spans = realloc(data->spans, ((size_t)data->span_count + 1) * sizeof *data->spans);
    data->spans[data->span_count++] =
        (heddle_profile_span){.begin = begin, .end = end, .call = MADE_UP_LOAD, .name = -1, .lane = data->lane_count};
    data->lanes[data->lane_count++] = (heddle_profile_lane){.kind = HEDDLE_LANE_HOST, .name = "host"};
}

// The host evaluates while steps that it has queued still run: their time is theirs, and the evaluation's kernels,
// which have names of the step's, belong to no step.
static void an_evaluation_is_no_part_of_a_step(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    begin(&data);
    data.calls[MADE_UP_LOAD].phase = HEDDLE_PHASE_PAUSE;
    heddle_gpu_node nodes[] = {{11, 0}};
    heddle_gpu_record records[] = {
        kernel(1000, 1100, 7, 11, 1, CONV), kernel(1100, 1200, 7, 11, 2, CONV),
        kernel(1200, 1300, 7, 11, 3, CONV), kernel(1350, 1650, 7, 0, 4, CONV), // evaluation
        kernel(1700, 1800, 7, 11, 5, CONV), kernel(1800, 1900, 7, 11, 6, CONV),
    };
    assert_int_equal(heddle_profile_match(&data, records, 6, nodes, 1), HEDDLE_OK);
    add_pause(&data, 1050, 1660);
    assert_int_equal(heddle_profile_settle(&data), HEDDLE_OK);
    assert_int_equal(data.groups, 5);
    assert_int_equal(heddle_profile_summarise(&data, &(heddle_profile_limits){0}, &report), HEDDLE_OK);
    assert_int_equal(report.steps, 3);
    assert_int_equal(report.rows[0].calls, 3);
    assert_true(report.other == 0);
    assert_true(fabs(report.pauses - 360e-9) < 1e-15);  // from 1300 on
    assert_true(fabs(report.seconds - 340e-9) < 1e-15); // from 1100 to 1800, without it
    assert_true(fabs(report.gaps - 40e-9) < 1e-15);     // behind it
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

static void copies_under_kernels_are_told(void **state)
{
    (void)state;
    heddle_profile_data data;
    heddle_profile_report report;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(1000, 1300, 7, 11, 1, CONV),
        kernel(1250, 1350, 9, 13, 1, SHARED), // overlaps the first
        {.kind = HEDDLE_GPU_COPY_IN, .begin = 1200, .end = 1400, .stream = 8, .bytes = 64, .name = -1},
    };
    heddle_gpu_node nodes[] = {{11, 0}, {13, 1}};
    match(&data, records, 3, nodes, 2);
    assert_int_equal(heddle_profile_summarise(&data, &(heddle_profile_limits){0}, &report), HEDDLE_OK);
    assert_true(fabs(report.copies - 200e-9) < 1e-15);
    assert_true(fabs(report.copies_covered - 150e-9) < 1e-15);
    assert_true(fabs(report.other - 200e-9) < 1e-15);
    heddle_profile_report_free(&report);
    made_up_free(&data);
}

#ifdef HEDDLE_HAVE_PROTOBUF

static const Perfetto__TracePacket *packet_of(const Perfetto__Trace *trace, Perfetto__TrackEvent__Type type, int which)
{
    for (size_t i = 0; i < trace->n_packet; i++)
        if (trace->packet[i]->track_event && trace->packet[i]->track_event->type == type && which-- == 0)
            return trace->packet[i];
    return NULL;
}

static const char *name_of(const Perfetto__Trace *trace, uint64_t number)
{
    for (size_t i = 0; i < trace->n_packet; i++) {
        const Perfetto__InternedData *names = trace->packet[i]->interned_data;
        if (names && names->n_event_names && names->event_names[0]->iid == number)
            return names->event_names[0]->name;
    }
    return NULL;
}

static void a_trace_is_read_back(void **state)
{
    (void)state;
    heddle_profile_data data;
    char *text;
    size_t size;
    begin(&data);
    heddle_gpu_record records[] = {
        kernel(1000, 1300, 7, 11, 5, CONV),
        {.kind = HEDDLE_GPU_COPY_IN,
         .begin = 1100,
         .end = 1200,
         .stream = 8,
         .bytes = 4096,
         .correlation = 6,
         .name = -1},
        {.kind = HEDDLE_GPU_LAUNCH, .begin = 900, .end = 950, .correlation = 5, .name = LAUNCH},
    };
    heddle_gpu_node nodes[] = {{11, 0}};
    match(&data, records, 3, nodes, 1);
    assert_int_equal(heddle_profile_write_perfetto(&data, "made_up.pftrace"), HEDDLE_OK);
    assert_int_equal(heddle_file_read("made_up.pftrace", 1 << 20, &text, &size), HEDDLE_OK);
    Perfetto__Trace *trace = perfetto__trace__unpack(NULL, size, (const uint8_t *)text);
    assert_non_null(trace);
    const Perfetto__TracePacket *launch = packet_of(trace, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, 0);
    const Perfetto__TracePacket *conv = packet_of(trace, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, 1);
    const Perfetto__TracePacket *copy = packet_of(trace, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, 2);
    const Perfetto__TracePacket *end = packet_of(trace, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, 1);
    assert_true(launch && conv && copy && end);
    assert_string_equal(name_of(trace, launch->track_event->name_iid), "cudaGraphLaunch");
    assert_string_equal(name_of(trace, conv->track_event->name_iid), "conv1 conv2d_forward");
    assert_string_equal(name_of(trace, copy->track_event->name_iid), "copy in");
    // The arrow from the launch ends at the kernel; the copy has none.
    assert_int_equal(launch->track_event->n_flow_ids, 1);
    assert_int_equal(conv->track_event->n_terminating_flow_ids, 1);
    assert_int_equal(launch->track_event->flow_ids[0], conv->track_event->terminating_flow_ids[0]);
    assert_int_equal(copy->track_event->n_terminating_flow_ids, 0);
    assert_int_equal(conv->timestamp, 1000);
    assert_int_equal(end->timestamp, 1300);
    assert_int_equal(end->track_event->track_uuid, conv->track_event->track_uuid);
    assert_int_not_equal(copy->track_event->track_uuid, conv->track_event->track_uuid);
    assert_int_equal(conv->track_event->n_debug_annotations, 3);
    assert_string_equal(conv->track_event->debug_annotations[2]->string_value, "conv_kernel");
    assert_true(copy->track_event->debug_annotations[0]->double_value == 4096);
    perfetto__trace__free_unpacked(trace, NULL);
    free(text);
    unlink("made_up.pftrace");
    made_up_free(&data);
}

static void a_file_that_cannot_be_written_says_so(void **state)
{
    (void)state;
    heddle_profile_data data;
    made_up_spans(&data);
    assert_int_equal(heddle_profile_write_perfetto(&data, "no/such/folder/x.pftrace"), HEDDLE_NOT_FOUND);
    made_up_free(&data);
}

#else

static void a_build_without_protobuf_says_what_to_install(void **state)
{
    (void)state;
    assert_false(heddle_profile_has_perfetto());
    assert_int_equal(heddle_profile_write_perfetto(NULL, "x.pftrace"), HEDDLE_MISSING);
    assert_non_null(strstr(heddle_last_error(), "protobuf-c-compiler"));
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_of_a_graph_says_whose_kernel_it_is),
        cmocka_unit_test(a_launch_without_a_graph_goes_by_what_the_host_was_inside_of),
        cmocka_unit_test(a_name_serves_only_where_one_call_has_it),
        cmocka_unit_test(one_call_of_many_steps_is_one_group),
        cmocka_unit_test(a_kernel_begins_where_the_one_ahead_ends),
        cmocka_unit_test(an_evaluation_is_no_part_of_a_step),
        cmocka_unit_test(copies_under_kernels_are_told),
#ifdef HEDDLE_HAVE_PROTOBUF
        cmocka_unit_test(a_trace_is_read_back),
        cmocka_unit_test(a_file_that_cannot_be_written_says_so),
#else
        cmocka_unit_test(a_build_without_protobuf_says_what_to_install),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
