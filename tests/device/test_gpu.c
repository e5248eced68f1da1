// A GPU as a device: memory, streams, events, callbacks, graphs and errors, where CUDA's rules are ours. Runs on the
// device that HEDDLE_TEST_DEVICE names: sim unless set, or cuda.

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "under_test.h"

enum { BYTES = 1000 };

static const char *device_name(void)
{
    return device_under_test("sim");
}

static int gpu_open(void **state)
{
    (void)state;
    if (heddle_device_open(device_name(), 0, &opened) == HEDDLE_OK)
        return 0;
    print_error("%s\n", heddle_last_error());
    return -1;
}

static uint8_t *allocate(size_t bytes)
{
    void *memory = NULL;
    assert_ok(heddle_alloc(opened, bytes, &memory));
    return memory;
}

// Queues: every byte of device memory becomes `value`, by way of the host.
static void queue_fill(heddle_stream *stream, uint8_t *memory, uint8_t value)
{
    assert_ok(heddle_fill(stream, memory, value, BYTES));
}

static void assert_all(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != value)
            fail_msg("byte %zu is %d, expected %d", i, bytes[i], value);
}

// --- streams of another library --------------------------------------------------------------------------------------

static void a_wrapped_stream_is_in_order_with_the_one_behind_it(void **state)
{
    (void)state;
    heddle_stream *theirs = make_stream(0), *ours = NULL;
    void *native = NULL, *again = NULL;
    assert_ok(heddle_stream_native(theirs, &native));
    assert_non_null(native);
    assert_ok(heddle_stream_wrap(opened, native, &ours));
    assert_ok(heddle_stream_native(ours, &again));
    assert_ptr_equal(native, again);
    uint8_t *memory = allocate(BYTES), bytes[BYTES];
    for (int turn = 1; turn <= 5; turn++)
        queue_fill(turn % 2 ? theirs : ours, memory, (uint8_t)turn);
    assert_ok(heddle_copy(ours, bytes, memory, BYTES));
    assert_ok(heddle_stream_destroy(ours)); // neither waits nor destroys what is behind it
    assert_ok(heddle_stream_synchronize(theirs));
    assert_all(bytes, BYTES, 5);
    queue_fill(theirs, memory, 6);
    assert_ok(heddle_stream_destroy(theirs));
    assert_ok(heddle_free(opened, memory));
}

static void no_stream_at_all_is_the_default_one(void **state)
{
    (void)state;
    heddle_stream *ours = NULL;
    assert_ok(heddle_stream_wrap(opened, NULL, &ours));
    uint8_t *memory = allocate(BYTES), bytes[BYTES];
    queue_fill(ours, memory, 3);
    assert_ok(heddle_copy(ours, bytes, memory, BYTES));
    assert_ok(heddle_device_synchronize(opened));
    assert_all(bytes, BYTES, 3);
    assert_ok(heddle_stream_destroy(ours));
    assert_ok(heddle_free(opened, memory));
}

// --- the device -----------------------------------------------------------------------------------------------------

static void the_device_describes_a_gpu(void **state)
{
    (void)state;
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    assert_string_equal(heddle_device_kind_name(info.kind), device_name());
    assert_int_equal(heddle_device_get_kind(opened), info.kind);
    assert_true(strlen(info.name) > 0);
    assert_int_equal(strncmp(info.instructions, "sm_", 3), 0);
    assert_true(info.processors > 1 && info.threads > info.processors);
    assert_true(info.memory_total > 1u << 30 && info.memory_free <= info.memory_total);
    assert_true(info.priority_greatest < info.priority_least);
    assert_null(heddle_device_pool(opened));
}

static void the_figures_that_measurements_need_are_known(void **state)
{
    (void)state;
    heddle_device_info info;
    char instructions[16];
    assert_ok(heddle_device_describe(opened, &info));
    snprintf(instructions, sizeof instructions, "sm_%d", info.capability);
    assert_string_equal(info.instructions, instructions);
    assert_true(info.cache > 1u << 20);
    assert_true(info.clock > 100 && info.clock < 10000);
    assert_true(info.memory_clock > 100);
    // At least 64 units a multiprocessor, at most 128, each two operations a clock.
    assert_true(info.peak_flops > 100e6 * 64 * info.processors && info.peak_flops < 10e9 * 256 * info.processors);
    assert_true(strlen(info.driver) > 0 && strchr(info.runtime, '.'));
}

static const char *property(const heddle_device_property *rows, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].value;
    fail_msg("no property '%s'", name);
    return NULL;
}

static void everything_known_of_the_card_is_listed(void **state)
{
    (void)state;
    enum { MOST = 96 };
    heddle_device_info info;
    heddle_device_property rows[MOST], few[2];
    assert_ok(heddle_device_describe(opened, &info));
    int count = heddle_device_properties(opened, rows, MOST);
    assert_in_range(count, 30, MOST);
    assert_string_equal(property(rows, count, "name"), info.name);
    assert_int_equal(atoi(property(rows, count, "multiprocessors")), info.processors);
    assert_int_equal(atoi(property(rows, count, "threads of a warp")), 32);
    assert_string_equal(property(rows, count, "memory pools"), "yes");
    // Where there is room for less, that is filled and no more.
    assert_int_equal(heddle_device_properties(opened, few, 1), count);
    assert_string_equal(few[0].name, rows[0].name);
}

static void lines_kept_in_the_cache_can_be_let_go(void **state)
{
    (void)state;
    assert_ok(heddle_device_reset_cache(opened));
    size_t before = 1, after = 1;
    assert_ok(heddle_device_kept_cache(opened, &before));
    assert_ok(heddle_device_reset_cache(opened));
    assert_ok(heddle_device_kept_cache(opened, &after));
    assert_int_equal(after, before); // let go once, there is nothing more to let go
}

static void only_a_card_with_time_is_measured(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    static const double least[] = {
        [HEDDLE_UNIT_FLOAT32] = 1e9, [HEDDLE_UNIT_SHARED] = 1e9, [HEDDLE_UNIT_CACHE] = 1e9, [HEDDLE_UNIT_LAUNCH] = 100};
    const size_t bytes = 1 << 20;
    void *memory;
    assert_ok(heddle_alloc(opened, bytes, &memory));
    for (int unit = 0; unit < (int)(sizeof least / sizeof *least); unit++) {
        double amount = -1;
        heddle_status status = heddle_device_exercise(stream, (heddle_device_unit)unit, memory, bytes, &amount);
        if (heddle_device_get_kind(opened) == HEDDLE_SIM) {
            assert_fails(status, HEDDLE_UNSUPPORTED, "no timings");
            continue;
        }
        assert_ok(status);
        assert_ok(heddle_stream_synchronize(stream));
        assert_true(amount >= least[unit]);
    }
    heddle_free(opened, memory);
    assert_ok(heddle_stream_destroy(stream));
}

static void a_device_that_is_not_there_is_named(void **state)
{
    (void)state;
    heddle_device *none = NULL;
    if (strcmp(device_name(), "sim") == 0)
        assert_fails(heddle_device_open("sim:1", 0, &none), HEDDLE_INVALID, "only one sim device");
    else
        assert_fails(heddle_device_open("cuda:4095", 0, &none), HEDDLE_NOT_FOUND, "no CUDA device 4095");
    assert_null(none);
}

// --- memory ---------------------------------------------------------------------------------------------------------

static void bytes_go_to_the_device_and_back(void **state)
{
    (void)state;
    uint8_t sent[BYTES], received[BYTES] = {0};
    for (int i = 0; i < BYTES; i++)
        sent[i] = (uint8_t)(i * 7);
    uint8_t *first = allocate(BYTES), *second = allocate(BYTES);
    assert_int_equal((uintptr_t)first % 256, 0);
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_copy(stream, first, sent, BYTES));
    assert_ok(heddle_copy(stream, second + 1, first + 1, BYTES - 1));
    assert_ok(heddle_fill(stream, second, 0xAB, 1));
    assert_ok(heddle_copy(stream, received, second, BYTES));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(received[0], 0xAB);
    assert_memory_equal(received + 1, sent + 1, BYTES - 1);
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, first));
    assert_ok(heddle_free(opened, second));
}

static void pinned_memory_is_the_hosts(void **state)
{
    (void)state;
    void *pinned = NULL;
    assert_ok(heddle_alloc_pinned(opened, BYTES, &pinned));
    memset(pinned, 5, BYTES);
    uint8_t *memory = allocate(BYTES);
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_copy(stream, memory, pinned, BYTES));
    assert_ok(heddle_fill(stream, memory, 6, BYTES / 2));
    assert_ok(heddle_copy(stream, pinned, memory, BYTES));
    assert_ok(heddle_stream_synchronize(stream));
    assert_all(pinned, BYTES / 2, 6);
    assert_all((uint8_t *)pinned + BYTES / 2, BYTES - BYTES / 2, 5);
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
    assert_ok(heddle_free_pinned(opened, pinned));
}

static void more_memory_than_the_card_has_is_refused(void **state)
{
    (void)state;
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    void *memory = NULL;
    assert_fails(heddle_alloc(opened, info.memory_total + 1, &memory), HEDDLE_OUT_OF_MEMORY, "cudaMalloc");
    assert_message("at src/device/cuda/memory.cu:", __FILE__, __LINE__);
    assert_null(memory);
    // What the call has told is not told again.
    assert_ok(heddle_device_synchronize(opened));
    assert_ok(heddle_free(opened, allocate(BYTES)));
}

static void what_is_allocated_counts(void **state)
{
    (void)state;
    const size_t large = (size_t)64 << 20;
    heddle_device_info before, during;
    assert_ok(heddle_device_describe(opened, &before));
    void *memory = allocate(large);
    assert_ok(heddle_device_describe(opened, &during));
    assert_true(before.memory_free - during.memory_free >= large);
    assert_ok(heddle_free(opened, memory));
    assert_ok(heddle_device_describe(opened, &during));
    assert_true(during.memory_free == before.memory_free);
}

static void memory_comes_and_goes_without_waiting_for_streams(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    uint8_t *memory = allocate(BYTES);
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate)); // nobody opens it before the two calls are through
    assert_ok(heddle_free(opened, memory));
    memory = allocate(BYTES);
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(stream));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
}

static void memory_comes_and_goes_during_a_capture(void **state)
{
    (void)state;
    uint8_t received[BYTES] = {0};
    heddle_stream *stream = make_stream(0);
    heddle_graph *graph = NULL;
    uint8_t *early = allocate(BYTES);
    assert_ok(heddle_capture_begin(stream));
    uint8_t *memory = allocate(BYTES);
    queue_fill(stream, memory, 9);
    assert_ok(heddle_free(opened, early));
    assert_ok(heddle_copy(stream, received, memory, BYTES));
    assert_ok(heddle_capture_end(stream, &graph));
    assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(heddle_stream_synchronize(stream));
    assert_all(received, BYTES, 9);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
}

// --- streams --------------------------------------------------------------------------------------------------------

struct sequence {
    int count, values[16];
};
struct step {
    struct sequence *sequence;
    int value;
};

static void take_step(void *context)
{
    const struct step *step = context;
    step->sequence->values[step->sequence->count++] = step->value;
}

static void callbacks_and_copies_keep_stream_order(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    struct step steps[] = {{&sequence, 1}, {&sequence, 2}, {&sequence, 3}};
    uint8_t early[BYTES], late[BYTES];
    uint8_t *memory = allocate(BYTES);
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, take_step, &steps[0]));
    queue_fill(stream, memory, 1);
    assert_ok(heddle_copy(stream, early, memory, BYTES));
    assert_ok(heddle_stream_callback(stream, take_step, &steps[1]));
    queue_fill(stream, memory, 2);
    assert_ok(heddle_copy(stream, late, memory, BYTES));
    assert_ok(heddle_stream_callback(stream, take_step, &steps[2]));
    assert_ok(heddle_stream_synchronize(stream));
    assert_all(early, BYTES, 1);
    assert_all(late, BYTES, 2);
    assert_int_equal(sequence.count, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sequence.values[i], i + 1);
    bool done = false;
    assert_ok(heddle_stream_query(stream, &done));
    assert_true(done);
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
}

static void a_stream_that_is_asked_often_enough_is_done(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    struct step step = {&sequence, 1};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, take_step, &step));
    bool done = false;
    while (!done)
        assert_ok(heddle_stream_query(stream, &done));
    assert_int_equal(sequence.count, 1);
    assert_ok(heddle_stream_destroy(stream));
}

static void the_device_waits_for_every_stream(void **state)
{
    (void)state;
    struct sequence sequence[3] = {{0}};
    struct step steps[3];
    heddle_stream *streams[3];
    for (int i = 0; i < 3; i++) {
        streams[i] = make_stream(-1000 * i); // clamped to what there is
        steps[i] = (struct step){&sequence[i], i};
        assert_ok(heddle_stream_callback(streams[i], take_step, &steps[i]));
    }
    assert_ok(heddle_device_synchronize(opened));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sequence[i].count, 1);
        assert_ok(heddle_stream_destroy(streams[i]));
    }
}

static void destroying_a_stream_waits_for_its_work(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    struct step step = {&sequence, 9};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, take_step, &step));
    assert_ok(heddle_stream_destroy(stream));
    assert_int_equal(sequence.count, 1);
}

static void host_work_is_for_the_cpu(void **state)
{
    (void)state;
    struct journal journal = {0};
    heddle_stream *stream = make_stream(0);
    assert_fails(journal_add(stream, &journal, 1), HEDDLE_UNSUPPORTED, "runs no host work");
    assert_ok(heddle_stream_destroy(stream));
}

// --- events ---------------------------------------------------------------------------------------------------------

static void work_behind_a_wait_runs_after_the_event(void **state)
{
    (void)state;
    uint8_t received[BYTES];
    uint8_t *memory = allocate(BYTES);
    heddle_stream *maker = make_stream(0), *taker = make_stream(0);
    heddle_event *made = make_event(), *never = make_event();
    queue_fill(maker, memory, 3);
    assert_ok(heddle_event_record(made, maker));
    assert_ok(heddle_stream_wait(taker, made));
    assert_ok(heddle_stream_wait(taker, never)); // not recorded: holds nobody
    assert_ok(heddle_copy(taker, received, memory, BYTES));
    assert_ok(heddle_stream_synchronize(taker));
    assert_all(received, BYTES, 3);
    bool done = false;
    assert_ok(heddle_event_query(made, &done));
    assert_true(done);
    assert_ok(heddle_event_synchronize(never));
    assert_ok(heddle_event_destroy(made));
    assert_ok(heddle_event_destroy(never));
    assert_ok(heddle_stream_destroy(maker));
    assert_ok(heddle_stream_destroy(taker));
    assert_ok(heddle_free(opened, memory));
}

static void time_between_events_is_not_negative(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    heddle_event *start = make_event(), *end = make_event();
    double milliseconds = -1;
    assert_fails(heddle_event_elapsed(start, end, &milliseconds), HEDDLE_INVALID, "has not happened yet");
    assert_ok(heddle_event_record(start, stream));
    assert_ok(heddle_event_record(end, stream));
    assert_ok(heddle_event_synchronize(end));
    assert_ok(heddle_event_elapsed(start, end, &milliseconds));
    assert_true(milliseconds >= 0);
    assert_ok(heddle_event_destroy(start));
    assert_ok(heddle_event_destroy(end));
    assert_ok(heddle_stream_destroy(stream));
}

// --- graphs ---------------------------------------------------------------------------------------------------------

static void a_graph_replays_what_was_captured(void **state)
{
    (void)state;
    struct sequence sequence = {0};
    struct step step = {&sequence, 4};
    uint8_t received[BYTES] = {0};
    uint8_t *source = allocate(BYTES), *target = allocate(BYTES);
    heddle_stream *stream = make_stream(0);
    heddle_graph *graph = NULL;
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_copy(stream, target, source, BYTES));
    assert_ok(heddle_stream_callback(stream, take_step, &step));
    assert_ok(heddle_capture_end(stream, &graph));
    assert_int_equal(sequence.count, 0);
    for (uint8_t round = 1; round <= 3; round++) {
        queue_fill(stream, source, round);
        assert_ok(heddle_graph_launch(graph, stream));
        assert_ok(heddle_copy(stream, received, target, BYTES));
        assert_ok(heddle_stream_synchronize(stream));
        assert_all(received, BYTES, round);
        assert_int_equal(sequence.count, round);
    }
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, source));
    assert_ok(heddle_free(opened, target));
}

static void a_second_stream_joins_a_capture_by_events(void **state)
{
    (void)state;
    uint8_t received[2 * BYTES] = {0};
    uint8_t *memory = allocate(2 * BYTES);
    heddle_stream *stream = make_stream(0), *branch = make_stream(0);
    heddle_event *fork = make_event(), *join = make_event();
    heddle_graph *graph = NULL;
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_event_record(fork, stream));
    assert_ok(heddle_stream_wait(branch, fork));
    queue_fill(branch, memory + BYTES, 8);
    queue_fill(stream, memory, 7);
    assert_ok(heddle_event_record(join, branch));
    assert_ok(heddle_stream_wait(stream, join));
    assert_ok(heddle_capture_end(stream, &graph));
    assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(heddle_copy(stream, received, memory, 2 * BYTES));
    assert_ok(heddle_stream_synchronize(stream));
    assert_all(received, BYTES, 7);
    assert_all(received + BYTES, BYTES, 8);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_event_destroy(fork));
    assert_ok(heddle_event_destroy(join));
    assert_ok(heddle_stream_destroy(branch));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
}

static void waiting_for_a_capturing_stream_loses_the_capture(void **state)
{
    (void)state;
    uint8_t *memory = allocate(BYTES);
    heddle_stream *stream = make_stream(0);
    heddle_graph *graph = NULL;
    assert_ok(heddle_capture_begin(stream));
    queue_fill(stream, memory, 1);
    assert_int_equal(heddle_stream_synchronize(stream), HEDDLE_INVALID);
    assert_int_equal(heddle_fill(stream, memory, 2, BYTES), HEDDLE_INVALID);
    assert_fails(heddle_capture_end(stream, &graph), HEDDLE_INVALID, "the capture was lost");
    assert_null(graph);
    queue_fill(stream, memory, 3);
    assert_ok(heddle_stream_synchronize(stream));
    assert_fails(heddle_capture_end(stream, &graph), HEDDLE_INVALID, "not recording");
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_free(opened, memory));
}

static void destroying_a_capturing_stream_is_refused(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    heddle_graph *graph = NULL;
    assert_ok(heddle_capture_begin(stream));
    assert_int_equal(heddle_stream_destroy(stream), HEDDLE_INVALID);
    assert_int_equal(heddle_capture_end(stream, &graph), HEDDLE_INVALID);
    assert_ok(heddle_stream_destroy(stream));
}

// --- threads --------------------------------------------------------------------------------------------------------

static void *copy_many(void *context)
{
    heddle_stream *stream = context;
    uint8_t received[BYTES];
    void *memory = NULL;
    bool fine = heddle_alloc(opened, BYTES, &memory) == HEDDLE_OK;
    for (int i = 0; fine && i < 50; i++) {
        memset(received, 0, sizeof received);
        fine = heddle_fill(stream, memory, (uint8_t)i, BYTES) == HEDDLE_OK &&
               heddle_copy(stream, received, memory, BYTES) == HEDDLE_OK &&
               heddle_stream_synchronize(stream) == HEDDLE_OK && received[0] == i && received[BYTES - 1] == i;
    }
    return heddle_free(opened, memory) == HEDDLE_OK && fine ? NULL : context;
}

static void several_threads_may_use_streams_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    heddle_stream *streams[THREADS];
    for (int i = 0; i < THREADS; i++) {
        streams[i] = make_stream(0);
        assert_int_equal(pthread_create(&threads[i], NULL, copy_many, streams[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
        assert_ok(heddle_stream_destroy(streams[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrapped_stream_is_in_order_with_the_one_behind_it),
        cmocka_unit_test(no_stream_at_all_is_the_default_one),
        cmocka_unit_test(the_device_describes_a_gpu),
        cmocka_unit_test(the_figures_that_measurements_need_are_known),
        cmocka_unit_test(everything_known_of_the_card_is_listed),
        cmocka_unit_test(lines_kept_in_the_cache_can_be_let_go),
        cmocka_unit_test(only_a_card_with_time_is_measured),
        cmocka_unit_test(a_device_that_is_not_there_is_named),
        cmocka_unit_test(bytes_go_to_the_device_and_back),
        cmocka_unit_test(pinned_memory_is_the_hosts),
        cmocka_unit_test(more_memory_than_the_card_has_is_refused),
        cmocka_unit_test(what_is_allocated_counts),
        cmocka_unit_test(memory_comes_and_goes_without_waiting_for_streams),
        cmocka_unit_test(memory_comes_and_goes_during_a_capture),
        cmocka_unit_test(callbacks_and_copies_keep_stream_order),
        cmocka_unit_test(a_stream_that_is_asked_often_enough_is_done),
        cmocka_unit_test(the_device_waits_for_every_stream),
        cmocka_unit_test(destroying_a_stream_waits_for_its_work),
        cmocka_unit_test(host_work_is_for_the_cpu),
        cmocka_unit_test(work_behind_a_wait_runs_after_the_event),
        cmocka_unit_test(time_between_events_is_not_negative),
        cmocka_unit_test(a_graph_replays_what_was_captured),
        cmocka_unit_test(a_second_stream_joins_a_capture_by_events),
        cmocka_unit_test(waiting_for_a_capturing_stream_loses_the_capture),
        cmocka_unit_test(destroying_a_capturing_stream_is_refused),
        cmocka_unit_test(several_threads_may_use_streams_at_once),
    };
    return cmocka_run_group_tests(tests, gpu_open, device_close);
}
