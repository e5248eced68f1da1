// The convolution rungs once more with the inner loops that run on every machine: what test_ladders does with the best
// build this machine has, this does with the plainest.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "ops/cpu/kernels.h"

static void the_environment_chooses_the_build(void **state)
{
    (void)state;
    assert_string_equal(heddle_cpu_kernels_best()->name, "generic");
}

static void check_family(const char *ladder_name)
{
    int compared = 0;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        for (int s = 0; strcmp(op->ladder_name, ladder_name) == 0 && op->test_shapes[s]; s++) {
            harness_report report = {.passed = true};
            if (!harness_check_ladder(op, harness_forward_of(op), op->test_shapes[s], harness_seed(), &report))
                fail_msg("%s", report.message);
            compared += report.comparisons;
        }
    }
    assert_true(compared > 0);
}

static void conv_block_is_right(void **state)
{
    (void)state;
    check_family("conv_block");
}

static void stem_block_is_right(void **state)
{
    (void)state;
    check_family("stem_block");
}

static void conv2d_is_right(void **state)
{
    (void)state;
    check_family("conv2d");
}

int main(void)
{
    // Before anything asks for the kernels: the choice is made once.
    setenv("HEDDLE_SIMD", "generic", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_chooses_the_build),
        cmocka_unit_test(conv_block_is_right),
        cmocka_unit_test(stem_block_is_right),
        cmocka_unit_test(conv2d_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
