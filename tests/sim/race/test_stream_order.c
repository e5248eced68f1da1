// The order of operations: what a stream, an event or a wait of the host puts one after the other is ordered, the rest
// is not; held against a slow oracle on random histories.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "race/stream_order.h"

// A stream reduced to what matters here: operations are submitted and run at once.
typedef struct lane {
    size_t chain;
    sim_order_clock clock;
} lane;

static lane lane_new(void)
{
    return (lane){.chain = sim_chain_new()};
}

static uint64_t run(lane *on)
{
    sim_order_clock clock = {0};
    sim_order_join(&on->clock, &sim_host_clock);
    const uint64_t sequence = sim_chain_advance(on->chain, &on->clock);
    sim_order_join(&clock, &on->clock);
    return sim_order_start(on->chain, sequence, &clock, sequence);
}

static void streams_are_ordered_in_themselves_only(void **state)
{
    (void)state;
    lane a = lane_new(), b = lane_new();
    const uint64_t first = run(&a), other = run(&b), second = run(&a);
    assert_true(sim_ordered(first, second));
    assert_false(sim_ordered(first, other));
    assert_false(sim_ordered(other, second));
    assert_int_equal(sim_ordered_below(second), other);
    assert_int_equal(sim_ordered_below(other), first);
    sim_host_waited(&a.clock);
    assert_false(sim_host_waited_for_all());
    sim_host_waited(&b.clock);
    assert_true(sim_host_waited_for_all());
    sim_order_idle();
}

static void an_event_orders_what_came_before_it(void **state)
{
    (void)state;
    lane a = lane_new(), b = lane_new();
    const uint64_t before = run(&a);
    sim_order_clock event = {0};
    sim_order_join(&event, &a.clock);
    const uint64_t after = run(&a);
    sim_order_join(&b.clock, &event);
    const uint64_t waiting = run(&b);
    assert_true(sim_ordered(before, waiting));
    assert_false(sim_ordered(after, waiting));
    assert_int_equal(sim_ordered_below(waiting), after);
    sim_order_clear(&event);
    sim_host_waited(&a.clock);
    sim_host_waited(&b.clock);
    sim_order_idle();
}

static void the_past_is_ordered_before_everything(void **state)
{
    (void)state;
    lane a = lane_new(), b = lane_new();
    const uint64_t old = run(&a);
    assert_false(sim_order_waited(old));
    sim_host_waited(&a.clock);
    assert_true(sim_order_waited(old));
    const uint64_t new = run(&b);
    assert_true(sim_ordered(old, new));
    sim_host_waited(&b.clock);
    sim_order_idle();
    const uint64_t newer = run(&b);
    assert_true(sim_ordered(old, newer));
    assert_int_equal(sim_ordered_below(newer), newer);
    // Of what is forgotten, and of what has not begun, nothing runs beside it as far as is known.
    assert_int_equal(sim_ordered_below(old), old);
    assert_int_equal(sim_ordered_below(newer + 1), newer + 1);
    assert_false(sim_ordered(newer, newer + 1));
    assert_false(sim_ordered(newer + 1, newer));
    sim_host_waited(&b.clock);
    sim_order_idle();
}

// The oracle: which operations come before which, as a table.
enum { LANES = 4, OPERATIONS = 60, HISTORIES = 300 };
typedef struct history {
    bool before[OPERATIONS][OPERATIONS];
    bool known[LANES][OPERATIONS]; // by a lane, by the host
    bool host[OPERATIONS];
    uint64_t number[OPERATIONS];
    int count;
} history;

static void learn(bool *to, const bool *from)
{
    for (int i = 0; i < OPERATIONS; i++)
        to[i] |= from[i];
}

static void step(history *oracle, lane *lanes)
{
    const int a = rand() % LANES, b = rand() % LANES, choice = rand() % 8;
    if (choice == 0) { // b waits for an event of a
        sim_order_join(&lanes[b].clock, &lanes[a].clock);
        learn(oracle->known[b], oracle->known[a]);
    } else if (choice == 1) { // the host waits for a
        sim_host_waited(&lanes[a].clock);
        learn(oracle->host, oracle->known[a]);
    } else {
        const int i = oracle->count++;
        learn(oracle->known[a], oracle->host);
        memcpy(oracle->before[i], oracle->known[a], sizeof oracle->before[i]);
        oracle->number[i] = run(&lanes[a]);
        oracle->known[a][i] = true;
    }
}

static void check(const history *oracle)
{
    for (int later = 0; later < oracle->count; later++) {
        int below = 0;
        while (below < later && oracle->before[later][below])
            below++;
        assert_int_equal(sim_ordered_below(oracle->number[later]), oracle->number[below]);
        for (int earlier = 0; earlier < later; earlier++)
            assert_int_equal(sim_ordered(oracle->number[earlier], oracle->number[later]),
                             oracle->before[later][earlier]);
    }
}

static void random_histories_agree_with_the_oracle(void **state)
{
    (void)state;
    const unsigned seed = 20261115;
    print_message("seed %u\n", seed);
    srand(seed);
    lane lanes[LANES];
    for (int i = 0; i < LANES; i++)
        lanes[i] = lane_new();
    for (int i = 0; i < HISTORIES; i++) {
        history *oracle = calloc(1, sizeof *oracle);
        assert_non_null(oracle);
        while (oracle->count < OPERATIONS)
            step(oracle, lanes);
        check(oracle);
        free(oracle);
        for (int lane = 0; lane < LANES; lane++)
            sim_host_waited(&lanes[lane].clock);
        sim_order_idle();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_ordered_in_themselves_only),
        cmocka_unit_test(an_event_orders_what_came_before_it),
        cmocka_unit_test(the_past_is_ordered_before_everything),
        cmocka_unit_test(random_histories_agree_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
