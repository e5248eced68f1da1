// The registry: finding operators and rungs, choosing by tier, shapes as text, sizes, and what heddle_launch refuses.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heddle/op.h"
#include "heddle/ops.h"
#include "one_rung.h"

static void assert_error(const char *words)
{
    if (!strstr(heddle_last_error(), words))
        fail_msg("'%s' is not in: %s", words, heddle_last_error());
}

// --- the tables -----------------------------------------------------------------------------------------------------

static void every_table_is_complete(void **state)
{
    (void)state;
    assert_true(heddle_op_count() > 0);
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        assert_non_null(op->name);
        assert_non_null(op->ladder_name);
        assert_non_null(op->summary);
        assert_non_null(op->cost);
        assert_non_null(op->reference);
        assert_in_range(op->shape_size, 1, HEDDLE_MAX_SHAPE_BYTES);
        assert_true(op->field_count > 0 && op->operand_count > 1 && op->rungs > 0);
        assert_non_null(op->test_shapes[0]);
        assert_non_null(op->bench_shapes[0]);
        for (int f = 0; f < op->field_count; f++) {
            assert_non_null(op->fields[f].note);
            assert_true(op->fields[f].offset + sizeof(int) <= op->shape_size);
        }
        for (int r = 0; r < op->rungs; r++) {
            assert_true(op->ladder[r].launch != NULL || op->ladder[r].device != HEDDLE_CPU);
            assert_true(strlen(op->ladder[r].note) > 10);
        }
    }
}

static void names_are_unique(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_op_count(); i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(heddle_op_at(i)->name, heddle_op_at(j)->name);
}

static void inputs_stand_before_outputs(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        int inputs = 0, outputs = 0;
        for (int o = 0; o < op->operand_count; o++) {
            bool input = op->operands[o].role == HEDDLE_INPUT;
            assert_false(input && outputs > 0);
            inputs += input;
            outputs += !input;
            assert_true(op->operands[o].values != HEDDLE_VALUES_LABELS || op->operands[o].limit);
            assert_true(op->operands[o].values != HEDDLE_VALUES_OWN || op->fill);
        }
        assert_in_range(inputs, 0, HEDDLE_MAX_OPERANDS);
        assert_in_range(outputs, 1, HEDDLE_MAX_OPERANDS);
    }
}

static void ladders_begin_with_a_naive_rung_and_have_a_faster_one(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        assert_int_equal(op->ladder[0].tier, HEDDLE_NAIVE);
        bool faster = false;
        for (int r = 1; r < op->rungs; r++)
            faster |= op->ladder[r].tier != HEDDLE_NAIVE;
        // A first lesson, and a handful of numbers: nothing to make faster.
        if (!faster && strcmp(op->name, "hello_index") != 0 && strcmp(op->name, "step_end") != 0)
            fail_msg("%s has no fast rung", op->name);
    }
}

static void every_shape_parses_and_costs_something(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        for (const char *const *list = op->test_shapes; list; list = list == op->test_shapes ? op->bench_shapes : NULL)
            for (int s = 0; list[s]; s++) {
                _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
                if (heddle_shape_parse(op, list[s], shape) != HEDDLE_OK)
                    fail_msg("%s", heddle_last_error());
                heddle_cost cost = op->cost(shape);
                assert_true(cost.flops >= 0 && cost.bytes_read >= 0 && cost.bytes_written >= 0);
                assert_true(list != op->bench_shapes || cost.bytes_read + cost.bytes_written > 0);
            }
    }
}

static void gradients_share_their_operators_shape(void **state)
{
    (void)state;
    for (int i = 0; i < heddle_op_count(); i++)
        for (int g = 0; heddle_op_at(i)->gradients && heddle_op_at(i)->gradients[g]; g++) {
            const heddle_op *gradient = heddle_op_at(i)->gradients[g];
            assert_int_equal(gradient->shape_size, heddle_op_at(i)->shape_size);
            assert_ptr_equal(op_named(gradient->name), gradient);
        }
}

// --- finding --------------------------------------------------------------------------------------------------------

static void an_unknown_operator_suggests_the_nearest(void **state)
{
    (void)state;
    const heddle_op *op = op_named("conv2d_forward");
    assert_string_equal(op->ladder_name, "conv2d");
    assert_int_equal(heddle_op_find("conv2d_foward", &op), HEDDLE_NOT_FOUND);
    assert_null(op);
    assert_error("no operator is called 'conv2d_foward'; did you mean 'conv2d_forward'?");
    assert_int_equal(heddle_op_find("xyzzy", &op), HEDDLE_NOT_FOUND);
    assert_null(strstr(heddle_last_error(), "did you mean"));
    assert_int_equal(heddle_op_find(NULL, &op), HEDDLE_INVALID);
}

static void an_index_out_of_range_gives_null(void **state)
{
    (void)state;
    assert_null(heddle_op_at(-1));
    assert_null(heddle_op_at(heddle_op_count()));
    assert_non_null(heddle_op_at(heddle_op_count() - 1));
}

static void a_rung_is_found_by_name(void **state)
{
    (void)state;
    const heddle_op *op = op_named("relu_forward");
    const heddle_rung *rung;
    assert_int_equal(heddle_rung_find(op, "cpu_vectorised", &rung), HEDDLE_OK);
    assert_ptr_equal(rung, &op->ladder[1]);
    assert_int_equal(heddle_rung_find(op, "cpu_vectorized", &rung), HEDDLE_NOT_FOUND);
    assert_null(rung);
    assert_error("relu_forward has no rung 'cpu_vectorized'; did you mean 'cpu_vectorised'?");
}

// --- choosing -------------------------------------------------------------------------------------------------------

static bool only_even(const void *shape)
{
    return ((const heddle_elements_shape *)shape)->n % 2 == 0;
}

static bool never(const void *shape)
{
    (void)shape;
    return false;
}

static const char *chosen_name(const heddle_rung *ladder, int rungs, heddle_tier tier, int n)
{
    heddle_op op = *op_named("relu_forward");
    op.ladder = ladder;
    op.rungs = rungs;
    heddle_elements_shape shape = {.n = n};
    const heddle_rung *rung;
    return heddle_rung_choose(&op, HEDDLE_CPU, tier, HEDDLE_FULL, &shape, &rung) == HEDDLE_OK ? rung->name : "none";
}

static void the_tier_decides_which_rung_is_chosen(void **state)
{
    (void)state;
    const heddle_rung ladder[] = {
        {.name = "slowest", .tier = HEDDLE_NAIVE},
        {.name = "naive", .tier = HEDDLE_NAIVE},
        {.name = "vendor", .tier = HEDDLE_VENDOR},
        {.name = "tuned", .tier = HEDDLE_TUNED},
        {.name = "even", .tier = HEDDLE_TUNED, .supports = only_even},
        {.name = "cuda", .tier = HEDDLE_TUNED, .device = HEDDLE_CUDA},
    };
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_NAIVE, 2), "naive");
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_TUNED, 2), "even");
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_TUNED, 3), "tuned");
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_VENDOR, 2), "vendor");
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_FUSED, 2), "even");
    assert_string_equal(chosen_name(ladder, 6, HEDDLE_FUSED, 3), "tuned");
    assert_string_equal(chosen_name(ladder, 3, HEDDLE_FUSED, 2), "vendor");
    assert_string_equal(chosen_name(ladder, 2, HEDDLE_VENDOR, 2), "naive");
}

// The default model's convolutions as plans and autograd ask for them: each gets the rung that is fastest for it.
static void convolutions_of_the_default_model_get_the_rung_that_suits_them(void **state)
{
    (void)state;
    static const struct {
        const char *op, *shape, *rung;
    } cases[] = {
        {"conv2d_forward", "n=64 c=32 h=14 w=14 k=64", "cpu_winograd"},
        {"conv2d_backward_data", "n=64 c=32 h=14 w=14 k=64", "cpu_winograd"},
        {"conv2d_backward_weight", "n=64 c=32 h=14 w=14 k=64", "cpu_winograd"},
        {"conv2d_backward_data", "n=64 c=1 h=28 w=28 k=32", "cpu_im2col"},
        {"conv_block_forward", "n=64 c=32 h=14 w=14 k=64", "cpu_winograd"},
        {"stem_block_forward", "n=64 c=1 h=28 w=28 k=32", "cpu_fused"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
        const heddle_rung *rung;
        assert_int_equal(heddle_shape_parse(op_named(cases[i].op), cases[i].shape, shape), HEDDLE_OK);
        assert_int_equal(heddle_rung_choose(op_named(cases[i].op), HEDDLE_CPU, HEDDLE_FUSED, HEDDLE_FULL, shape, &rung),
                         HEDDLE_OK);
        assert_string_equal(rung->name, cases[i].rung);
    }
}

static void a_ladder_that_begins_above_the_tier_gives_its_lowest_rung(void **state)
{
    (void)state;
    const heddle_rung ladder[] = {
        {.name = "fused", .tier = HEDDLE_FUSED, .supports = only_even},
        {.name = "fused_too", .tier = HEDDLE_FUSED},
    };
    assert_string_equal(chosen_name(ladder, 2, HEDDLE_NAIVE, 2), "fused");
    assert_string_equal(chosen_name(ladder, 2, HEDDLE_VENDOR, 1), "fused_too");
}

static void no_rung_for_a_device_or_shape_says_so(void **state)
{
    (void)state;
    const heddle_op *op = op_named("relu_forward");
    heddle_elements_shape shape = {.n = 3};
    const heddle_rung *rung = op->ladder;
    assert_int_equal(heddle_rung_choose(op, HEDDLE_CUDA, HEDDLE_FUSED, HEDDLE_FULL, &shape, &rung), HEDDLE_OK);
    assert_string_equal(rung->name, "02_vectorised");
    heddle_op cpu_only = *op;
    cpu_only.rungs = 1;
    assert_int_equal(heddle_rung_choose(&cpu_only, HEDDLE_CUDA, HEDDLE_FUSED, HEDDLE_FULL, &shape, &rung),
                     HEDDLE_UNSUPPORTED);
    assert_null(rung);
    assert_error("no rung of relu_forward on cuda can do n=3");
    const heddle_rung ladder[] = {{.name = "never", .supports = never}};
    assert_string_equal(chosen_name(ladder, 1, HEDDLE_NAIVE, 3), "none");
}

// --- shapes ---------------------------------------------------------------------------------------------------------

static void a_shape_is_read_and_written_back(void **state)
{
    (void)state;
    const heddle_op *op = op_named("matmul_forward");
    heddle_matmul_shape shape;
    assert_int_equal(heddle_shape_parse(op, "  k=7,m=64\tn=3 beta=0.1", &shape), HEDDLE_OK);
    assert_int_equal(shape.m, 64);
    assert_int_equal(shape.n, 3);
    assert_int_equal(shape.k, 7);
    assert_true(shape.alpha == 1.0f && shape.beta == 0.1f);
    char text[128];
    heddle_matmul_shape again;
    assert_string_equal(heddle_shape_print(op, &shape, text, sizeof text),
                        "m=64 n=3 k=7 transpose_a=0 transpose_b=0 alpha=1 beta=0.100000001");
    assert_int_equal(heddle_shape_parse(op, text, &again), HEDDLE_OK);
    assert_memory_equal(&shape, &again, sizeof shape);
}

static void a_shape_is_cut_to_the_room_there_is(void **state)
{
    (void)state;
    heddle_matmul_shape shape = {.m = 64, .n = 3, .k = 7};
    char text[9] = "";
    assert_string_equal(heddle_shape_print(op_named("matmul_forward"), &shape, text, sizeof text), "m=64 n=3");
}

static void assert_refused(const char *op, const char *text, const char *words)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    assert_int_equal(heddle_shape_parse(op_named(op), text, shape), HEDDLE_INVALID);
    assert_error(words);
}

static void a_shape_that_makes_no_sense_says_why(void **state)
{
    (void)state;
    assert_refused("matmul_forward", "m=1 n=2", "must name 'k' (columns of a, rows of b)");
    assert_refused("matmul_forward", "m=1 n=2 k=3 m=4", "'m' stands in the shape twice");
    assert_refused("matmul_forward", "m=1 n=2 k=3 transpose=1",
                   "a shape has no 'transpose'; did you mean 'transpose_a'?");
    assert_refused("matmul_forward", "m=1 n=2 k", "'k' in the shape is not name=value");
    assert_refused("matmul_forward", "m=1 n=2 k=3x", "'k=3x' in the shape is not a whole number");
    assert_refused("matmul_forward", "m=1 n=2 k=", "'k=' in the shape is not a whole number");
    assert_refused("matmul_forward", "m=1 n=2 k=3 beta=big", "'beta=big' in the shape is not a number");
    assert_refused("matmul_forward", "m=1 n=2 k=0x3", "'k=0x3' in the shape is not a whole number");
    assert_refused("matmul_forward", "m=1 n=2 k=3 beta=inf", "'beta=inf' in the shape is not a number");
    assert_refused("matmul_forward", "m=1 n=2 k=3 beta=1e999", "out of range");
    assert_refused("matmul_forward", "m=1 n=2 k=9999999999", "'k=9999999999' in the shape is out of range");
    assert_refused("matmul_forward", "m=1 n=2 k=-3", "k is -3, and must not be negative");
    assert_refused("matmul_forward", "m=1 n=2 k=3 transpose_b=2", "transpose_a and transpose_b are 0 or 1");
    assert_refused("matmul_forward", "m=2000000000 n=2000000000 k=2000000000", "more bytes than can be counted");
    assert_refused("matmul_backward", "m=1 n=2 k=3 beta=1", "gradients are only defined for beta 0");
    assert_refused("conv2d_forward", "n=1 c=1 h=5 w=5 k=1 stride=0", "stride and dilation must be at least 1");
    assert_refused("conv2d_forward", "n=1 c=1 h=2 w=5 k=1 padding=0", "a 3x3 filter with dilation 1 does not fit");
    assert_refused("conv2d_forward", "n=1 c=0 h=5 w=5 k=1", "must be at least 1");
    assert_refused("conv2d_forward", "n=1 c=1 h=5 w=5 k=1 padding=2000000000", "too large to index");
    assert_refused("conv2d_backward_data", "n=1 c=1 h=65536 w=65536 k=1 r=1 s=1 padding=0 stride=4",
                   "planes of input and output must have fewer than 2^31");
    assert_refused("conv2d_backward_data", "n=1 c=1 h=4 w=4 k=536870912 r=2 s=2", "of one channel, must be fewer");
    assert_refused("matmul_int8", "m=1 n=1 k=131072", "a sum may not fit int32"); // 128 * 128 * 131072 = 2^31
    assert_refused("matmul_int4", "m=1 n=1 k=64 group=48", "group is 48, and must be a multiple of 32");
    assert_refused("matmul_int4", "m=1 n=1 k=64 group=0", "group is 0, and must be a multiple of 32");
    assert_refused("batchnorm2d_forward", "n=1 c=2 h=1 w=1", "needs at least 2 values per channel");
    assert_refused("batchnorm2d_forward", "n=2 c=2 h=1 w=1 momentum=2", "momentum must be in [0, 1]");
    assert_refused("maxpool2d_forward", "n=1 c=1 h=4 w=4 padding=2", "more than half the window");
    assert_refused("avgpool2d_forward", "n=1 c=1 h=1 w=4", "a window of 2 does not fit into a 1x4 input");
    assert_refused("maxpool2d_forward", "n=1 c=1 h=4 w=4 window=0", "must be at least 1");
    assert_refused("cross_entropy_forward", "rows=0 cols=10", "at least one row");
    assert_refused("mean_forward", "n=0", "the mean of 0 elements is undefined");
    assert_refused("dropout_forward", "n=1 probability=1.5", "must be in [0, 1]");
}

static void a_long_word_is_refused_not_overrun(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_refused("matmul_forward", text, "is too long");
}

// --- operands and launching -----------------------------------------------------------------------------------------

static void operands_have_places_and_sizes(void **state)
{
    (void)state;
    const heddle_op *op = op_named("batchnorm2d_forward");
    heddle_batchnorm2d_shape shape = {.n = 2, .c = 3, .h = 4, .w = 5, .epsilon = 1e-5f};
    int slot, beta = heddle_operand_find(op, "beta"), variance = heddle_operand_find(op, "running_var");
    assert_false(heddle_operand_slot(op, beta, &slot));
    assert_int_equal(slot, 2);
    assert_true(heddle_operand_slot(op, variance, &slot));
    assert_int_equal(slot, 4);
    assert_int_equal(heddle_operand_elements(op, beta, &shape), 3);
    assert_int_equal(heddle_operand_elements(op, heddle_operand_find(op, "input"), &shape), 120);
    assert_int_equal(heddle_operand_find(op, "nobody"), -1);
}

static void a_call_that_lacks_something_is_refused(void **state)
{
    (void)state;
    const heddle_op *op = op_named("sum_forward");
    heddle_elements_shape shape = {.n = 2};
    float input[2] = {1, 2}, output = 0;
    heddle_call call = {.input = {input}, .output = {&output}};
    assert_int_equal(heddle_launch(op, &op->ladder[0], &call), HEDDLE_INVALID);
    assert_error("the call has no shape");
    call.shape = &shape;
    assert_int_equal(heddle_launch(op, &op->ladder[1], &call), HEDDLE_INVALID);
    assert_error("rung cpu_pieces needs a workspace of 8 bytes");
    call.input[0] = NULL;
    assert_int_equal(heddle_launch(op, &op->ladder[0], &call), HEDDLE_INVALID);
    assert_error("operand 'input' is NULL, and it is not optional");
    call.input[0] = input;
    assert_int_equal(heddle_launch(op, &op->ladder[0], &call), HEDDLE_OK);
    assert_true(output == 3.0f);
    shape.n = -1;
    assert_int_equal(heddle_launch(op, &op->ladder[0], &call), HEDDLE_INVALID);
    assert_error("n is -1");
}

static void a_rung_is_not_launched_on_what_it_does_not_support(void **state)
{
    (void)state;
    const heddle_op *op = op_named("sum_forward");
    heddle_elements_shape shape = {.n = 1};
    float input = 1, output = 0;
    heddle_call call = {.shape = &shape, .input = {&input}, .output = {&output}};
    heddle_rung rung = op->ladder[0];
    rung.supports = never;
    assert_int_equal(heddle_launch(op, &rung, &call), HEDDLE_UNSUPPORTED);
    assert_error("rung cpu_naive cannot do n=1");
    rung.supports = NULL;
    rung.device = HEDDLE_CUDA;
    assert_int_equal(heddle_launch(op, &rung, &call), HEDDLE_INVALID);
    assert_error("runs on cuda, and that needs a stream");
    assert_true(output == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_complete),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(inputs_stand_before_outputs),
        cmocka_unit_test(ladders_begin_with_a_naive_rung_and_have_a_faster_one),
        cmocka_unit_test(every_shape_parses_and_costs_something),
        cmocka_unit_test(gradients_share_their_operators_shape),
        cmocka_unit_test(an_unknown_operator_suggests_the_nearest),
        cmocka_unit_test(an_index_out_of_range_gives_null),
        cmocka_unit_test(a_rung_is_found_by_name),
        cmocka_unit_test(the_tier_decides_which_rung_is_chosen),
        cmocka_unit_test(convolutions_of_the_default_model_get_the_rung_that_suits_them),
        cmocka_unit_test(a_ladder_that_begins_above_the_tier_gives_its_lowest_rung),
        cmocka_unit_test(no_rung_for_a_device_or_shape_says_so),
        cmocka_unit_test(a_shape_is_read_and_written_back),
        cmocka_unit_test(a_shape_is_cut_to_the_room_there_is),
        cmocka_unit_test(a_shape_that_makes_no_sense_says_why),
        cmocka_unit_test(a_long_word_is_refused_not_overrun),
        cmocka_unit_test(operands_have_places_and_sizes),
        cmocka_unit_test(a_call_that_lacks_something_is_refused),
        cmocka_unit_test(a_rung_is_not_launched_on_what_it_does_not_support),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
