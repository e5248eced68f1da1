// Streams of the cpu device: order, overlap, priorities, callbacks, copies and failures.

#include "fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void work_on_one_stream_runs_in_order(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static struct journal order;
    memset(&order, 0, sizeof order);
    heddle_stream *stream = make_stream(0);
    for (int i = 0; i < COUNT; i++)
        assert_ok(journal_add(stream, &order, i));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&order.count), COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(order.entries[i], i);
    assert_ok(heddle_stream_destroy(stream));
}

struct meeting {
    atomic_bool mine, yours;
};

static void set_mine_await_yours(void *context)
{
    struct meeting *meeting = context;
    atomic_store(&meeting->mine, true);
    while (!atomic_load(&meeting->yours))
        sched_yield();
}

static void set_yours_await_mine(void *context)
{
    struct meeting *meeting = context;
    atomic_store(&meeting->yours, true);
    while (!atomic_load(&meeting->mine))
        sched_yield();
}

static void the_cpu_has_no_streams_of_other_libraries(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0), *wrapped = stream;
    void *native = stream;
    assert_fails(heddle_stream_wrap(opened, NULL, &wrapped), HEDDLE_UNSUPPORTED, "streams of cpu are heddle's own");
    assert_null(wrapped);
    assert_fails(heddle_stream_native(stream, &native), HEDDLE_UNSUPPORTED, "streams of cpu");
    assert_null(native);
    assert_fails(heddle_stream_wrap(NULL, NULL, &wrapped), HEDDLE_INVALID, "NULL argument");
    assert_ok(heddle_stream_destroy(stream));
}

static void two_streams_truly_overlap(void **state)
{
    (void)state;
    struct meeting meeting = {false, false};
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    // Each waits for what the other does: in a queue after each other they would never end.
    assert_ok(heddle_stream_callback(one, set_mine_await_yours, &meeting));
    assert_ok(heddle_stream_callback(two, set_yours_await_mine, &meeting));
    assert_ok(heddle_stream_synchronize(one));
    assert_ok(heddle_stream_synchronize(two));
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

// Blocks every executor in a callback; gate_open lets them go.
static void block_executors(struct gate *gate, heddle_stream **blockers, int count)
{
    gate_init(gate);
    for (int i = 0; i < count; i++) {
        blockers[i] = make_stream(0);
        assert_ok(heddle_stream_callback(blockers[i], gate_hold, gate));
    }
    gate_await(gate, count);
}

static void lower_priority_numbers_go_first_when_threads_are_short(void **state)
{
    (void)state;
    struct gate gates[2];
    struct journal order = {0};
    int count = executor_count();
    heddle_stream **blockers = calloc((size_t)count, sizeof *blockers);
    assert_non_null(blockers);
    heddle_device_info info;
    assert_ok(heddle_device_describe(opened, &info));
    assert_true(info.priority_greatest < info.priority_least);
    block_executors(&gates[0], blockers, count - 1);
    // The last executor has a gate of its own: alone, it will go through what is queued below one by one.
    gate_init(&gates[1]);
    blockers[count - 1] = make_stream(0);
    assert_ok(heddle_stream_callback(blockers[count - 1], gate_hold, &gates[1]));
    gate_await(&gates[1], 1);

    heddle_stream *low = make_stream(info.priority_least);
    heddle_stream *middle = make_stream(info.priority_least - 1);
    heddle_stream *high = make_stream(info.priority_greatest);
    for (int i = 0; i < 3; i++) {
        assert_ok(journal_add(low, &order, 30 + i));
        assert_ok(journal_add(middle, &order, 20 + i));
        assert_ok(journal_add(high, &order, 10 + i));
    }
    gate_open(&gates[1]);
    assert_ok(heddle_stream_synchronize(low));
    assert_journal(&order, 9, (const int[]){10, 11, 12, 20, 21, 22, 30, 31, 32});

    gate_open(&gates[0]);
    for (int i = 0; i < count; i++)
        assert_ok(heddle_stream_destroy(blockers[i]));
    free(blockers);
    assert_ok(heddle_stream_destroy(low));
    assert_ok(heddle_stream_destroy(middle));
    assert_ok(heddle_stream_destroy(high));
}

static void streams_of_one_priority_take_turns(void **state)
{
    (void)state;
    struct gate gates[2];
    struct journal order = {0};
    int count = executor_count();
    heddle_stream **blockers = calloc((size_t)count, sizeof *blockers);
    assert_non_null(blockers);
    block_executors(&gates[0], blockers, count - 1);
    gate_init(&gates[1]);
    blockers[count - 1] = make_stream(0);
    assert_ok(heddle_stream_callback(blockers[count - 1], gate_hold, &gates[1]));
    gate_await(&gates[1], 1);
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    for (int i = 0; i < 3; i++)
        assert_ok(journal_add(one, &order, 10 + i));
    for (int i = 0; i < 3; i++)
        assert_ok(journal_add(two, &order, 20 + i));
    gate_open(&gates[1]);
    assert_ok(heddle_stream_synchronize(one));
    assert_ok(heddle_stream_synchronize(two));
    assert_journal(&order, 6, (const int[]){10, 20, 11, 21, 12, 22});
    gate_open(&gates[0]);
    for (int i = 0; i < count; i++)
        assert_ok(heddle_stream_destroy(blockers[i]));
    free(blockers);
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

static void priorities_out_of_range_are_clamped(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_stream *one = make_stream(-1000000);
    heddle_stream *two = make_stream(1000000);
    assert_ok(journal_add(one, &order, 1));
    assert_ok(journal_add(two, &order, 2));
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&order.count), 2);
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

static void query_says_whether_anything_is_queued_or_running(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    heddle_stream *stream = make_stream(0);
    bool done = false;
    assert_ok(heddle_stream_query(stream, &done));
    assert_true(done);
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate));
    assert_ok(heddle_stream_query(stream, &done));
    assert_false(done);
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(stream));
    assert_ok(heddle_stream_query(stream, &done));
    assert_true(done);
    assert_ok(heddle_stream_destroy(stream));
}

static void add_one(void *context)
{
    int *value = context;
    *value = *value * 10 + 1;
}

static void add_two(void *context)
{
    int *value = context;
    *value = *value * 10 + 2;
}

static void callbacks_copies_and_fills_keep_stream_order(void **state)
{
    (void)state;
    int value = 0, seen_between = -1, seen_after = -1;
    uint8_t bytes[16] = {0}, copied[16] = {0};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, add_one, &value));
    assert_ok(heddle_copy(stream, &seen_between, &value, sizeof value));
    assert_ok(heddle_stream_callback(stream, add_two, &value));
    assert_ok(heddle_copy(stream, &seen_after, &value, sizeof value));
    assert_ok(heddle_fill(stream, bytes, 0xAB, 15));
    assert_ok(heddle_copy(stream, copied, bytes, sizeof bytes));
    assert_ok(heddle_fill(stream, bytes, 0, sizeof bytes));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(seen_between, 1);
    assert_int_equal(seen_after, 12);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(copied[i], i < 15 ? 0xAB : 0);
        assert_int_equal(bytes[i], 0);
    }
    assert_ok(heddle_stream_destroy(stream));
}

static heddle_status sum_bytes(const void *arguments)
{
    struct {
        uint64_t *sum;
        uint8_t bytes[3000];
    } large;
    memcpy(&large, arguments, sizeof large);
    for (size_t i = 0; i < sizeof large.bytes; i++)
        *large.sum += large.bytes[i];
    return HEDDLE_OK;
}

static void arguments_of_any_size_are_copied_at_submission(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    uint64_t sum = 0;
    struct {
        uint64_t *sum;
        uint8_t bytes[3000];
    } large = {.sum = &sum};
    memset(large.bytes, 1, sizeof large.bytes);
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate));
    assert_ok(heddle_stream_submit(stream, sum_bytes, &large, sizeof large));
    memset(large.bytes, 100, sizeof large.bytes);
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(sum, 3000);
    assert_ok(heddle_stream_destroy(stream));
}

static void destroying_a_stream_waits_for_its_work(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    for (int i = 0; i < 100; i++)
        assert_ok(journal_add(stream, &order, i));
    assert_ok(heddle_stream_destroy(stream));
    assert_int_equal(atomic_load(&order.count), 100);
}

static void device_synchronize_waits_for_every_stream(void **state)
{
    (void)state;
    enum { STREAMS = 10 };
    struct journal order = {0};
    heddle_stream *streams[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = make_stream(-i);
        for (int j = 0; j < 20; j++)
            assert_ok(journal_add(streams[i], &order, i));
    }
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&order.count), 20 * STREAMS);
    for (int i = 0; i < STREAMS; i++)
        assert_ok(heddle_stream_destroy(streams[i]));
}

// --- failures -------------------------------------------------------------------------------------------------------

static void a_failure_drops_what_follows_and_is_returned_once(void **state)
{
    (void)state;
    struct journal order = {0};
    int value = 0;
    heddle_stream *stream = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(submit_failure(stream, 7));
    assert_ok(journal_add(stream, &order, 2));
    assert_ok(heddle_stream_callback(stream, add_one, &value));
    assert_ok(submit_failure(stream, 8));
    assert_ok(heddle_event_record(event, stream));
    heddle_fail(HEDDLE_OK, "something else");
    assert_fails(heddle_stream_synchronize(stream), HEDDLE_DEVICE, "broken on purpose 7");
    assert_journal(&order, 1, (const int[]){1});
    assert_int_equal(value, 0);
    bool done = false;
    assert_ok(heddle_event_query(event, &done));
    assert_true(done);

    assert_ok(heddle_stream_synchronize(stream));
    assert_ok(journal_add(stream, &order, 3));
    assert_ok(heddle_stream_synchronize(stream));
    assert_journal(&order, 2, (const int[]){1, 3});
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(stream));
}

static void device_synchronize_returns_failures_in_the_order_they_happened(void **state)
{
    (void)state;
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(submit_failure(two, 1));
    assert_ok(heddle_event_record(event, two));
    assert_ok(heddle_stream_wait(one, event));
    assert_ok(submit_failure(one, 2));
    assert_fails(heddle_device_synchronize(opened), HEDDLE_DEVICE, "broken on purpose 1");
    assert_fails(heddle_device_synchronize(opened), HEDDLE_DEVICE, "broken on purpose 2");
    assert_ok(heddle_device_synchronize(opened));
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

static void a_failure_does_not_hang_those_who_wait_for_the_stream(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_stream *broken = make_stream(0);
    heddle_stream *waiting = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(submit_failure(broken, 3));
    assert_ok(heddle_event_record(event, broken));
    assert_ok(heddle_stream_wait(waiting, event));
    assert_ok(journal_add(waiting, &order, 1));
    assert_ok(heddle_stream_synchronize(waiting));
    assert_journal(&order, 1, (const int[]){1});
    // The event tells of the failure before it, and leaves it to the stream.
    assert_fails(heddle_event_synchronize(event), HEDDLE_DEVICE, "broken on purpose 3");
    assert_fails(heddle_stream_destroy(broken), HEDDLE_DEVICE, "broken on purpose 3");
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(waiting));
}

// --- misuse ---------------------------------------------------------------------------------------------------------

static void null_arguments_are_refused(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    char byte = 0;
    assert_fails(heddle_copy(stream, NULL, &byte, 1), HEDDLE_INVALID, "to NULL");
    assert_fails(heddle_copy(stream, &byte, NULL, 1), HEDDLE_INVALID, "from NULL");
    assert_ok(heddle_copy(stream, NULL, NULL, 0));
    assert_fails(heddle_copy(NULL, &byte, &byte, 1), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_fill(stream, NULL, 0, 4), HEDDLE_INVALID, "NULL");
    assert_ok(heddle_fill(stream, NULL, 0, 0));
    assert_fails(heddle_stream_callback(stream, NULL, NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_stream_submit(stream, NULL, NULL, 0), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_stream_synchronize(NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_stream_query(stream, NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_stream_create(NULL, 0, &stream), HEDDLE_INVALID, "NULL");
    assert_ok(heddle_stream_destroy(NULL));
    assert_ok(heddle_stream_destroy(stream));
}

static heddle_status wait_inside(const void *arguments)
{
    heddle_stream *stream = *(heddle_stream *const *)arguments;
    return heddle_stream_synchronize(stream);
}

static void waiting_for_the_device_from_its_own_work_is_refused(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_stream_submit(stream, wait_inside, &stream, sizeof stream));
    assert_fails(heddle_stream_synchronize(stream), HEDDLE_INVALID, "wait forever");
    assert_ok(heddle_stream_destroy(stream));
}

// --- stress ---------------------------------------------------------------------------------------------------------

struct submitter {
    heddle_stream *stream;
    atomic_int *total;
    int count;
};

static heddle_status add_to_total(const void *arguments)
{
    atomic_fetch_add(*(atomic_int *const *)arguments, 1);
    return HEDDLE_OK;
}

static void *submit_many(void *context)
{
    const struct submitter *submitter = context;
    for (int i = 0; i < submitter->count; i++) {
        if (heddle_stream_submit(submitter->stream, add_to_total, &submitter->total, sizeof submitter->total) !=
            HEDDLE_OK)
            return context;
        if (i % 97 == 0 && heddle_stream_synchronize(submitter->stream) != HEDDLE_OK)
            return context;
    }
    return NULL;
}

static void several_threads_may_use_streams_at_once(void **state)
{
    (void)state;
    enum { THREADS = 4, STREAMS = 2, COUNT = 3000 };
    atomic_int total = 0;
    heddle_stream *streams[STREAMS] = {make_stream(0), make_stream(-1)};
    struct submitter submitters[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        submitters[i] = (struct submitter){.stream = streams[i % STREAMS], .total = &total, .count = COUNT};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&total), THREADS * COUNT);
    for (int i = 0; i < STREAMS; i++)
        assert_ok(heddle_stream_destroy(streams[i]));
}

static void work_after_idle_pauses_is_picked_up(void **state)
{
    (void)state;
    atomic_int total = 0;
    atomic_int *address = &total;
    heddle_stream *stream = make_stream(0);
    // Longer than anybody spins, so that each one has to wake a sleeping executor.
    for (int i = 0; i < 30; i++) {
        usleep(1000);
        assert_ok(heddle_stream_submit(stream, add_to_total, &address, sizeof address));
    }
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&total), 30);
    assert_ok(heddle_stream_destroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_on_one_stream_runs_in_order),
        cmocka_unit_test(the_cpu_has_no_streams_of_other_libraries),
        cmocka_unit_test(two_streams_truly_overlap),
        cmocka_unit_test(lower_priority_numbers_go_first_when_threads_are_short),
        cmocka_unit_test(streams_of_one_priority_take_turns),
        cmocka_unit_test(priorities_out_of_range_are_clamped),
        cmocka_unit_test(query_says_whether_anything_is_queued_or_running),
        cmocka_unit_test(callbacks_copies_and_fills_keep_stream_order),
        cmocka_unit_test(arguments_of_any_size_are_copied_at_submission),
        cmocka_unit_test(destroying_a_stream_waits_for_its_work),
        cmocka_unit_test(device_synchronize_waits_for_every_stream),
        cmocka_unit_test(a_failure_drops_what_follows_and_is_returned_once),
        cmocka_unit_test(device_synchronize_returns_failures_in_the_order_they_happened),
        cmocka_unit_test(a_failure_does_not_hang_those_who_wait_for_the_stream),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(waiting_for_the_device_from_its_own_work_is_refused),
        cmocka_unit_test(several_threads_may_use_streams_at_once),
        cmocka_unit_test(work_after_idle_pauses_is_picked_up),
    };
    return cmocka_run_group_tests(tests, device_open, device_close);
}
