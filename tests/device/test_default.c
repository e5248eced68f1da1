// The default stream: what waits for it and what it waits for, and that other streams have nothing to do with it. On
// cpu with gates that hold work back; and on every device, the one that HEDDLE_TEST_DEVICE names, by what copies bring.

#include "fixture.h"

#include <string.h>

#include "under_test.h"

static heddle_stream *make_kind(heddle_stream_kind kind)
{
    heddle_stream *stream = NULL;
    assert_ok(heddle_stream_create_kind(opened, kind, 0, &stream));
    return stream;
}

// Work queued on `held`, which a gate holds back, then on `behind`, then on a stream that is not blocking.
static void assert_waits(heddle_stream_kind held_kind, heddle_stream_kind behind_kind)
{
    static struct journal order;
    struct gate gate;
    memset(&order, 0, sizeof order);
    gate_init(&gate);
    heddle_stream *held = make_kind(held_kind), *behind = make_kind(behind_kind);
    heddle_stream *other = make_stream(0);
    assert_ok(heddle_stream_callback(held, gate_hold, &gate));
    assert_ok(journal_add(held, &order, 1));
    assert_ok(journal_add(behind, &order, 2));
    assert_ok(journal_add(other, &order, 3));
    assert_ok(heddle_stream_synchronize(other));
    assert_journal(&order, 1, (int[]){3});
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(behind));
    assert_journal(&order, 3, (int[]){3, 1, 2});
    assert_ok(heddle_stream_destroy(held));
    assert_ok(heddle_stream_destroy(behind));
    assert_ok(heddle_stream_destroy(other));
}

static void the_default_stream_waits_for_blocking_streams(void **state)
{
    (void)state;
    assert_waits(HEDDLE_STREAM_BLOCKING, HEDDLE_STREAM_DEFAULT);
}

static void blocking_streams_wait_for_the_default_stream(void **state)
{
    (void)state;
    assert_waits(HEDDLE_STREAM_DEFAULT, HEDDLE_STREAM_BLOCKING);
}

static void there_is_one_default_stream(void **state)
{
    (void)state;
    assert_waits(HEDDLE_STREAM_DEFAULT, HEDDLE_STREAM_DEFAULT);
}

static void blocking_streams_do_not_wait_for_each_other(void **state)
{
    (void)state;
    static struct journal order;
    struct gate gate;
    memset(&order, 0, sizeof order);
    gate_init(&gate);
    heddle_stream *held = make_kind(HEDDLE_STREAM_BLOCKING), *free_one = make_kind(HEDDLE_STREAM_BLOCKING);
    assert_ok(heddle_stream_callback(held, gate_hold, &gate));
    assert_ok(journal_add(free_one, &order, 1));
    assert_ok(heddle_stream_synchronize(free_one));
    assert_journal(&order, 1, (int[]){1});
    gate_open(&gate);
    assert_ok(heddle_stream_destroy(held));
    assert_ok(heddle_stream_destroy(free_one));
}

static void an_event_on_the_default_stream_stands_behind_blocking_work(void **state)
{
    (void)state;
    struct gate gate;
    bool done = true;
    gate_init(&gate);
    heddle_stream *held = make_kind(HEDDLE_STREAM_BLOCKING), *usual = make_kind(HEDDLE_STREAM_DEFAULT);
    heddle_event *event = make_event();
    assert_ok(heddle_stream_callback(held, gate_hold, &gate));
    assert_ok(heddle_event_record(event, usual));
    assert_ok(heddle_event_query(event, &done));
    assert_false(done);
    gate_open(&gate);
    assert_ok(heddle_event_synchronize(event));
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(usual));
    assert_ok(heddle_stream_destroy(held));
}

static void the_default_stream_is_refused_while_a_blocking_one_captures(void **state)
{
    (void)state;
    uint8_t byte = 0;
    heddle_graph *graph = NULL;
    heddle_stream *captured = make_kind(HEDDLE_STREAM_BLOCKING), *usual = make_kind(HEDDLE_STREAM_DEFAULT);
    assert_ok(heddle_capture_begin(captured));
    assert_fails(heddle_fill(usual, &byte, 1, 1), HEDDLE_INVALID, "default stream");
    assert_fails(heddle_capture_end(captured, &graph), HEDDLE_INVALID, "default stream");
    assert_ok(heddle_stream_destroy(usual));
    assert_ok(heddle_stream_destroy(captured));
}

static void data_goes_from_stream_to_stream_through_the_default_one(void **state)
{
    (void)state;
    enum { BYTES = 4096, TIMES = 8 };
    void *first = NULL, *second = NULL;
    uint8_t *host = NULL;
    heddle_stream *one = make_kind(HEDDLE_STREAM_BLOCKING), *two = make_kind(HEDDLE_STREAM_BLOCKING);
    heddle_stream *usual = make_kind(HEDDLE_STREAM_DEFAULT);
    assert_ok(heddle_alloc(opened, BYTES, &first));
    assert_ok(heddle_alloc(opened, BYTES, &second));
    assert_ok(heddle_alloc_pinned(opened, BYTES, (void **)&host));
    for (int i = 1; i <= TIMES; i++) {
        assert_ok(heddle_fill(one, first, (uint8_t)i, BYTES));
        assert_ok(heddle_copy(usual, second, first, BYTES));
        assert_ok(heddle_copy(two, host, second, BYTES));
        assert_ok(heddle_stream_synchronize(two));
        for (int b = 0; b < BYTES; b++)
            assert_int_equal(host[b], i);
    }
    assert_ok(heddle_free_pinned(opened, host));
    assert_ok(heddle_free(opened, first));
    assert_ok(heddle_free(opened, second));
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
    assert_ok(heddle_stream_destroy(usual));
}

static int named_open(void **state)
{
    const char *name = device_under_test(NULL);
    if (!name)
        return device_open(state);
    if (heddle_device_open(name, 0, &opened) == HEDDLE_OK)
        return 0;
    print_error("%s\n", heddle_last_error());
    return -1;
}

int main(void)
{
    const struct CMUnitTest everywhere[] = {
        cmocka_unit_test_setup_teardown(data_goes_from_stream_to_stream_through_the_default_one, named_open,
                                        device_close),
    };
    const struct CMUnitTest on_cpu[] = {
        cmocka_unit_test_setup_teardown(the_default_stream_waits_for_blocking_streams, device_open, device_close),
        cmocka_unit_test_setup_teardown(blocking_streams_wait_for_the_default_stream, device_open, device_close),
        cmocka_unit_test_setup_teardown(there_is_one_default_stream, device_open, device_close),
        cmocka_unit_test_setup_teardown(blocking_streams_do_not_wait_for_each_other, device_open, device_close),
        cmocka_unit_test_setup_teardown(an_event_on_the_default_stream_stands_behind_blocking_work, device_open,
                                        device_close),
        cmocka_unit_test_setup_teardown(the_default_stream_is_refused_while_a_blocking_one_captures, device_open,
                                        device_close),
    };
    int failed = cmocka_run_group_tests(everywhere, NULL, NULL);
    return failed + (device_under_test(NULL) ? 0 : cmocka_run_group_tests(on_cpu, NULL, NULL));
}
