// Rungs are timed in turn: who is launched when, by rungs that write down that they were; and what is made of the
// times, by times that are made up.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/statistics.h"
#include "heddle/ops.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

// --- the order of a round --------------------------------------------------------------------------------------------

enum { MOST_RUNGS = 24 };

static void every_round_has_each_rung_once(void **state)
{
    (void)state;
    for (int count = 1; count <= MOST_RUNGS; count++) {
        for (int round = 0; round < 3 * count; round++) {
            bool seen[MOST_RUNGS] = {false};
            for (int position = 0; position < count; position++) {
                int turn = heddle_bench_turn(count, round, position);
                assert_in_range(turn, 0, count - 1);
                assert_false(seen[turn]);
                seen[turn] = true;
            }
        }
    }
}

static void each_rung_follows_every_other_equally_often(void **state)
{
    (void)state;
    for (int count = 2; count <= MOST_RUNGS; count++) {
        int followed[MOST_RUNGS][MOST_RUNGS] = {{0}};
        for (int round = 0; round < 2 * count; round++)
            for (int i = 1; i < count; i++)
                followed[heddle_bench_turn(count, round, i - 1)][heddle_bench_turn(count, round, i)]++;
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++)
                assert_int_equal(followed[a][b], a == b ? 0 : 2);
    }
}

static void two_rungs_swap_places_every_round(void **state)
{
    (void)state;
    for (int round = 0; round < 6; round++)
        assert_int_equal(heddle_bench_turn(2, round, 0), round % 2);
}

// --- ratios ----------------------------------------------------------------------------------------------------------

static void a_clock_that_changes_between_rounds_is_not_in_the_ratio(void **state)
{
    (void)state;
    // The vendor's rung takes 2 where ours takes 1; in half of the rounds the card is slower by a tenth, and ours has
    // turns in more of the fast ones.
    const double theirs[] = {2, 2.2, 2.2, 2, 2.2, 0, 0, 0};
    const double ours[] = {1, 1.1, 1.1, 1, 1.1, 1, 1, 1};
    double scratch[8];
    assert_true(fabs(heddle_bench_paired_ratio(theirs, ours, 8, scratch) - 2) < 1e-12);
    assert_true(fabs(heddle_bench_paired_ratio(ours, theirs, 8, scratch) - 0.5) < 1e-12);
}

static void one_disturbed_round_is_not_in_the_ratio(void **state)
{
    (void)state;
    const double theirs[] = {3, 3, 300, 3, 3}, ours[] = {2, 2, 2, 2, 2};
    double scratch[5];
    assert_true(fabs(heddle_bench_paired_ratio(theirs, ours, 5, scratch) - 1.5) < 1e-12);
}

static void without_a_common_round_there_is_no_ratio(void **state)
{
    (void)state;
    const double theirs[] = {3, 0}, ours[] = {0, 2};
    double scratch[2];
    assert_true(isnan(heddle_bench_paired_ratio(theirs, ours, 2, scratch)));
}

static void medians_and_their_spread_are_those_of_the_values(void **state)
{
    (void)state;
    double even[] = {4, 1, 3, 2}, odd[] = {9, 1, 5}, same[] = {7, 7, 7, 7, 7}, wide[] = {1, 2, 3, 4, 5};
    assert_true(heddle_bench_median(even, 4) == 2.5);
    assert_true(heddle_bench_median(odd, 3) == 5);
    assert_true(heddle_bench_quantile(odd, 3, 1) == 9 && heddle_bench_quantile(odd, 3, 0) == 1);
    assert_true(heddle_bench_median_spread(same, 5) == 0);
    assert_true(heddle_bench_median_spread(wide, 5) > 0.1);
}

// --- who is launched when --------------------------------------------------------------------------------------------

enum { MOST_LOGGED = 1 << 16, RUNGS = 3 };

// A letter a launch; '[' where the rounds begin, ']' where the rows do.
static char logged[MOST_LOGGED];
static size_t logged_count;

static void log_one(char letter)
{
    if (logged_count + 1 < MOST_LOGGED)
        logged[logged_count++] = letter;
    logged[logged_count] = '\0';
}

static heddle_status add_as(char letter, const heddle_call *call)
{
    log_one(letter);
    for (int i = 0; i < ((const heddle_elements_shape *)call->shape)->n; i++)
        ((float *)call->output[0])[i] = ((const float *)call->input[0])[i] + ((const float *)call->input[1])[i];
    return HEDDLE_OK;
}

static heddle_status add_a(const heddle_call *call)
{
    return add_as('a', call);
}

static heddle_status add_b(const heddle_call *call)
{
    return add_as('b', call);
}

static heddle_status add_c(const heddle_call *call)
{
    return add_as('c', call);
}

static heddle_status zeros(const heddle_call *call)
{
    log_one('z');
    memset(call->output[0], 0, sizeof(float) * (size_t)((const heddle_elements_shape *)call->shape)->n);
    return HEDDLE_OK;
}

static bool in_rounds(void)
{
    return strchr(logged, '[') && !strchr(logged, ']');
}

// Right until it has had two turns.
static heddle_status fails_in_round_three(const heddle_call *call)
{
    static int turns;
    if (in_rounds() && ++turns > 2)
        return heddle_fail(HEDDLE_DEVICE, "no more turns");
    return add_as('f', call);
}

static const heddle_rung ladder[] = {
    {"a", HEDDLE_CPU, HEDDLE_TUNED, add_a, "", NULL, NULL},
    {"b", HEDDLE_CPU, HEDDLE_TUNED, add_b, "", NULL, NULL},
    {"zeros", HEDDLE_CPU, HEDDLE_TUNED, zeros, "", NULL, NULL},
    {"c", HEDDLE_CPU, HEDDLE_VENDOR, add_c, "", NULL, NULL},
    {"fails", HEDDLE_CPU, HEDDLE_TUNED, fails_in_round_three, "", NULL, NULL},
};
enum { WITH_FAILING = sizeof ladder / sizeof *ladder, WITHOUT_FAILING = WITH_FAILING - 1 };

static void mark(void *context, const char *text)
{
    (void)context;
    if (strstr(text, ": timing, round 1") && !strchr(logged, '['))
        log_one('[');
    if (strstr(text, ": timing in a row"))
        log_one(']');
}

// Measures the first rungs of the ladder with the log empty; the caller closes both.
static heddle_bench *measure(int rungs, heddle_device **device)
{
    const heddle_op *add_forward;
    heddle_bench *bench;
    heddle_bench_options options = {.seed = 7, .seconds = 0.01, .listener = mark};
    logged_count = 0;
    logged[0] = '\0';
    assert_ok(heddle_op_find("add_forward", &add_forward));
    static heddle_op op;
    op = *add_forward;
    op.ladder = ladder;
    op.rungs = rungs;
    assert_ok(heddle_device_open("cpu", 2, device));
    assert_ok(heddle_bench_open(*device, &options, &bench));
    assert_ok(heddle_bench_measure(bench, &op, "n=1000", NULL));
    heddle_bench_conclude(bench);
    return bench;
}

// What was launched in the rounds, a letter for the launches of a slice.
static void read_slices(char *slices, size_t size)
{
    const char *begin = strchr(logged, '['), *end = strchr(logged, ']');
    size_t used = 0;
    assert_true(begin && end && begin < end);
    for (const char *at = begin + 1; at < end; at++)
        if (at[0] != at[-1] && used + 1 < size)
            slices[used++] = *at;
    slices[used] = '\0';
}

static void right_rungs_are_timed_in_rounds_of_changing_order(void **state)
{
    (void)state;
    heddle_device *device;
    char slices[256];
    heddle_bench *bench = measure(WITHOUT_FAILING, &device);
    read_slices(slices, sizeof slices);
    const int fewest = 4; // before any rung may have settled
    assert_true(strlen(slices) >= (size_t)(fewest * RUNGS));
    bool changed = false;
    for (int round = 0; round < fewest; round++) {
        const char *turn = slices + round * RUNGS;
        for (const char *letter = "abc"; *letter; letter++)
            if (!memchr(turn, *letter, RUNGS))
                fail_msg("'%c' has no turn in round %d of %s", *letter, round, slices);
        changed |= memcmp(turn, slices, RUNGS) != 0;
    }
    assert_true(changed);
    heddle_bench_close(bench);
    heddle_device_close(device);
}

static void a_wrong_rung_has_no_turn(void **state)
{
    (void)state;
    heddle_device *device;
    heddle_bench *bench = measure(WITHOUT_FAILING, &device);
    assert_null(strchr(strchr(logged, '['), 'z'));
    assert_int_equal(bench->results[2].state, HEDDLE_BENCH_WRONG);
    heddle_bench_close(bench);
    heddle_device_close(device);
}

static void all_are_checked_before_and_after_the_rounds(void **state)
{
    (void)state;
    heddle_device *device;
    heddle_bench *bench = measure(WITHOUT_FAILING, &device);
    assert_int_equal(strncmp(logged, "abzc", 4), 0);
    assert_string_equal(logged + logged_count - 3, "abc");
    heddle_bench_close(bench);
    heddle_device_close(device);
}

static void a_rung_that_fails_in_a_round_leaves_the_others_their_turns(void **state)
{
    (void)state;
    heddle_device *device;
    char slices[256];
    heddle_bench *bench = measure(WITH_FAILING, &device);
    read_slices(slices, sizeof slices);
    const heddle_bench_result *failed = &bench->results[WITH_FAILING - 1];
    assert_int_equal(failed->state, HEDDLE_BENCH_FAILED);
    assert_non_null(strstr(failed->message, "rung fails of add_forward at n=1000: no more turns"));
    assert_true(failed->timing.seconds == 0);
    const char *last = strrchr(slices, 'f');
    assert_non_null(last);
    for (const char *letter = "abc"; *letter; letter++)
        assert_non_null(strchr(last, *letter));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bench->results[i].state, HEDDLE_BENCH_RIGHT);
        assert_string_equal(bench->results[i].versus, "c");
        assert_true(bench->results[i].ratio > 0);
    }
    assert_true(bench->results[3].ratio == 1); // against itself
    heddle_bench_close(bench);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_round_has_each_rung_once),
        cmocka_unit_test(each_rung_follows_every_other_equally_often),
        cmocka_unit_test(two_rungs_swap_places_every_round),
        cmocka_unit_test(a_clock_that_changes_between_rounds_is_not_in_the_ratio),
        cmocka_unit_test(one_disturbed_round_is_not_in_the_ratio),
        cmocka_unit_test(without_a_common_round_there_is_no_ratio),
        cmocka_unit_test(medians_and_their_spread_are_those_of_the_values),
        cmocka_unit_test(right_rungs_are_timed_in_rounds_of_changing_order),
        cmocka_unit_test(a_wrong_rung_has_no_turn),
        cmocka_unit_test(all_are_checked_before_and_after_the_rounds),
        cmocka_unit_test(a_rung_that_fails_in_a_round_leaves_the_others_their_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
