// Broken rungs must fail on sim: what the simulator finds comes back as a status and a message that names the line.
// Runs with a module that has the rungs of faulty.cu in it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"

// The harness on one rung of faulty.cu by itself.
static harness_report check(const char *name)
{
    const heddle_op *add;
    assert_int_equal(heddle_op_find("add_forward", &add), HEDDLE_OK);
    const heddle_rung rung = {
        .name = name, .device = HEDDLE_CUDA, .tier = HEDDLE_NAIVE, .note = "a rung of the tests' own"};
    heddle_op op = *add;
    op.ladder = &rung;
    op.rungs = 1;
    op.gradients = NULL;
    harness_report report = {.passed = true};
    report.passed = harness_check_ladder(&op, NULL, "n=517", harness_seed(), &report);
    return report;
}

static void assert_caught(const char *rung, const char *first, const char *second)
{
    harness_report report = check(rung);
    assert_false(report.passed);
    if (!strstr(report.message, first) || !strstr(report.message, second))
        fail_msg("'%s' and '%s' are not both in: %s", first, second, report.message);
}

// The line of faulty.cu that has `text`, as the simulator writes it.
static void place_of(const char *text, char *place, size_t size)
{
    char line[256];
    int number = 0, found = 0;
    FILE *file = fopen(HEDDLE_SOURCE_DIR "/tests/ops/faulty.cu", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        number++;
        if (strstr(line, text))
            found = number;
    }
    fclose(file);
    assert_true(found > 0);
    snprintf(place, size, "faulty.cu:%d", found);
}

static void a_right_rung_passes(void **state)
{
    (void)state;
    harness_report report = check("right");
    if (!report.passed)
        fail_msg("%s", report.message);
    assert_true(report.comparisons > 0);
}

static void a_race_in_global_memory_fails_the_call(void **state)
{
    (void)state;
    char place[32];
    place_of("// the race", place, sizeof place);
    assert_caught("racy", "the simulator found: race in ", place);
}

static void a_race_in_shared_memory_fails_the_call(void **state)
{
    (void)state;
    char place[32];
    place_of("// without __syncthreads()", place, sizeof place);
    assert_caught("no_barrier", "the simulator found: race in ", place);
}

static void a_finding_is_told_again_when_it_happens_again(void **state)
{
    (void)state;
    assert_caught("racy", "the simulator found: race", "faulty.cu");
    assert_caught("racy", "the simulator found: race", "faulty.cu");
    harness_report report = check("right"); // and only then
    if (!report.passed)
        fail_msg("%s", report.message);
}

static void a_wrong_value_is_caught_by_the_reference(void **state)
{
    (void)state;
    harness_report report = check("one_wrong");
    assert_false(report.passed);
    assert_null(strstr(report.message, "the simulator found"));
}

static void a_launch_that_no_card_can_do_is_refused(void **state)
{
    (void)state;
    assert_caught("too_wide", "could not be launched", "cudaErrorInvalidConfiguration");
}

static void a_rung_that_the_module_lacks_is_named(void **state)
{
    (void)state;
    assert_caught("nobody", "rung nobody is not in this build's sim module", "add_forward");
}

// Last: as on a GPU, nothing runs after it.
static void a_stray_access_fails_the_call(void **state)
{
    (void)state;
    char place[32];
    place_of("// the stray access", place, sizeof place);
    assert_caught("out_of_bounds", "the simulator found: out-of-bounds in ", place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_rung_passes),
        cmocka_unit_test(a_race_in_global_memory_fails_the_call),
        cmocka_unit_test(a_race_in_shared_memory_fails_the_call),
        cmocka_unit_test(a_finding_is_told_again_when_it_happens_again),
        cmocka_unit_test(a_wrong_value_is_caught_by_the_reference),
        cmocka_unit_test(a_launch_that_no_card_can_do_is_refused),
        cmocka_unit_test(a_rung_that_the_module_lacks_is_named),
        cmocka_unit_test(a_stray_access_fails_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
