// Events: order across streams, moving marks, waiting, timing.

#include "fixture.h"

#include <string.h>
#include <unistd.h>

static void work_behind_a_wait_runs_after_the_event(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    struct journal order = {0};
    heddle_stream *first = make_stream(0);
    heddle_stream *second = make_stream(-5); // more urgent, and still has to wait
    heddle_event *event = make_event();
    assert_ok(heddle_stream_callback(first, gate_hold, &gate));
    assert_ok(journal_add(first, &order, 1));
    assert_ok(heddle_event_record(event, first));
    assert_ok(heddle_stream_wait(second, event));
    assert_ok(journal_add(second, &order, 2));
    bool done = true;
    assert_ok(heddle_event_query(event, &done));
    assert_false(done);
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(second));
    assert_journal(&order, 2, (const int[]){1, 2});
    assert_ok(heddle_event_query(event, &done));
    assert_true(done);
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(first));
    assert_ok(heddle_stream_destroy(second));
}

static void streams_that_wait_hold_no_thread(void **state)
{
    (void)state;
    enum { MOST = 200 };
    struct gate gate;
    gate_init(&gate);
    struct journal order = {0};
    int count = 4 * executor_count() < MOST ? 4 * executor_count() : MOST;
    heddle_stream *first = make_stream(0);
    heddle_stream *waiting[MOST];
    heddle_event *event = make_event();
    assert_ok(heddle_stream_callback(first, gate_hold, &gate));
    assert_ok(heddle_event_record(event, first));
    for (int i = 0; i < count; i++) {
        waiting[i] = make_stream(-5);
        assert_ok(heddle_stream_wait(waiting[i], event));
        assert_ok(journal_add(waiting[i], &order, 2));
    }
    // Far more streams wait than there are threads, and other work still runs.
    heddle_stream *free_stream = make_stream(0);
    assert_ok(journal_add(free_stream, &order, 1));
    assert_ok(heddle_stream_synchronize(free_stream));
    assert_journal(&order, 1, (const int[]){1});
    gate_open(&gate);
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&order.count), 1 + count);
    for (int i = 0; i < count; i++)
        assert_ok(heddle_stream_destroy(waiting[i]));
    assert_ok(heddle_stream_destroy(first));
    assert_ok(heddle_stream_destroy(free_stream));
    assert_ok(heddle_event_destroy(event));
}

static void an_event_never_recorded_holds_nobody(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_stream_wait(stream, event));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&order.count), 1);
    bool done = false;
    assert_ok(heddle_event_query(event, &done));
    assert_true(done);
    assert_ok(heddle_event_synchronize(event));
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(stream));
}

static void a_wait_takes_the_latest_record_at_its_call(void **state)
{
    (void)state;
    struct gate early, late;
    gate_init(&early);
    gate_init(&late);
    struct journal order = {0};
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    heddle_stream *waiting = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_event_record(event, one)); // done at once
    assert_ok(heddle_stream_callback(one, gate_hold, &early));
    assert_ok(journal_add(one, &order, 1));
    assert_ok(heddle_event_record(event, one));
    assert_ok(heddle_stream_wait(waiting, event)); // the record behind `early`
    assert_ok(journal_add(waiting, &order, 2));
    assert_ok(heddle_stream_callback(two, gate_hold, &late));
    assert_ok(heddle_event_record(event, two)); // moves the mark, but not for `waiting`
    gate_open(&early);
    assert_ok(heddle_stream_synchronize(waiting));
    assert_journal(&order, 2, (const int[]){1, 2});
    bool done = true;
    assert_ok(heddle_event_query(event, &done));
    assert_false(done);
    gate_open(&late);
    assert_ok(heddle_event_synchronize(event));
    assert_ok(heddle_event_query(event, &done));
    assert_true(done);
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
    assert_ok(heddle_stream_destroy(waiting));
}

static void an_event_may_be_destroyed_while_it_is_pending(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    struct journal order = {0};
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_stream_callback(one, gate_hold, &gate));
    assert_ok(journal_add(one, &order, 1));
    assert_ok(heddle_event_record(event, one));
    assert_ok(heddle_stream_wait(two, event));
    assert_ok(journal_add(two, &order, 2));
    assert_ok(heddle_event_destroy(event));
    gate_open(&gate);
    assert_ok(heddle_device_synchronize(opened));
    assert_journal(&order, 2, (const int[]){1, 2});
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

static void a_long_chain_of_waits_settles(void **state)
{
    (void)state;
    enum { STREAMS = 500 };
    struct gate gate;
    gate_init(&gate);
    static struct journal order;
    memset(&order, 0, sizeof order);
    static heddle_stream *streams[STREAMS];
    static heddle_event *events[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = make_stream(0);
        events[i] = make_event();
        if (i == 0)
            assert_ok(heddle_stream_callback(streams[i], gate_hold, &gate));
        else
            assert_ok(heddle_stream_wait(streams[i], events[i - 1]));
        if (i % 2 == 0)
            assert_ok(journal_add(streams[i], &order, i));
        assert_ok(heddle_event_record(events[i], streams[i]));
    }
    gate_open(&gate);
    assert_ok(heddle_event_synchronize(events[STREAMS - 1]));
    assert_int_equal(atomic_load(&order.count), STREAMS / 2);
    for (int i = 0; i < STREAMS / 2; i++)
        assert_int_equal(order.entries[i], 2 * i);
    for (int i = 0; i < STREAMS; i++) {
        assert_ok(heddle_stream_destroy(streams[i]));
        assert_ok(heddle_event_destroy(events[i]));
    }
}

static void *await_event(void *context)
{
    return heddle_event_synchronize(context) == HEDDLE_OK ? NULL : context;
}

static void several_threads_may_await_one_event(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct gate gate;
    gate_init(&gate);
    heddle_stream *stream = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate));
    assert_ok(heddle_event_record(event, stream));
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, await_event, event), 0);
    usleep(2000); // so that some of them sleep
    gate_open(&gate);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(stream));
}

static void sleep_a_while(void *context)
{
    usleep(*(useconds_t *)context);
}

static void elapsed_covers_the_work_between_two_events(void **state)
{
    (void)state;
    useconds_t microseconds = 20000;
    heddle_stream *stream = make_stream(0);
    heddle_event *start = make_event();
    heddle_event *end = make_event();
    assert_ok(heddle_event_record(start, stream));
    assert_ok(heddle_stream_callback(stream, sleep_a_while, &microseconds));
    assert_ok(heddle_event_record(end, stream));
    assert_ok(heddle_event_synchronize(end));
    double milliseconds = 0;
    assert_ok(heddle_event_elapsed(start, end, &milliseconds));
    assert_true(milliseconds >= 20);
    double backwards = 0;
    assert_ok(heddle_event_elapsed(end, start, &backwards));
    assert_true(backwards == -milliseconds);
    assert_ok(heddle_event_destroy(start));
    assert_ok(heddle_event_destroy(end));
    assert_ok(heddle_stream_destroy(stream));
}

static void elapsed_needs_both_events_to_have_happened(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    heddle_stream *stream = make_stream(0);
    heddle_event *start = make_event();
    heddle_event *end = make_event();
    double milliseconds = 0;
    assert_fails(heddle_event_elapsed(start, end, &milliseconds), HEDDLE_INVALID, "start event was never recorded");
    assert_ok(heddle_event_record(start, stream));
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate));
    assert_ok(heddle_event_record(end, stream));
    assert_fails(heddle_event_elapsed(start, end, &milliseconds), HEDDLE_INVALID, "end event has not happened yet");
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(stream));
    assert_ok(heddle_event_elapsed(start, end, &milliseconds));
    assert_ok(heddle_event_destroy(start));
    assert_ok(heddle_event_destroy(end));
    assert_ok(heddle_stream_destroy(stream));
}

static void events_and_streams_of_different_devices_do_not_mix(void **state)
{
    (void)state;
    heddle_device *other = NULL;
    heddle_event *event = NULL;
    heddle_event *mine = make_event();
    heddle_stream *stream = make_stream(0);
    double milliseconds = 0;
    assert_ok(heddle_device_open("cpu", 1, &other));
    assert_ok(heddle_event_create(other, &event));
    assert_fails(heddle_event_record(event, stream), HEDDLE_INVALID, "another device");
    assert_fails(heddle_stream_wait(stream, event), HEDDLE_INVALID, "another device");
    assert_fails(heddle_event_elapsed(mine, event, &milliseconds), HEDDLE_INVALID, "different devices");
    assert_fails(heddle_event_record(NULL, stream), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_event_query(mine, NULL), HEDDLE_INVALID, "NULL");
    assert_ok(heddle_event_destroy(NULL));
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_event_destroy(mine));
    assert_ok(heddle_stream_destroy(stream));
    heddle_device_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_behind_a_wait_runs_after_the_event),
        cmocka_unit_test(streams_that_wait_hold_no_thread),
        cmocka_unit_test(an_event_never_recorded_holds_nobody),
        cmocka_unit_test(a_wait_takes_the_latest_record_at_its_call),
        cmocka_unit_test(an_event_may_be_destroyed_while_it_is_pending),
        cmocka_unit_test(a_long_chain_of_waits_settles),
        cmocka_unit_test(several_threads_may_await_one_event),
        cmocka_unit_test(elapsed_covers_the_work_between_two_events),
        cmocka_unit_test(elapsed_needs_both_events_to_have_happened),
        cmocka_unit_test(events_and_streams_of_different_devices_do_not_mix),
    };
    return cmocka_run_group_tests(tests, device_open, device_close);
}
