// Graphs: what a capture records, how a launch runs it, and what is not allowed meanwhile.

#include "fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static heddle_graph *end_capture(heddle_stream *stream)
{
    heddle_graph *graph = NULL;
    assert_ok(heddle_capture_end(stream, &graph));
    assert_non_null(graph);
    return graph;
}

static void capture_records_and_launch_replays(void **state)
{
    (void)state;
    uint8_t source[8] = "heddle!", target[8] = {0};
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_copy(stream, target, source, sizeof source));
    assert_ok(heddle_fill(stream, target, 'x', 1));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(journal_add(stream, &order, 2));
    heddle_graph *graph = end_capture(stream);
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&order.count), 0);
    assert_int_equal(target[0], 0);

    for (int i = 1; i <= 3; i++) {
        memset(target, 0, sizeof target);
        assert_ok(heddle_graph_launch(graph, stream));
        assert_ok(heddle_stream_synchronize(stream));
        assert_string_equal((const char *)target, "xeddle!");
        assert_int_equal(atomic_load(&order.count), 2 * i);
    }
    assert_journal(&order, 6, (const int[]){1, 2, 1, 2, 1, 2});
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
}

static void a_launch_stands_in_stream_order(void **state)
{
    (void)state;
    struct gate gate;
    gate_init(&gate);
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    assert_ok(journal_add(stream, &order, 2));
    assert_ok(journal_add(stream, &order, 3));
    heddle_graph *graph = end_capture(stream);
    assert_ok(heddle_stream_callback(stream, gate_hold, &gate));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(journal_add(stream, &order, 4));
    assert_ok(heddle_graph_launch(graph, stream));
    // Queued launches keep the graph.
    assert_ok(heddle_graph_destroy(graph));
    gate_open(&gate);
    assert_ok(heddle_stream_synchronize(stream));
    assert_journal(&order, 6, (const int[]){1, 2, 3, 4, 2, 3});
    assert_ok(heddle_stream_destroy(stream));
}

// x[i] = 2 x[i] + add
struct step {
    int64_t *value;
    const int64_t *other; // added too, unless NULL
    int64_t add;
};

static heddle_status run_step(const void *arguments)
{
    const struct step *step = arguments;
    *step->value = 2 * *step->value + step->add + (step->other ? *step->other : 0);
    return HEDDLE_OK;
}

static void submit_step(heddle_stream *stream, int64_t *value, const int64_t *other, int64_t add)
{
    struct step step = {.value = value, .other = other, .add = add};
    assert_ok(heddle_stream_submit(stream, run_step, &step, sizeof step));
}

// a = 2a + 1; then b = 2b + a + 3 beside c = 2c + a + 5; then a = 2a + b; a = 2a + c
static void submit_diamond(heddle_stream *main, heddle_stream *left, heddle_stream *right, int64_t *a, int64_t *b,
                           int64_t *c)
{
    heddle_event *fork = make_event();
    heddle_event *join_left = make_event();
    heddle_event *join_right = make_event();
    submit_step(main, a, NULL, 1);
    assert_ok(heddle_event_record(fork, main));
    assert_ok(heddle_stream_wait(left, fork));
    assert_ok(heddle_stream_wait(right, fork));
    submit_step(left, b, a, 3);
    submit_step(right, c, a, 5);
    assert_ok(heddle_event_record(join_left, left));
    assert_ok(heddle_event_record(join_right, right));
    assert_ok(heddle_stream_wait(main, join_left));
    assert_ok(heddle_stream_wait(main, join_right));
    submit_step(main, a, b, 0);
    submit_step(main, a, c, 0);
    assert_ok(heddle_event_destroy(fork));
    assert_ok(heddle_event_destroy(join_left));
    assert_ok(heddle_event_destroy(join_right));
}

static void forks_and_joins_replay_to_the_same_result_many_times(void **state)
{
    (void)state;
    enum { LAUNCHES = 2000, A_ROUND = 10 }; // values grow 15-fold a launch
    heddle_stream *main = make_stream(0);
    heddle_stream *left = make_stream(0);
    heddle_stream *right = make_stream(-2);
    int64_t a = 1, b = 1, c = 1;
    assert_ok(heddle_capture_begin(main));
    submit_diamond(main, left, right, &a, &b, &c);
    heddle_graph *graph = end_capture(main);
    int64_t expected[3] = {1, 1, 1};
    for (int launch = 0; launch < LAUNCHES; launch++) {
        assert_ok(heddle_graph_launch(graph, main));
        // Back to 1 before anything overflows.
        if (launch % A_ROUND == A_ROUND - 1) {
            assert_ok(heddle_stream_synchronize(main));
            for (int i = 0; i < A_ROUND; i++) {
                expected[0] = 2 * expected[0] + 1;
                expected[1] = 2 * expected[1] + expected[0] + 3;
                expected[2] = 2 * expected[2] + expected[0] + 5;
                expected[0] = 2 * expected[0] + expected[1];
                expected[0] = 2 * expected[0] + expected[2];
            }
            assert_true(a == expected[0] && b == expected[1] && c == expected[2]);
            a = b = c = expected[0] = expected[1] = expected[2] = 1;
        }
    }
    assert_ok(heddle_graph_destroy(graph));
    // The streams that joined take ordinary work again.
    submit_step(left, &b, NULL, 7);
    assert_ok(heddle_stream_synchronize(left));
    assert_int_equal(b, 9);
    assert_ok(heddle_stream_destroy(main));
    assert_ok(heddle_stream_destroy(left));
    assert_ok(heddle_stream_destroy(right));
}

struct meeting {
    atomic_int arrived;
};

static heddle_status meet(const void *arguments)
{
    struct meeting *meeting = *(struct meeting *const *)arguments;
    int target = (atomic_fetch_add(&meeting->arrived, 1) / 2 + 1) * 2;
    while (atomic_load(&meeting->arrived) < target)
        sched_yield();
    return HEDDLE_OK;
}

static void independent_branches_overlap(void **state)
{
    (void)state;
    struct meeting meeting = {0};
    struct meeting *address = &meeting;
    heddle_stream *main = make_stream(0);
    heddle_stream *side = make_stream(0);
    heddle_event *fork = make_event();
    heddle_event *join = make_event();
    assert_ok(heddle_capture_begin(main));
    assert_ok(heddle_event_record(fork, main)); // before any work: the branches have no common start
    assert_ok(heddle_stream_wait(side, fork));
    assert_ok(heddle_stream_submit(main, meet, &address, sizeof address));
    assert_ok(heddle_stream_submit(side, meet, &address, sizeof address));
    assert_ok(heddle_event_record(join, side));
    assert_ok(heddle_stream_wait(main, join));
    heddle_graph *graph = end_capture(main);
    for (int i = 0; i < 3; i++)
        assert_ok(heddle_graph_launch(graph, main));
    assert_ok(heddle_stream_synchronize(main));
    assert_int_equal(atomic_load(&meeting.arrived), 6);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_event_destroy(fork));
    assert_ok(heddle_event_destroy(join));
    assert_ok(heddle_stream_destroy(main));
    assert_ok(heddle_stream_destroy(side));
}

struct exclusive {
    atomic_int inside, runs;
    atomic_bool overlapped;
};

static heddle_status enter_alone(const void *arguments)
{
    struct exclusive *exclusive = *(struct exclusive *const *)arguments;
    if (atomic_fetch_add(&exclusive->inside, 1) != 0)
        atomic_store(&exclusive->overlapped, true);
    for (int i = 0; i < 20; i++)
        sched_yield();
    atomic_fetch_add(&exclusive->runs, 1);
    atomic_fetch_sub(&exclusive->inside, 1);
    return HEDDLE_OK;
}

static void launches_of_one_graph_do_not_overlap_across_streams(void **state)
{
    (void)state;
    enum { STREAMS = 3, LAUNCHES = 100 };
    struct exclusive exclusive = {0};
    struct exclusive *address = &exclusive;
    heddle_stream *streams[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        streams[i] = make_stream(-i);
    assert_ok(heddle_capture_begin(streams[0]));
    assert_ok(heddle_stream_submit(streams[0], enter_alone, &address, sizeof address));
    assert_ok(heddle_stream_submit(streams[0], enter_alone, &address, sizeof address));
    heddle_graph *graph = end_capture(streams[0]);
    for (int i = 0; i < LAUNCHES; i++)
        assert_ok(heddle_graph_launch(graph, streams[i % STREAMS]));
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&exclusive.runs), 2 * LAUNCHES);
    assert_false(atomic_load(&exclusive.overlapped));
    assert_ok(heddle_graph_destroy(graph));
    for (int i = 0; i < STREAMS; i++)
        assert_ok(heddle_stream_destroy(streams[i]));
}

struct thrice {
    atomic_int runs;
    struct gate first, third;
};

static void hold_first_and_third(void *context)
{
    struct thrice *thrice = context;
    int run = atomic_fetch_add(&thrice->runs, 1);
    if (run != 1)
        gate_hold(run == 0 ? &thrice->first : &thrice->third);
}

static void a_stream_that_launches_in_a_row_keeps_no_other_waiting(void **state)
{
    (void)state;
    struct thrice thrice = {.runs = 0};
    gate_init(&thrice.first);
    gate_init(&thrice.third);
    heddle_stream *greedy = make_stream(0);
    heddle_stream *modest = make_stream(0);
    assert_ok(heddle_capture_begin(greedy));
    assert_ok(heddle_stream_callback(greedy, hold_first_and_third, &thrice));
    heddle_graph *graph = end_capture(greedy);
    assert_ok(heddle_graph_launch(graph, greedy));
    assert_ok(heddle_graph_launch(graph, greedy));
    gate_await(&thrice.first, 1);
    assert_ok(heddle_graph_launch(graph, modest));
    gate_open(&thrice.first);
    gate_await(&thrice.third, 1);
    // The third run is under way: the second was that of the stream which came while the first ran.
    bool done = false;
    assert_ok(heddle_stream_query(modest, &done));
    gate_open(&thrice.third);
    assert_ok(heddle_device_synchronize(opened));
    assert_true(done);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(greedy));
    assert_ok(heddle_stream_destroy(modest));
}

static void an_empty_graph_launches_to_nothing(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    heddle_graph *graph = end_capture(stream);
    assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&order.count), 1);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
}

static void a_failing_node_drops_the_rest_and_fails_the_stream(void **state)
{
    (void)state;
    enum { BEHIND = 3000 };
    struct journal order = {0};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(submit_failure(stream, 5));
    for (int i = 0; i < BEHIND; i++)
        assert_ok(journal_add(stream, &order, 2));
    heddle_graph *graph = end_capture(stream);
    assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(heddle_graph_launch(graph, stream)); // dropped: the stream has failed
    assert_fails(heddle_stream_synchronize(stream), HEDDLE_DEVICE, "broken on purpose 5");
    assert_journal(&order, 1, (const int[]){1});
    assert_ok(heddle_graph_launch(graph, stream));
    assert_fails(heddle_stream_synchronize(stream), HEDDLE_DEVICE, "broken on purpose 5");
    assert_journal(&order, 2, (const int[]){1, 1});
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
}

static void large_arguments_live_as_long_as_the_graph(void **state)
{
    (void)state;
    struct {
        struct step step;
        char padding[2000];
    } large = {0};
    int64_t value = 0;
    large.step = (struct step){.value = &value, .add = 1};
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_stream_submit(stream, run_step, &large, sizeof large));
    heddle_graph *graph = end_capture(stream);
    memset(&large, 0, sizeof large);
    for (int i = 0; i < 5; i++)
        assert_ok(heddle_graph_launch(graph, stream));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(value, 31);
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
}

// --- misuse ---------------------------------------------------------------------------------------------------------

static void assert_capture_lost(heddle_stream *stream, const char *reason)
{
    heddle_graph *graph = NULL;
    struct journal order = {0};
    assert_fails(journal_add(stream, &order, 1), HEDDLE_INVALID, reason);
    assert_fails(heddle_capture_end(stream, &graph), HEDDLE_INVALID, reason);
    assert_null(graph);
    // The stream is an ordinary one again.
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(heddle_stream_synchronize(stream));
    assert_int_equal(atomic_load(&order.count), 1);
}

static void waiting_for_a_capturing_stream_loses_the_capture(void **state)
{
    (void)state;
    bool done = false;
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    assert_fails(heddle_stream_synchronize(stream), HEDDLE_INVALID, "heddle_stream_synchronize: not during a capture");
    assert_capture_lost(stream, "heddle_stream_synchronize");
    assert_ok(heddle_capture_begin(stream));
    assert_fails(heddle_stream_query(stream, &done), HEDDLE_INVALID, "not during a capture");
    assert_capture_lost(stream, "heddle_stream_query");
    assert_ok(heddle_capture_begin(stream));
    assert_fails(heddle_device_synchronize(opened), HEDDLE_INVALID, "not during a capture");
    assert_capture_lost(stream, "heddle_device_synchronize");
    assert_ok(heddle_capture_begin(stream));
    assert_fails(heddle_stream_destroy(stream), HEDDLE_INVALID, "not during a capture");
    assert_capture_lost(stream, "heddle_stream_destroy");
    assert_ok(heddle_stream_destroy(stream));
}

static void an_event_of_a_capture_only_orders(void **state)
{
    (void)state;
    bool done = false;
    double milliseconds = 0;
    heddle_stream *stream = make_stream(0);
    heddle_stream *other = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_event_record(event, stream));
    assert_fails(heddle_event_synchronize(event), HEDDLE_INVALID, "not during a capture");
    assert_capture_lost(stream, "heddle_event_synchronize");
    assert_fails(heddle_event_query(event, &done), HEDDLE_INVALID, "only orders");
    assert_fails(heddle_event_elapsed(event, event, &milliseconds), HEDDLE_INVALID, "only orders");
    assert_fails(heddle_stream_wait(other, event), HEDDLE_INVALID, "capture that has ended");
    assert_ok(heddle_event_record(event, stream));
    assert_ok(heddle_event_synchronize(event));
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_stream_destroy(other));
}

static void work_that_never_rejoins_is_refused(void **state)
{
    (void)state;
    struct journal order = {0};
    heddle_graph *graph = NULL;
    heddle_stream *stream = make_stream(0);
    heddle_stream *side = make_stream(0);
    heddle_event *event = make_event();
    assert_ok(heddle_capture_begin(stream));
    assert_ok(journal_add(stream, &order, 1));
    assert_ok(heddle_event_record(event, stream));
    assert_ok(heddle_stream_wait(side, event));
    assert_ok(journal_add(side, &order, 2));
    assert_fails(heddle_capture_end(side, &graph), HEDDLE_INVALID, "only joined");
    assert_fails(heddle_capture_end(stream, &graph), HEDDLE_INVALID, "1 captured operation on a stream that joined");
    assert_null(graph);
    assert_ok(heddle_device_synchronize(opened));
    assert_int_equal(atomic_load(&order.count), 0);

    // Work behind the last join is as lost as work without one.
    assert_ok(heddle_capture_begin(stream));
    assert_ok(heddle_event_record(event, stream));
    assert_ok(heddle_stream_wait(side, event));
    assert_ok(journal_add(side, &order, 2));
    assert_ok(heddle_event_record(event, side));
    assert_ok(heddle_stream_wait(stream, event));
    assert_ok(journal_add(side, &order, 3));
    assert_fails(heddle_capture_end(stream, &graph), HEDDLE_INVALID, "never rejoined");
    assert_ok(heddle_event_destroy(event));
    assert_ok(heddle_stream_destroy(stream));
    assert_ok(heddle_stream_destroy(side));
}

static void captures_keep_to_themselves(void **state)
{
    (void)state;
    heddle_graph *graph = NULL;
    heddle_stream *one = make_stream(0);
    heddle_stream *two = make_stream(0);
    heddle_event *outside = make_event();
    heddle_event *inside = make_event();
    heddle_event *never = make_event();
    assert_ok(heddle_event_record(outside, one));
    assert_ok(heddle_capture_begin(one));
    assert_fails(heddle_capture_begin(one), HEDDLE_INVALID, "capturing already");
    assert_ok(heddle_stream_wait(one, never));
    assert_fails(heddle_stream_wait(one, outside), HEDDLE_INVALID, "outside of the capture");
    assert_capture_lost(one, "recorded outside");
    assert_ok(heddle_capture_begin(one));
    assert_ok(heddle_capture_begin(two));
    assert_ok(heddle_event_record(inside, one));
    assert_fails(heddle_stream_wait(two, inside), HEDDLE_INVALID, "another capture");
    assert_fails(heddle_capture_end(one, &graph), HEDDLE_INVALID, "lost");
    assert_fails(heddle_capture_end(two, &graph), HEDDLE_INVALID, "lost");
    assert_fails(heddle_capture_end(two, &graph), HEDDLE_INVALID, "not capturing");
    assert_ok(heddle_event_destroy(outside));
    assert_ok(heddle_event_destroy(inside));
    assert_ok(heddle_event_destroy(never));
    assert_ok(heddle_stream_destroy(one));
    assert_ok(heddle_stream_destroy(two));
}

static void a_graph_inside_a_capture_is_unsupported(void **state)
{
    (void)state;
    heddle_stream *stream = make_stream(0);
    assert_ok(heddle_capture_begin(stream));
    heddle_graph *graph = end_capture(stream);
    assert_ok(heddle_capture_begin(stream));
    assert_fails(heddle_graph_launch(graph, stream), HEDDLE_UNSUPPORTED, "inside another");
    assert_capture_lost(stream, "heddle_graph_launch");
    assert_fails(heddle_graph_launch(NULL, stream), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_capture_begin(NULL), HEDDLE_INVALID, "NULL");
    assert_fails(heddle_capture_end(stream, NULL), HEDDLE_INVALID, "NULL");
    assert_ok(heddle_graph_destroy(NULL));
    assert_ok(heddle_graph_destroy(graph));
    assert_ok(heddle_stream_destroy(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(capture_records_and_launch_replays),
        cmocka_unit_test(a_launch_stands_in_stream_order),
        cmocka_unit_test(forks_and_joins_replay_to_the_same_result_many_times),
        cmocka_unit_test(independent_branches_overlap),
        cmocka_unit_test(launches_of_one_graph_do_not_overlap_across_streams),
        cmocka_unit_test(a_stream_that_launches_in_a_row_keeps_no_other_waiting),
        cmocka_unit_test(an_empty_graph_launches_to_nothing),
        cmocka_unit_test(a_failing_node_drops_the_rest_and_fails_the_stream),
        cmocka_unit_test(large_arguments_live_as_long_as_the_graph),
        cmocka_unit_test(waiting_for_a_capturing_stream_loses_the_capture),
        cmocka_unit_test(an_event_of_a_capture_only_orders),
        cmocka_unit_test(work_that_never_rejoins_is_refused),
        cmocka_unit_test(captures_keep_to_themselves),
        cmocka_unit_test(a_graph_inside_a_capture_is_unsupported),
    };
    return cmocka_run_group_tests(tests, device_open, device_close);
}
