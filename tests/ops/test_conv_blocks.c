// What the fused convolution blocks do at the corners that random values do not reach: filters of zeros, a scale of
// zero, ties, NaN, shapes that make no sense.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "heddle/ops.h"
#include "heddle/random.h"
#include "ops/stem_block/stem_block.h"

static const heddle_op *const forwards[] = {&heddle_op_conv_block_forward, &heddle_op_stem_block_forward};
static const heddle_op *const inferences[] = {&heddle_op_conv_block_inference, &heddle_op_stem_block_inference};

// An operator's call with every operand in memory, inputs drawn from a fixed seed.
typedef struct block_call {
    const heddle_op *op;
    heddle_conv_block_shape shape;
    harness_values values;
    harness_memory memory;
} block_call;

static void prepare(block_call *block, const heddle_op *op, const char *shape)
{
    *block = (block_call){.op = op};
    assert_int_equal(heddle_shape_parse(op, shape, &block->shape), HEDDLE_OK);
    harness_values_create(&block->values, op, &block->shape);
    harness_values_draw(&block->values, 1);
    harness_values_round(&block->values);
}

static void set(block_call *block, const char *operand, double value)
{
    double *values = harness_values_find(&block->values, operand);
    int index = heddle_operand_find(block->op, operand);
    for (size_t i = 0; i < block->values.elements[index]; i++)
        values[i] = value;
}

static void run(block_call *block, const heddle_rung *rung)
{
    harness_memory_create(&block->memory, &block->values, rung, 1, 0);
    assert_int_equal(harness_launch(block->op, rung, &block->memory.call), HEDDLE_OK);
}

static const void *data(const block_call *block, const char *operand)
{
    return harness_memory_data(&block->memory, heddle_operand_find(block->op, operand));
}

static size_t elements(const block_call *block, const char *operand)
{
    return block->values.elements[heddle_operand_find(block->op, operand)];
}

// --- ties and zeros -------------------------------------------------------------------------------------------------

// The whole output and code of every forward rung when every normalised value is `beta`.
static void check_constant(const char *zeroed, double beta, double output, int code)
{
    for (size_t f = 0; f < sizeof forwards / sizeof *forwards; f++)
        for (int r = 0; r < forwards[f]->rungs; r++) {
            if (!harness_runs(&forwards[f]->ladder[r]))
                continue;
            block_call block;
            prepare(&block, forwards[f], "n=2 c=2 h=7 w=6 k=18");
            set(&block, zeroed, 0);
            set(&block, "beta", beta);
            run(&block, &forwards[f]->ladder[r]);
            const float *outputs = data(&block, "output");
            const uint8_t *codes = data(&block, "code");
            for (size_t i = 0; i < elements(&block, "output"); i++) {
                assert_true((double)outputs[i] == output);
                assert_int_equal(codes[i], code);
            }
            harness_memory_destroy(&block.memory);
            harness_values_destroy(&block.values);
        }
}

static void the_first_of_equal_values_wins(void **state)
{
    (void)state;
    check_constant("weight", 1.5, 1.5, 0);
    check_constant("gamma", 1.5, 1.5, 0);
}

static void nothing_wins_where_relu_lets_nothing_through(void **state)
{
    (void)state;
    check_constant("weight", -1.5, 0, HEDDLE_CONV_BLOCK_NO_WINNER);
    check_constant("gamma", 0, 0, HEDDLE_CONV_BLOCK_NO_WINNER);
}

// --- NaN
// --------------------------------------------------------------------------------------------------------------

static void a_nan_in_a_batch_is_in_every_output_of_training(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof forwards / sizeof *forwards; f++)
        for (int r = 0; r < forwards[f]->rungs; r++) {
            if (!harness_runs(&forwards[f]->ladder[r]))
                continue;
            block_call block;
            prepare(&block, forwards[f], "n=2 c=2 h=6 w=6 k=5");
            harness_values_find(&block.values, "input")[9] = NAN;
            run(&block, &forwards[f]->ladder[r]);
            harness_values_reference(&block.values);
            const float *outputs = data(&block, "output");
            const double *expected = harness_values_find(&block.values, "output");
            for (size_t i = 0; i < elements(&block, "output"); i++)
                assert_true(isnan(outputs[i]) && isnan(expected[i]));
            harness_memory_destroy(&block.memory);
            harness_values_destroy(&block.values);
        }
}

static void a_nan_in_an_image_is_in_the_windows_that_see_it(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof inferences / sizeof *inferences; f++)
        for (int r = 0; r < inferences[f]->rungs; r++) {
            if (!harness_runs(&inferences[f]->ladder[r]))
                continue;
            block_call block;
            prepare(&block, inferences[f], "n=2 c=1 h=8 w=8 k=5");
            harness_values_find(&block.values, "input")[2 * 8 + 2] = NAN; // image 0, row 2, column 2
            run(&block, &inferences[f]->ladder[r]);
            harness_values_reference(&block.values);
            const float *outputs = data(&block, "output"); // (2, 5, 4, 4)
            const double *expected = harness_values_find(&block.values, "output");
            for (int i = 0; i < 2 * 5 * 16; i++) {
                int image = i / 80, y = i / 4 % 4, x = i % 4;
                bool sees = image == 0 && y <= 1 && x <= 1;
                assert_int_equal(isnan(expected[i]) != 0, sees);
                if (sees)
                    assert_true(isnan(outputs[i]));
                else if (image == 1 || y >= 3 || x >= 3) // a tile's neighbours may be touched by its transform
                    assert_false(isnan(outputs[i]));
            }
            harness_memory_destroy(&block.memory);
            harness_values_destroy(&block.values);
        }
}

// --- filters that cancel --------------------------------------------------------------------------------------------

// A second difference both ways leaves 10⁻⁷ of a smooth image's products: moments that are off by one part in 10⁶
// would give a multiple of the variance. The products themselves are rounded to floats, which leaves 2 % with NEON and
// 5 % with AVX-512.
static void statistics_survive_a_filter_that_cancels(void **state)
{
    (void)state;
    enum { SIDE = 28 };
    const double filter[HEDDLE_CONV_BLOCK_TAPS] = {1, -2, 1, -2, 4, -2, 1, -2, 1}, spread = 16;
    for (size_t f = 0; f < sizeof forwards / sizeof *forwards; f++)
        for (int r = 0; r < forwards[f]->rungs; r++) {
            if (!harness_runs(&forwards[f]->ladder[r]))
                continue;
            block_call block;
            prepare(&block, forwards[f], "n=1 c=1 h=28 w=28 k=1 momentum=1");
            double *input = harness_values_find(&block.values, "input");
            for (int i = 0; i < SIDE * SIDE; i++) {
                double y = i / SIDE - SIDE / 2 + 0.5, x = i % SIDE - SIDE / 2 + 0.5;
                input[i] = 255 * exp(-(y * y + x * x) / (2 * spread));
            }
            memcpy(harness_values_find(&block.values, "weight"), filter, sizeof filter);
            harness_values_round(&block.values);
            run(&block, &forwards[f]->ladder[r]);
            harness_values_reference(&block.values);
            double got = (double)*(const float *)data(&block, "running_var");
            double expected = *harness_values_find(&block.values, "running_var");
            if (!(fabs(got - expected) <= 0.1 * expected))
                fail_msg("%s, rung %s: variance %g, expected %g", block.op->name, forwards[f]->ladder[r].name, got,
                         expected);
            harness_memory_destroy(&block.memory);
            harness_values_destroy(&block.values);
        }
}

// --- shapes ---------------------------------------------------------------------------------------------------------

static void expect_invalid(const heddle_op *op, const char *shape, const char *says)
{
    heddle_conv_block_shape parsed;
    assert_int_equal(heddle_shape_parse(op, shape, &parsed), HEDDLE_INVALID);
    if (!strstr(heddle_last_error(), says))
        fail_msg("'%s' does not say '%s'", heddle_last_error(), says);
}

static void senseless_shapes_are_refused_with_the_reason(void **state)
{
    (void)state;
    const heddle_op *conv = &heddle_op_conv_block_forward, *stem = &heddle_op_stem_block_forward;
    expect_invalid(conv, "n=0 c=1 h=4 w=4 k=1", "at least 1");
    expect_invalid(conv, "n=1 c=1 h=1 w=4 k=1", "at least 2×2");
    expect_invalid(conv, "n=1 c=1 h=4 w=4 k=1 epsilon=0", "epsilon");
    expect_invalid(conv, "n=1 c=1 h=4 w=4 k=1 momentum=2", "momentum");
    expect_invalid(conv, "n=1 c=1 h=4 w=4 k=1 input_channels_last=2", "0 or 1");
    expect_invalid(conv, "n=2000000000 c=2000 h=2000 w=2000 k=1", "does not fit");
    expect_invalid(stem, "n=1 c=5 h=4 w=4 k=1", "conv_block");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_equal_values_wins),
        cmocka_unit_test(nothing_wins_where_relu_lets_nothing_through),
        cmocka_unit_test(a_nan_in_a_batch_is_in_every_output_of_training),
        cmocka_unit_test(a_nan_in_an_image_is_in_the_windows_that_see_it),
        cmocka_unit_test(statistics_survive_a_filter_that_cancels),
        cmocka_unit_test(senseless_shapes_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
