// Checking and timing by a table of the tests' own: right rungs get figures, wrong ones of every kind are found and get
// none.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "bench/shrink.h"
#include "heddle/ops.h"
#include "own_bench.h"

static void assert_message(const heddle_bench_result *result, const char *const *parts)
{
    for (; *parts; parts++)
        if (!strstr(result->message, *parts))
            fail_msg("'%s' is not in: %s", *parts, result->message);
}

static void assert_changes(const char *rung, const char *first, const char *second)
{
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *result = own_bench_measure(&on, rung);
    assert_int_equal(result->state, HEDDLE_BENCH_WRONG);
    assert_true(result->timing.seconds == 0);
    const char *const parts[] = {rung, "n=100003", "it changed", first, second, NULL};
    assert_message(result, parts);
    own_bench_close(&on);
}

static void assert_wrong(const char *rung, const char *first, const char *second)
{
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *result = own_bench_measure(&on, rung);
    assert_int_equal(result->state, HEDDLE_BENCH_WRONG);
    assert_true(heddle_bench_found_wrong(on.bench));
    assert_true(result->timing.seconds == 0); // no number for a result that is wrong
    assert_true(isnan(result->flops_per_second) && isnan(result->roofline) && isnan(result->ratio));
    const char *const parts[] = {rung, "n=100003", "'output'", "expected", "allowed", first, second, NULL};
    assert_message(result, parts);
    own_bench_close(&on);
}

// --- tests -----------------------------------------------------------------------------------------------------------

static void a_right_rung_has_times_in_order(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *result = own_bench_measure(&on, "right");
    assert_string_equal(result->message, "");
    assert_int_equal(result->state, HEDDLE_BENCH_RIGHT);
    assert_true(result->timing.seconds > 0 && result->timing.back_to_back > 0);
    assert_true(result->timing.low <= result->timing.seconds && result->timing.seconds <= result->timing.high);
    assert_true(result->timing.launches >= 3);
    assert_true(result->worst_share <= 1);
    assert_true(on.bench->copy_bandwidth > 1e8);
    assert_string_equal(result->bound, "memory");
    assert_true(result->roofline > 0);
    assert_false(heddle_bench_found_wrong(on.bench));
    own_bench_close(&on);
}

static void one_wrong_element_is_found_and_named(void **state)
{
    (void)state;
    assert_wrong("one_wrong", "element 70001 of", "off by");
}

static void zeros_are_found(void **state)
{
    (void)state;
    assert_wrong("zeros", "element 0 of", "is 0,");
}

static void not_a_number_is_found(void **state)
{
    (void)state;
    assert_wrong("not_a_number", "element 0 of", "nan");
}

static void a_skipped_last_element_is_found(void **state)
{
    (void)state;
    assert_wrong("skips_the_last", "element 100002 of", "nan");
}

static void an_output_that_is_not_written_is_found(void **state)
{
    (void)state;
    assert_wrong("writes_nothing", "element 0 of", "nan");
}

static void a_result_kept_from_an_earlier_call_is_found_after_the_timing(void **state)
{
    (void)state;
    assert_wrong("keeps_the_result", "element 0 of", "after the timing");
}

static void an_input_that_is_changed_is_found(void **state)
{
    (void)state;
    assert_changes("changes_an_input", "element 70001 of 'b'", "an input");
}

static void a_store_behind_the_end_is_found(void **state)
{
    (void)state;
    assert_changes("writes_beyond_the_end", "element 100003 of 'output'", "past the operand's end");
}

// --- a long sum, whose rounding errors would hide what it leaves out

enum { LONG = 1 << 24 };

static heddle_status sum_of(const heddle_call *call, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += ((const float *)call->input[0])[i];
    *(float *)call->output[0] = (float)sum;
    return HEDDLE_OK;
}

static heddle_status sum_of_all(const heddle_call *call)
{
    return sum_of(call, own_elements(call));
}

static heddle_status sum_of_all_but_the_last(const heddle_call *call)
{
    return sum_of(call, own_elements(call) - 1);
}

// In float32 and one by one, as an atomic does: as far off as an honest rung may be.
static heddle_status sum_one_by_one(const heddle_call *call)
{
    volatile float sum = 0;
    for (int i = 0; i < own_elements(call); i++)
        sum += ((const float *)call->input[0])[i];
    *(float *)call->output[0] = sum;
    return HEDDLE_OK;
}

static void a_long_sum_that_leaves_out_one_element_is_found(void **state)
{
    (void)state;
    static const heddle_rung sums[] = {
        {"all", HEDDLE_CPU, HEDDLE_NAIVE, sum_of_all, "", NULL, NULL},
        {"one_by_one", HEDDLE_CPU, HEDDLE_NAIVE, sum_one_by_one, "", NULL, NULL},
        {"all_but_the_last", HEDDLE_CPU, HEDDLE_NAIVE, sum_of_all_but_the_last, "", NULL, NULL},
    };
    const heddle_op *sum_forward;
    own_bench on;
    char text[32];
    own_bench_open(&on, &own_bench_quick);
    assert_ok(heddle_op_find("sum_forward", &sum_forward));
    heddle_op op = *sum_forward;
    op.ladder = sums;
    op.rungs = sizeof sums / sizeof *sums;
    snprintf(text, sizeof text, "n=%d", LONG);
    assert_ok(heddle_bench_measure(on.bench, &op, text, NULL));
    assert_string_equal(own_bench_find(on.bench, "all")->message, "");
    assert_string_equal(own_bench_find(on.bench, "one_by_one")->message, "");
    assert_int_equal(own_bench_find(on.bench, "all_but_the_last")->state, HEDDLE_BENCH_WRONG);
    own_bench_close(&on);
}

static void a_failing_rung_does_not_stop_the_others(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    assert_ok(heddle_bench_measure(on.bench, &on.op, own_bench_shape, NULL));
    heddle_bench_conclude(on.bench);
    const heddle_bench_result *failed = own_bench_find(on.bench, "fails");
    assert_int_equal(failed->state, HEDDLE_BENCH_FAILED);
    assert_non_null(strstr(failed->message, "the card is on fire"));
    assert_int_equal(own_bench_find(on.bench, "unsupported")->state, HEDDLE_BENCH_NOT_RUN);
    assert_string_equal(own_bench_find(on.bench, "unsupported")->message, "unsupported: does not support this shape");
    assert_int_equal(own_bench_find(on.bench, "theirs")->state, HEDDLE_BENCH_RIGHT);
    assert_int_equal(on.bench->count, on.op.rungs);
    own_bench_close(&on);
}

static void a_rung_that_does_not_fit_is_not_run_unless_it_is_asked_for(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    heddle_rung pair[] = {*own_rungs, *own_rungs};
    for (int i = 0; i < on.op.rungs; i++)
        if (strcmp(own_rungs[i].name, "too_large") == 0)
            pair[1] = own_rungs[i];
    on.op.ladder = pair;
    on.op.rungs = 2;
    assert_ok(heddle_bench_measure(on.bench, &on.op, own_bench_shape, NULL));
    const heddle_bench_result *result = own_bench_find(on.bench, "too_large");
    assert_int_equal(result->state, HEDDLE_BENCH_NOT_RUN);
    assert_non_null(strstr(result->message, " of workspace, the device has "));
    assert_true(result->timing.seconds == 0);
    assert_int_equal(own_bench_find(on.bench, pair[0].name)->state, HEDDLE_BENCH_RIGHT);
    assert_false(heddle_bench_found_wrong(on.bench));
    char shown[4096] = "";
    FILE *file = fmemopen(shown, sizeof shown, "w");
    assert_ok(heddle_bench_show_text(on.bench, 0, on.bench->count, file));
    fclose(file);
    assert_non_null(strstr(shown, "not run: too_large needs "));

    on.bench->count = 0;
    assert_ok(heddle_bench_measure(on.bench, &on.op, own_bench_shape, "too_large"));
    assert_int_equal(own_bench_find(on.bench, "too_large")->state, HEDDLE_BENCH_FAILED);
    assert_true(heddle_bench_found_wrong(on.bench));
    own_bench_close(&on);
}

static heddle_status takes_long(const heddle_call *call)
{
    own_add(call);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return HEDDLE_OK;
}

static void a_launch_that_takes_long_is_timed_once(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.slow = 0.04;
    own_bench_open(&on, &options);
    const heddle_rung pair[] = {{"takes_long", HEDDLE_CPU, HEDDLE_TUNED, takes_long, "", NULL, NULL},
                                {"theirs", HEDDLE_CPU, HEDDLE_VENDOR, own_add, "", NULL, NULL}};
    on.op.ladder = pair;
    on.op.rungs = 2;
    const heddle_bench_result *result = own_bench_measure(&on, "takes_long"),
                              *vendor = own_bench_find(on.bench, "theirs");
    assert_int_equal(result->state, HEDDLE_BENCH_RIGHT);
    assert_int_equal(result->timing.launches, 1);
    assert_true(result->timing.seconds >= 0.05 && result->timing.low == result->timing.high);
    assert_true(result->ratio == vendor->timing.seconds / result->timing.seconds);
    own_bench_close(&on);
}

static heddle_status takes_longer_the_more_there_is(const heddle_call *call)
{
    own_add(call);
    nanosleep(&(struct timespec){.tv_nsec = own_elements(call) / 10}, NULL); // 10^10 elements a second
    return HEDDLE_OK;
}

static void a_rung_that_would_take_minutes_is_left_out(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.slow = 0.001;
    own_bench_open(&on, &options);
    const heddle_rung ours[] = {
        {"takes_longer", HEDDLE_CPU, HEDDLE_TUNED, takes_longer_the_more_there_is, "", NULL, NULL},
    };
    on.op.ladder = ours;
    on.op.rungs = 1;
    assert_ok(heddle_bench_measure(on.bench, &on.op, "n=2000000", NULL)); // 0.2 s, where 0.01 is the most
    assert_int_equal(own_bench_find(on.bench, "takes_longer")->state, HEDDLE_BENCH_NOT_RUN);
    assert_non_null(strstr(own_bench_find(on.bench, "takes_longer")->message, "takes_longer would take about "));
    on.bench->count = 0;
    assert_int_equal(own_bench_measure(&on, "takes_longer")->state, HEDDLE_BENCH_RIGHT); // asked for by name
    own_bench_close(&on);
}

static heddle_status is_disturbed_once(const heddle_call *call)
{
    static bool disturbed;
    if (!disturbed)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    disturbed = true;
    return own_add(call);
}

static void one_slow_launch_leaves_no_rung_out(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.slow = 0.1; // 0.5 s is the most: 5 s by the launch that is disturbed, some milliseconds by the others
    own_bench_open(&on, &options);
    const heddle_rung ours[] = {{"disturbed", HEDDLE_CPU, HEDDLE_TUNED, is_disturbed_once, "", NULL, NULL}};
    on.op.ladder = ours;
    on.op.rungs = 1;
    assert_ok(heddle_bench_measure(on.bench, &on.op, "n=2000000", NULL));
    assert_int_equal(own_bench_find(on.bench, "disturbed")->state, HEDDLE_BENCH_RIGHT);
    own_bench_close(&on);
}

static void shapes_are_halved_until_they_fit(void **state)
{
    (void)state;
    const heddle_op *matmul;
    char text[HEDDLE_BENCH_TEXT];
    assert_ok(heddle_op_find("matmul_forward", &matmul));
    const heddle_bench_budget budget = {2.2e9, 1e9};
    assert_ok(heddle_bench_shrink(matmul, "m=8192 n=1024 k=2048 beta=1", &budget, text, sizeof text));
    assert_string_equal(text, "m=1024 n=1024 k=1024 beta=1");
    assert_ok(heddle_bench_shrink(matmul, "m=7 n=8 k=9", &budget, text, sizeof text));
    assert_string_equal(text, "m=7 n=8 k=9");
    assert_ok(heddle_bench_shrink(matmul, "m=7 n=8 k=9", &(heddle_bench_budget){0, 0}, text, sizeof text));
    assert_string_equal(text, "m=1 n=1 k=1"); // nothing is smaller
    assert_int_equal(heddle_bench_shrink(matmul, "m=7", &budget, text, sizeof text), HEDDLE_INVALID);
}

static void a_vendors_wrong_result_is_told_but_fails_nothing(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *result = own_bench_measure(&on, "theirs_wrong");
    assert_int_equal(result->state, HEDDLE_BENCH_WRONG);
    assert_non_null(strstr(result->message, "is wrong at"));
    assert_false(heddle_bench_found_wrong(on.bench));
    own_bench_close(&on);
}

static void rungs_are_compared_with_the_vendors_of_their_precision(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *right_one = own_bench_measure(&on, "right"); // brings the vendor's with it
    const heddle_bench_result *vendor = own_bench_find(on.bench, "theirs");
    assert_string_equal(right_one->versus, "theirs");
    assert_true(right_one->ratio > 0 && vendor->ratio == 1);
    assert_true(right_one->best_own && !vendor->best_own);
    assert_int_equal(on.bench->count, 2);
    own_bench_close(&on);
}

static void fp32_class_is_compared_with_the_vendors_float32(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    const heddle_bench_result *in_parts = own_bench_measure(&on, "in_parts"); // brings the vendor's with it
    assert_string_equal(in_parts->precision, "tf32x3");
    assert_string_equal(in_parts->versus, "theirs");
    assert_true(in_parts->ratio > 0 && in_parts->best_own);
    assert_int_equal(on.bench->count, 2);
    own_bench_close(&on);
}

static void against_names_another_rung(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.against = "right_and_slow";
    own_bench_open(&on, &options);
    const heddle_bench_result *result = own_bench_measure(&on, "right");
    assert_string_equal(result->versus, "right_and_slow");
    assert_int_equal(on.bench->count, 2);
    own_bench_close(&on);
}

static void few_bits_are_allowed_only_where_the_rung_says_so(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.precision = "tf32";
    own_bench_open(&on, &options);
    const heddle_bench_result *result =
        own_bench_measure(&on, "rounded"); // wrong by 1e-4, which is within tf32's 2^-11
    assert_int_equal(result->state, HEDDLE_BENCH_RIGHT);
    assert_string_equal(result->precision, "tf32");
    assert_int_equal(on.bench->count, 1);
    assert_null(result->versus); // no vendor's rung in tf32
    own_bench_close(&on);
}

static void a_shape_without_a_reference_gets_no_number(void **state)
{
    (void)state;
    own_bench on;
    const heddle_op *matmul;
    assert_ok(heddle_op_find("matmul_forward", &matmul));
    own_bench_open(&on, &own_bench_quick);
    heddle_op op = *matmul;
    op.ladder = own_rungs; // nothing of it is run
    op.rungs = 1;
    assert_ok(heddle_bench_measure(on.bench, &op, "m=4096 n=4096 k=4096", NULL));
    heddle_bench_conclude(on.bench);
    assert_int_equal(on.bench->count, 1);
    assert_int_equal(on.bench->results[0].state, HEDDLE_BENCH_UNCHECKED);
    assert_non_null(strstr(on.bench->results[0].message, "not checked: shape too large for the reference"));
    assert_true(on.bench->results[0].timing.seconds == 0);
    assert_false(heddle_bench_found_wrong(on.bench));
    own_bench_close(&on);
}

static void no_elements_prove_nothing(void **state)
{
    (void)state;
    own_bench on;
    own_bench_open(&on, &own_bench_quick);
    assert_ok(heddle_bench_measure(on.bench, &on.op, "n=0", "right"));
    assert_int_equal(own_bench_find(on.bench, "right")->state, HEDDLE_BENCH_UNCHECKED);
    assert_true(own_bench_find(on.bench, "right")->timing.seconds == 0);
    assert_non_null(
        strstr(own_bench_find(on.bench, "right")->message, "not checked: at this shape there is nothing to compute"));
    own_bench_close(&on);
}

static volatile sig_atomic_t stop_now;

static void stop_when_timing(void *context, const char *text)
{
    (void)context;
    if (strstr(text, "n=1009: timing, round 2"))
        stop_now = 1;
}

static void a_stop_keeps_what_was_measured(void **state)
{
    (void)state;
    own_bench on;
    heddle_bench_options options = own_bench_quick;
    options.stop = &stop_now;
    options.listener = stop_when_timing;
    own_bench_open(&on, &options);
    assert_ok(heddle_bench_measure(on.bench, &on.op, own_bench_shape, "right"));
    assert_int_equal(on.bench->count, 2);
    assert_int_equal(heddle_bench_measure(on.bench, &on.op, "n=1009", NULL), HEDDLE_INTERRUPTED);
    for (int i = 0; i < on.bench->count; i++) // those that were being timed are not told, what is wrong is
        assert_true(i < 2 || on.bench->results[i].state != HEDDLE_BENCH_RIGHT);
    assert_non_null(own_bench_find(on.bench, "zeros"));
    int count = on.bench->count;
    assert_int_equal(heddle_bench_measure(on.bench, &on.op, own_bench_shape, "right"), HEDDLE_INTERRUPTED);
    assert_int_equal(on.bench->count, count);
    own_bench_close(&on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_rung_has_times_in_order),
        cmocka_unit_test(one_wrong_element_is_found_and_named),
        cmocka_unit_test(zeros_are_found),
        cmocka_unit_test(not_a_number_is_found),
        cmocka_unit_test(a_skipped_last_element_is_found),
        cmocka_unit_test(an_output_that_is_not_written_is_found),
        cmocka_unit_test(a_result_kept_from_an_earlier_call_is_found_after_the_timing),
        cmocka_unit_test(an_input_that_is_changed_is_found),
        cmocka_unit_test(a_store_behind_the_end_is_found),
        cmocka_unit_test(a_long_sum_that_leaves_out_one_element_is_found),
        cmocka_unit_test(a_failing_rung_does_not_stop_the_others),
        cmocka_unit_test(a_rung_that_does_not_fit_is_not_run_unless_it_is_asked_for),
        cmocka_unit_test(a_launch_that_takes_long_is_timed_once),
        cmocka_unit_test(a_rung_that_would_take_minutes_is_left_out),
        cmocka_unit_test(one_slow_launch_leaves_no_rung_out),
        cmocka_unit_test(shapes_are_halved_until_they_fit),
        cmocka_unit_test(a_vendors_wrong_result_is_told_but_fails_nothing),
        cmocka_unit_test(rungs_are_compared_with_the_vendors_of_their_precision),
        cmocka_unit_test(fp32_class_is_compared_with_the_vendors_float32),
        cmocka_unit_test(against_names_another_rung),
        cmocka_unit_test(few_bits_are_allowed_only_where_the_rung_says_so),
        cmocka_unit_test(a_shape_without_a_reference_gets_no_number),
        cmocka_unit_test(no_elements_prove_nothing),
        cmocka_unit_test(a_stop_keeps_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
