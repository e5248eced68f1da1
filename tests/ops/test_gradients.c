// Every operator that has gradients: the reference gradients against central differences of the reference.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness.h"

static void gradients_match_central_differences(void **state)
{
    const heddle_op *op = *state;
    int compared = 0;
    for (int s = 0; op->test_shapes[s]; s++) {
        harness_report report = {.passed = true};
        if (!harness_check_gradients(op, op->test_shapes[s], harness_seed(), &report))
            fail_msg("%s", report.message);
        compared += report.comparisons;
    }
    assert_true(compared > 0);
}

int main(void)
{
    int count = 0;
    struct CMUnitTest *tests = calloc((size_t)heddle_op_count(), sizeof *tests);
    for (int i = 0; i < heddle_op_count(); i++)
        if (heddle_op_at(i)->gradients)
            tests[count++] = (struct CMUnitTest){.name = heddle_op_at(i)->name,
                                                 .test_func = gradients_match_central_differences,
                                                 .initial_state = (void *)heddle_op_at(i)};
    int failed = count == 0 ? 1 : _cmocka_run_group_tests("gradients", tests, (size_t)count, NULL, NULL);
    free(tests);
    return failed;
}
