// Around what may take long the caller is told, so that it can go on without: the reference and every launch run while
// it is away, and what is final by then stays.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "heddle/ops.h"
#include "own_rungs.h"

#define assert_ok(call) assert_string_equal((call) == HEDDLE_OK ? "ok" : heddle_last_error(), "ok")

static bool is_away;
static int references, launches, inside; // inside: of both, those while it was away
static const heddle_op *add_forward;

static void tell_away(void *context, bool away)
{
    (void)context;
    assert_true(is_away != away);
    is_away = away;
}

static void counting_reference(const void *shape, const double *const *input, double *const *output)
{
    __atomic_fetch_add(&references, 1, __ATOMIC_RELAXED); // of both sets at once
    __atomic_fetch_add(&inside, is_away, __ATOMIC_RELAXED);
    add_forward->reference(shape, input, output);
}

static heddle_status counting_add(const heddle_call *call)
{
    launches++;
    inside += is_away;
    return own_add(call);
}

// The bench as it is while the rung is checked that is on its way: only what is final is left of it then.
static heddle_bench *in_the_middle;
static char left[HEDDLE_BENCH_TEXT];

static heddle_status abandoned_add(const heddle_call *call)
{
    static bool done;
    if (!done) { // on a copy, as this one does go on
        heddle_bench copy = *in_the_middle;
        heddle_bench_result results[8];
        assert_true(copy.count <= 8);
        memcpy(results, copy.results, (size_t)copy.count * sizeof *results);
        heddle_bench_abandon(in_the_middle);
        for (int i = 0; i < in_the_middle->count; i++) {
            strcat(left, in_the_middle->results[i].rung->name);
            strcat(left, " ");
        }
        in_the_middle->count = copy.count;
        memcpy(in_the_middle->results, results, (size_t)copy.count * sizeof *results);
        done = true;
    }
    return own_add(call);
}

static heddle_status add_nothing(const heddle_call *call)
{
    (void)call;
    return HEDDLE_OK;
}

static void measure(const heddle_rung *rungs, int count)
{
    const heddle_bench_options options = {.seed = 7, .seconds = 0.01, .away = tell_away};
    heddle_device *device;
    heddle_bench *bench;
    assert_ok(heddle_op_find("add_forward", &add_forward));
    heddle_op op = *add_forward;
    op.reference = counting_reference;
    op.ladder = rungs;
    op.rungs = count;
    assert_ok(heddle_device_open("cpu", 2, &device));
    assert_ok(heddle_bench_open(device, &options, &bench));
    in_the_middle = bench;
    references = launches = inside = 0;
    assert_ok(heddle_bench_measure(bench, &op, "n=1003", NULL));
    assert_false(is_away);
    assert_int_equal(bench->count, count);
    heddle_bench_close(bench);
    heddle_device_close(device);
}

static void references_and_launches_are_away(void **state)
{
    (void)state;
    static const heddle_rung rungs[] = {{"counting", HEDDLE_CPU, HEDDLE_TUNED, counting_add}};
    measure(rungs, 1);
    assert_true(references >= 2); // one for each set of inputs
    assert_true(launches >= 3);   // checked, timed, checked again
    assert_int_equal(inside, references + launches);
}

static void what_is_abandoned_keeps_what_is_final(void **state)
{
    (void)state;
    static const heddle_rung rungs[] = {
        {"right", HEDDLE_CPU, HEDDLE_TUNED, own_add},
        {"wrong", HEDDLE_CPU, HEDDLE_TUNED, add_nothing},
        {"abandoned", HEDDLE_CPU, HEDDLE_TUNED, abandoned_add},
    };
    measure(rungs, 3);
    assert_string_equal(left, "wrong "); // the right one was not yet checked again
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_and_launches_are_away),
        cmocka_unit_test(what_is_abandoned_keeps_what_is_final),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
