// Every rung of every operator for the device under test, on every test shape, against the float64 reference; and every
// pair of a forward and a backward rung. A rung that is the reference itself is held to everything else: guards,
// threads, alignment. Values of such references: test_cnn_step_reference.c, test_gradients.c, the devices' rungs.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness.h"

static void every_rung_matches_the_reference(void **state)
{
    const heddle_op *op = *state;
    const heddle_op *forward = harness_forward_of(op);
    harness_report report = {.passed = true};
    assert_in_range(op->rungs, 1, HARNESS_RUNGS);
    for (int s = 0; op->test_shapes[s]; s++)
        if (!harness_check_ladder(op, forward, op->test_shapes[s], harness_seed(), &report))
            fail_msg("%s", report.message);
    for (int r = 0; r < op->rungs; r++)
        if (harness_runs(&op->ladder[r]) && !report.reached[r])
            fail_msg("%s: no test shape reaches rung %s", op->name, op->ladder[r].name);
    if (!harness_compares(op))
        print_message("note: %s has only its reference on this device: its values are not compared\n", op->name);
    for (int i = 0; harness_compares(op) && i < op->operand_count; i++)
        if (op->operands[i].role != HEDDLE_INPUT && !op->operands[i].saved && !report.telling[i])
            print_message("note: '%s' of %s is zero on every test shape\n", op->operands[i].name, op->name);
}

static void every_backward_rung_follows_every_forward_rung(void **state)
{
    const heddle_op *backward = *state;
    const heddle_op *forward = harness_forward_of(backward);
    harness_report report = {.passed = true};
    for (int s = 0; forward->test_shapes[s]; s++)
        if (!harness_check_pairs(forward, backward, forward->test_shapes[s], harness_seed(), &report))
            fail_msg("%s", report.message);
    assert_true(report.comparisons > 0);
}

static char *name_of(const char *op, const char *behaviour)
{
    char *name = malloc(128);
    snprintf(name, 128, "%s: %s", op, behaviour);
    return name;
}

// With an argument, only the tests whose names it fits: "matmul_*"; with a minus before it, only the others.
int main(int argc, char **argv)
{
    int count = 0;
    if (argc > 1 && argv[1][0] == '-')
        cmocka_set_skip_filter(argv[1] + 1);
    else if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    struct CMUnitTest *tests = calloc((size_t)heddle_op_count() * 2, sizeof *tests);
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i), *forward = harness_forward_of(op);
        if (!harness_has_rung(op))
            continue;
        tests[count++] = (struct CMUnitTest){.name = name_of(op->name, "every rung matches the reference"),
                                             .test_func = every_rung_matches_the_reference,
                                             .initial_state = (void *)op};
        if (forward && harness_reads_saved(op) && harness_has_rung(forward) && harness_compares(op))
            tests[count++] = (struct CMUnitTest){.name = name_of(op->name, "every rung follows every forward rung"),
                                                 .test_func = every_backward_rung_follows_every_forward_rung,
                                                 .initial_state = (void *)op};
    }
    int failed = _cmocka_run_group_tests("ladders", tests, (size_t)count, NULL, NULL);
    for (int i = 0; i < count; i++)
        free((char *)tests[i].name);
    free(tests);
    return failed;
}
