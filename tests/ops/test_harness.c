// The harness itself: it passes what is right and catches what is wrong, shown with operators that are wrong on
// purpose.
//
// scale: output = 2.5 * input, saved = 2.5; scale_backward: grad_input = saved * grad_output.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads.h"
#include "harness.h"
#include "heddle/ops.h"

static const float factor = 2.5f;
static const char shape_text[] = "n=37";
enum { SEED = 5 };

// --- the operators --------------------------------------------------------------------------------------------------

static const heddle_field fields[] = {
    {.name = "n", .offset = offsetof(heddle_elements_shape, n), .kind = HEDDLE_FIELD_INT, .initial = NAN},
};

static int dims_n(const void *shape, int dims[HEDDLE_MAX_DIMS])
{
    dims[0] = ((const heddle_elements_shape *)shape)->n;
    return 1;
}

static const heddle_operand forward_operands[] = {
    {.name = "input", .role = HEDDLE_INPUT, .dtype = HEDDLE_F32, .values = HEDDLE_VALUES_NORMAL, .dims = dims_n},
    {.name = "output", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_F32, .dims = dims_n},
    {.name = "saved", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_F32, .dims = dims_n, .saved = true},
};

static const heddle_operand backward_operands[] = {
    {.name = "saved", .role = HEDDLE_INPUT, .dtype = HEDDLE_F32, .values = HEDDLE_VALUES_SAVED, .dims = dims_n},
    {.name = "grad_output", .role = HEDDLE_INPUT, .dtype = HEDDLE_F32, .values = HEDDLE_VALUES_NORMAL, .dims = dims_n},
    {.name = "grad_input", .role = HEDDLE_OUTPUT, .dtype = HEDDLE_F32, .dims = dims_n, .optional = true},
};

static heddle_cost no_cost(const void *shape)
{
    (void)shape;
    return (heddle_cost){0};
}

static void forward_reference(const void *shape, const double *const *input, double *const *output)
{
    for (int i = 0; i < ((const heddle_elements_shape *)shape)->n; i++) {
        output[0][i] = factor * input[0][i];
        output[1][i] = factor;
    }
}

static void backward_reference(const void *shape, const double *const *input, double *const *output)
{
    for (int i = 0; output[0] && i < ((const heddle_elements_shape *)shape)->n; i++)
        output[0][i] = input[0][i] * input[1][i];
}

// As a beginner's sign error would be: right in size, wrong in one place.
static void wrong_backward_reference(const void *shape, const double *const *input, double *const *output)
{
    backward_reference(shape, input, output);
    output[0][3] = -output[0][3];
}

static heddle_op forward_op(const heddle_rung *rung, const heddle_op *const *gradients)
{
    return (heddle_op){.name = "scale_forward",
                       .shape_size = sizeof(heddle_elements_shape),
                       .fields = fields,
                       .field_count = 1,
                       .operands = forward_operands,
                       .operand_count = 3,
                       .cost = no_cost,
                       .reference = forward_reference,
                       .gradients = gradients,
                       .ladder = rung,
                       .rungs = 1};
}

static heddle_op backward_op(const heddle_rung *rung,
                             void (*reference)(const void *, const double *const *, double *const *))
{
    return (heddle_op){.name = "scale_backward",
                       .shape_size = sizeof(heddle_elements_shape),
                       .fields = fields,
                       .field_count = 1,
                       .operands = backward_operands,
                       .operand_count = 3,
                       .cost = no_cost,
                       .reference = reference,
                       .ladder = rung,
                       .rungs = 1};
}

// --- the rungs ------------------------------------------------------------------------------------------------------

static int length(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

static heddle_status right(const heddle_call *call)
{
    const float *input = call->input[0];
    float *output = call->output[0], *saved = call->output[1];
    for (int i = 0; i < length(call); i++) {
        output[i] = factor * input[i];
        saved[i] = factor;
    }
    return HEDDLE_OK;
}

static heddle_status writes_zeros(const heddle_call *call)
{
    right(call);
    memset(call->output[0], 0, (size_t)length(call) * sizeof(float));
    return HEDDLE_OK;
}

static heddle_status writes_nan(const heddle_call *call)
{
    right(call);
    ((float *)call->output[0])[5] = NAN;
    return HEDDLE_OK;
}

static heddle_status skips_the_last(const heddle_call *call)
{
    const float *input = call->input[0];
    float *output = call->output[0], *saved = call->output[1];
    for (int i = 0; i < length(call); i++)
        saved[i] = factor;
    for (int i = 0; i < length(call) - 1; i++)
        output[i] = factor * input[i];
    return HEDDLE_OK;
}

static heddle_status writes_past_the_end(const heddle_call *call)
{
    right(call);
    ((float *)call->output[0])[length(call)] = 1.0f;
    return HEDDLE_OK;
}

static heddle_status writes_before_the_start(const heddle_call *call)
{
    right(call);
    ((float *)call->output[0])[-1] = 1.0f;
    return HEDDLE_OK;
}

static heddle_status changes_its_input(const heddle_call *call)
{
    right(call);
    ((float *)(uintptr_t)call->input[0])[0] += 1.0f;
    return HEDDLE_OK;
}

static heddle_status is_a_little_off(const heddle_call *call)
{
    right(call);
    ((float *)call->output[0])[7] *= 1.00001f;
    return HEDDLE_OK;
}

static heddle_status depends_on_threads(const heddle_call *call)
{
    right(call);
    float *output = call->output[0];
    if (heddle_pool_threads(call->pool) > 1)
        output[2] = nextafterf(output[2], INFINITY);
    return HEDDLE_OK;
}

static heddle_status saves_nonsense(const heddle_call *call)
{
    right(call);
    ((float *)call->output[1])[1] = 7.0f;
    return HEDDLE_OK;
}

static heddle_status fails(const heddle_call *call)
{
    (void)call;
    return heddle_fail(HEDDLE_DEVICE, "the cat sat on the keyboard");
}

static size_t one_float(const void *shape, int threads)
{
    (void)shape, (void)threads;
    return sizeof(float);
}

static heddle_status outgrows_its_workspace(const heddle_call *call)
{
    ((float *)call->workspace)[1] = 1.0f;
    return right(call);
}

static heddle_status backward_right(const heddle_call *call)
{
    const float *saved = call->input[0], *grad_output = call->input[1];
    float *grad_input = call->output[0];
    for (int i = 0; grad_input && i < length(call); i++)
        grad_input[i] = saved[i] * grad_output[i];
    return HEDDLE_OK;
}

// Takes the saved factor for granted, and so does not notice what its forward rung really left.
static heddle_status backward_in_other_units(const heddle_call *call)
{
    const float *grad_output = call->input[1];
    float *grad_input = call->output[0];
    for (int i = 0; grad_input && i < length(call); i++)
        grad_input[i] = grad_output[i] * (factor + 1.0f);
    return HEDDLE_OK;
}

// --- forward rungs --------------------------------------------------------------------------------------------------

static harness_report check(heddle_status (*launch)(const heddle_call *), size_t (*workspace)(const void *, int))
{
    heddle_rung rung = {.name = "tried", .launch = launch, .workspace = workspace};
    heddle_rung backward_rung = {.name = "right", .launch = backward_right};
    heddle_op backward = backward_op(&backward_rung, backward_reference);
    const heddle_op *gradients[] = {&backward, NULL};
    heddle_op op = forward_op(&rung, gradients);
    harness_report report = {.passed = true};
    bool passed = harness_check_ladder(&op, NULL, shape_text, SEED, &report);
    assert_int_equal(passed, report.passed);
    return report;
}

static void assert_caught(heddle_status (*launch)(const heddle_call *), const char *words)
{
    harness_report report = check(launch, NULL);
    assert_false(report.passed);
    if (!strstr(report.message, words))
        fail_msg("'%s' is not in: %s", words, report.message);
    assert_non_null(strstr(report.message, "scale_forward, rung tried, \"n=37\", seed 5"));
}

static void a_right_rung_passes(void **state)
{
    (void)state;
    harness_report report = check(right, NULL);
    if (!report.passed)
        fail_msg("%s", report.message);
    assert_true(report.comparisons > 0 && report.reached[0] && report.telling[1]);
}

static void zeros_are_caught(void **state)
{
    (void)state;
    assert_caught(writes_zeros, "element 0 of 'output' is 0");
}

static void nan_is_caught(void **state)
{
    (void)state;
    assert_caught(writes_nan, "element 5 of 'output' is nan");
}

static void an_element_left_out_is_caught(void **state)
{
    (void)state;
    assert_caught(skips_the_last, "element 36 of 'output' is");
}

static void a_write_beyond_the_end_is_caught(void **state)
{
    (void)state;
    assert_caught(writes_past_the_end, "beyond the end of 'output', at byte 148 of 148");
}

static void a_write_before_the_start_is_caught(void **state)
{
    (void)state;
    assert_caught(writes_before_the_start, "before 'output'");
}

static void a_changed_input_is_caught(void **state)
{
    (void)state;
    assert_caught(changes_its_input, "changed input 'input' at element 0");
}

static void a_small_error_is_caught(void **state)
{
    (void)state;
    assert_caught(is_a_little_off, "element 7 of 'output'");
}

static void bits_that_depend_on_threads_are_caught(void **state)
{
    (void)state;
    assert_caught(depends_on_threads, "other bits with 2 threads");
}

static void nonsense_saved_for_the_gradient_is_caught(void **state)
{
    (void)state;
    assert_caught(saves_nonsense, "from what was saved, scale_backward: element 1 of 'grad_input'");
}

static void a_failing_rung_is_caught(void **state)
{
    (void)state;
    assert_caught(fails, "the cat sat on the keyboard");
}

static void a_workspace_overrun_is_caught(void **state)
{
    (void)state;
    harness_report report = check(outgrows_its_workspace, one_float);
    assert_false(report.passed);
    assert_non_null(strstr(report.message, "beyond the end of 'workspace'"));
}

// --- pairs and gradients --------------------------------------------------------------------------------------------

static harness_report check_pair(heddle_status (*backward_launch)(const heddle_call *))
{
    heddle_rung rung = {.name = "right", .launch = right};
    heddle_rung backward_rung = {.name = "tried", .launch = backward_launch};
    heddle_op backward = backward_op(&backward_rung, backward_reference);
    const heddle_op *gradients[] = {&backward, NULL};
    heddle_op op = forward_op(&rung, gradients);
    harness_report report = {.passed = true};
    harness_check_pairs(&op, &backward, shape_text, SEED, &report);
    return report;
}

static void a_right_pair_passes(void **state)
{
    (void)state;
    harness_report report = check_pair(backward_right);
    if (!report.passed)
        fail_msg("%s", report.message);
    assert_true(report.comparisons > 0);
}

static void a_backward_rung_that_misreads_what_was_saved_is_caught(void **state)
{
    (void)state;
    harness_report report = check_pair(backward_in_other_units);
    assert_false(report.passed);
    assert_non_null(strstr(report.message, "scale_backward, rung tried"));
}

static harness_report check_gradient(void (*reference)(const void *, const double *const *, double *const *))
{
    heddle_rung rung = {.name = "right", .launch = right};
    heddle_op backward = backward_op(&rung, reference);
    const heddle_op *gradients[] = {&backward, NULL};
    heddle_op op = forward_op(&rung, gradients);
    harness_report report = {.passed = true};
    harness_check_gradients(&op, shape_text, SEED, &report);
    return report;
}

static void a_right_gradient_passes(void **state)
{
    (void)state;
    harness_report report = check_gradient(backward_reference);
    if (!report.passed)
        fail_msg("%s", report.message);
    assert_true(report.comparisons > 0);
}

static void a_wrong_gradient_is_caught(void **state)
{
    (void)state;
    harness_report report = check_gradient(wrong_backward_reference);
    assert_false(report.passed);
    assert_non_null(strstr(report.message, "gradient of 'input' along a random direction is"));
}

// --- operands as a whole --------------------------------------------------------------------------------------------

// Whether an operator of HEDDLE_NORM would pass with these values, where (1, 1, ..., 1) is right.
static bool passes_as_a_whole(const double *got, bool smooth, heddle_arithmetic arithmetic, harness_report *report)
{
    enum { COUNT = 1000 };
    double expected_values[COUNT];
    for (int i = 0; i < COUNT; i++)
        expected_values[i] = 1;
    heddle_op op = forward_op(NULL, NULL);
    op.exactness = HEDDLE_NORM;
    heddle_operand whole[2] = {op.operands[0], op.operands[1]};
    whole[1].smooth = smooth;
    op.operands = whole;
    op.operand_count = 2;
    heddle_elements_shape shape = {COUNT};
    harness_values values = {.op = &op, .shape = &shape, .operand = {NULL, expected_values}, .elements = {0, COUNT}};
    harness_bounds bounds;
    harness_bounds_create(&bounds, &values, &values, 1);
    harness_bounds_for(&bounds, arithmetic, 0);
    *report = (harness_report){.passed = true};
    bool passed = harness_compare(&op, 1, got, expected_values, bounds.bound[1], COUNT, "norm", report);
    harness_bounds_destroy(&bounds);
    return passed;
}

static void a_norm_lets_one_element_be_off_but_not_all(void **state)
{
    (void)state;
    harness_report report;
    double got[1000];
    for (int i = 0; i < 1000; i++)
        got[i] = 1;
    got[7] = -1;
    assert_true(passes_as_a_whole(got, false, HEDDLE_TF32, &report));
    assert_true(report.telling[1]);
    got[7] = NAN;
    assert_false(passes_as_a_whole(got, false, HEDDLE_TF32, &report));
    for (int i = 0; i < 1000; i++)
        got[i] = 1.2;
    assert_false(passes_as_a_whole(got, false, HEDDLE_TF32, &report));
    memset(got, 0, sizeof got);
    assert_false(passes_as_a_whole(got, false, HEDDLE_TF32, &report));
    assert_non_null(strstr(report.message, "by the norm of it all"));
}

// No choice is behind these: not even one element may be another.
static void what_is_smooth_may_be_off_by_roundings_alone(void **state)
{
    (void)state;
    static const double roundoff[] = {0x1p-24, 0x1p-22, 0x1p-11, 0x1p-11, 0x1p-8};
    harness_report report;
    double got[1000];
    for (int arithmetic = HEDDLE_FULL; arithmetic <= HEDDLE_BFLOAT; arithmetic++) {
        for (int i = 0; i < 1000; i++)
            got[i] = 1 + 5 * roundoff[arithmetic];
        assert_true(passes_as_a_whole(got, true, arithmetic, &report));
        for (int i = 0; i < 1000; i++)
            got[i] = 1 + 2e-5 + 15 * roundoff[arithmetic];
        assert_false(passes_as_a_whole(got, true, arithmetic, &report));
        for (int i = 0; i < 1000; i++)
            got[i] = i == 7 ? -1 : 1;
        assert_false(passes_as_a_whole(got, true, arithmetic, &report));
    }
}

// A fifth of the loss, of a statistic or of the last layer's gradient is more than any rung's arithmetic explains.
static void a_training_step_whose_loss_is_a_fifth_too_large_is_caught(void **state)
{
    (void)state;
    static const char *const smooth[] = {"loss",         "grad_output_weight", "grad_output_bias", "running_mean1",
                                         "running_var1", "running_mean2",      "running_var2"};
    const heddle_op *op;
    heddle_cnn_step_shape shape;
    assert_int_equal(heddle_op_find("cnn_step", &op), HEDDLE_OK);
    assert_int_equal(heddle_shape_parse(op, op->test_shapes[0], &shape), HEDDLE_OK);
    harness_values prepared, expected;
    harness_bounds bounds;
    harness_values_create(&prepared, op, &shape);
    harness_values_prepare(&prepared, NULL, SEED);
    harness_values_copy(&expected, &prepared);
    harness_values_reference(&expected);
    harness_bounds_create(&bounds, &prepared, &expected, 1);
    for (int arithmetic = HEDDLE_FULL; arithmetic <= HEDDLE_BFLOAT; arithmetic++)
        for (size_t s = 0; s < sizeof smooth / sizeof *smooth; s++) {
            harness_report report = {.passed = true};
            int operand = heddle_operand_find(op, smooth[s]);
            size_t elements = expected.elements[operand];
            double *got = malloc(elements * sizeof *got);
            for (size_t i = 0; i < elements; i++)
                got[i] = 1.2 * expected.operand[operand][i];
            harness_bounds_for(&bounds, arithmetic, 0);
            assert_false(harness_compare(op, operand, got, expected.operand[operand], bounds.bound[operand], elements,
                                         smooth[s], &report));
            free(got);
        }
    harness_bounds_destroy(&bounds);
    harness_values_destroy(&expected);
    harness_values_destroy(&prepared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_rung_passes),
        cmocka_unit_test(zeros_are_caught),
        cmocka_unit_test(nan_is_caught),
        cmocka_unit_test(an_element_left_out_is_caught),
        cmocka_unit_test(a_write_beyond_the_end_is_caught),
        cmocka_unit_test(a_write_before_the_start_is_caught),
        cmocka_unit_test(a_changed_input_is_caught),
        cmocka_unit_test(a_small_error_is_caught),
        cmocka_unit_test(bits_that_depend_on_threads_are_caught),
        cmocka_unit_test(nonsense_saved_for_the_gradient_is_caught),
        cmocka_unit_test(a_failing_rung_is_caught),
        cmocka_unit_test(a_workspace_overrun_is_caught),
        cmocka_unit_test(a_right_pair_passes),
        cmocka_unit_test(a_backward_rung_that_misreads_what_was_saved_is_caught),
        cmocka_unit_test(a_right_gradient_passes),
        cmocka_unit_test(a_wrong_gradient_is_caught),
        cmocka_unit_test(a_norm_lets_one_element_be_off_but_not_all),
        cmocka_unit_test(what_is_smooth_may_be_off_by_roundings_alone),
        cmocka_unit_test(a_training_step_whose_loss_is_a_fifth_too_large_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
