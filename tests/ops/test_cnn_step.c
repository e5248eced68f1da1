// What cnn_step does where the ladders' small batches do not come: more samples than a tile has, gradients that
// overflow, shapes that make no sense.

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
#include "ops/cnn_step/cnn_step.h"

static const heddle_op *const op = &heddle_op_cnn_step;

typedef struct step_call {
    heddle_cnn_step_shape shape;
    harness_values values;
    harness_memory memory;
} step_call;

static void prepare(step_call *step, const char *shape)
{
    assert_int_equal(heddle_shape_parse(op, shape, &step->shape), HEDDLE_OK);
    harness_values_create(&step->values, op, &step->shape);
    harness_values_draw(&step->values, harness_seed());
    harness_values_round(&step->values);
}

static void run(step_call *step, const heddle_rung *rung)
{
    harness_memory_create(&step->memory, &step->values, rung, 1, 0);
    if (harness_launch(op, rung, &step->memory.call) != HEDDLE_OK)
        fail_msg("%s: %s", rung->name, heddle_last_error());
}

static void end(step_call *step)
{
    harness_memory_destroy(&step->memory);
    harness_values_destroy(&step->values);
}

// The fastest rung of the device under test. On the CPU there is only the reference: see test_cnn_step_reference.c.
static const heddle_rung *last_rung(void)
{
    for (int r = op->rungs - 1; r >= 0; r--)
        if (harness_runs(&op->ladder[r]) && !harness_is_reference(&op->ladder[r]))
            return &op->ladder[r];
    skip();
    return NULL;
}

static void compare(step_call *step, const heddle_rung *rung, const harness_values *expected)
{
    harness_report report = {.passed = true};
    harness_bounds bounds;
    harness_bounds_create(&bounds, &step->values, expected, 1);
    harness_bounds_for(&bounds, rung->arithmetic, rung->sum_bits);
    run(step, rung);
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i].role == HEDDLE_INPUT)
            continue;
        double *got = malloc(expected->elements[i] * sizeof *got);
        harness_memory_read(&step->memory, i, got);
        if (!harness_compare(op, i, got, expected->operand[i], bounds.bound[i], expected->elements[i], rung->name,
                             &report))
            fail_msg("%s", report.message);
        free(got);
    }
    harness_bounds_destroy(&bounds);
}

static void matches_the_reference(const char *shape, const heddle_rung *rung)
{
    step_call step;
    prepare(&step, shape);
    harness_values expected;
    harness_values_copy(&expected, &step.values);
    harness_values_reference(&expected);
    compare(&step, rung, &expected);
    harness_values_destroy(&expected);
    end(&step);
}

static void a_batch_of_more_than_a_tile_matches_the_reference(void **state)
{
    (void)state;
    matches_the_reference("n=65 count=70 length=80", last_rung());
}

// Kernels for few images and for many, by how many multiprocessors there are: on an H200 two blocks have an image up to
// 66, one up to 132, and above that blocks take several. On a simulated GPU so many images would take minutes.
static void batches_of_every_size_match_the_reference(void **state)
{
    (void)state;
    static const char *const shapes[] = {"n=17 count=20 length=20", "n=100 count=128 length=128",
                                         "n=133 count=140 length=140", "n=300 count=300 length=300"};
    if (strcmp(harness_device_name(), "cuda") != 0)
        skip();
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int r = 0; r < op->rungs; r++)
            if (op->ladder[r].device == HEDDLE_CUDA && op->ladder[r].gpu_only && harness_runs(&op->ladder[r]))
                matches_the_reference(shapes[s], &op->ladder[r]);
}

// A hidden layer of weights so large that what they give back to the pooled activations has no half. The loss has: it
// is a mean of differences of logits, which are floats. Optimisers leave alone what has no gradient.
static void gradients_that_overflow_are_no_numbers(void **state)
{
    (void)state;
    const heddle_rung *rung;
    assert_int_equal(heddle_rung_find(op, "03_fp16", &rung), HEDDLE_OK);
    if (!harness_runs(rung))
        skip();
    step_call step;
    prepare(&step, "n=2 count=2 length=2");
    double *weight = harness_values_find(&step.values, "hidden_weight");
    for (size_t i = 0; i < step.values.elements[heddle_operand_find(op, "hidden_weight")]; i++)
        weight[i] *= 1e6;
    harness_values_round(&step.values);
    run(&step, rung);
    for (int i = 0; i < op->operand_count; i++) {
        if (strncmp(op->operands[i].name, "grad_", 5) != 0)
            continue;
        const float *gradient = harness_memory_data(&step.memory, i);
        for (size_t e = 0; e < step.values.elements[i]; e++)
            if (!isnan(gradient[e]))
                fail_msg("element %zu of '%s' is %g", e, op->operands[i].name, gradient[e]);
    }
    end(&step);
}

// Whether the rung takes a shape of the MNIST CNN.
static bool takes(const char *name, const char *text)
{
    heddle_cnn_step_shape shape;
    const heddle_rung *rung;
    assert_int_equal(heddle_shape_parse(op, text, &shape), HEDDLE_OK);
    assert_int_equal(heddle_rung_find(op, name, &rung), HEDDLE_OK);
    return rung->supports(&shape);
}

static void few_samples_are_not_multiplied_in_tf32(void **state)
{
    (void)state;
    assert_false(takes("06_tf32_wgmma", "n=15"));
    assert_true(takes("06_tf32_wgmma", "n=16"));
    assert_true(takes("05_tf32x3_wgmma", "n=15"));
    assert_true(takes("08_bf16_wgmma", "n=1"));
}

static const char *chosen(const char *text, heddle_arithmetic arithmetic)
{
    heddle_cnn_step_shape shape;
    const heddle_rung *rung;
    assert_int_equal(heddle_shape_parse(op, text, &shape), HEDDLE_OK);
    if (heddle_rung_choose(op, HEDDLE_SIM, HEDDLE_FUSED, arithmetic, &shape, &rung) != HEDDLE_OK)
        fail_msg("%s", heddle_last_error());
    return rung->name;
}

static void the_simulator_takes_the_rungs_without_wgmma(void **state)
{
    (void)state;
    if (strcmp(harness_device_name(), "sim") != 0)
        skip();
    assert_string_equal(chosen("n=1", HEDDLE_FP16), "03_fp16");
    assert_string_equal(chosen("n=1", HEDDLE_BFLOAT), "04_bf16");
}

static void a_batch_that_the_order_has_not_is_refused(void **state)
{
    (void)state;
    heddle_cnn_step_shape shape;
    assert_int_equal(heddle_shape_parse(op, "n=5 count=9 length=4", &shape), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "length=4"));
    assert_int_equal(heddle_shape_parse(op, "n=0 count=9 length=4", &shape), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(op, "n=1 h=3", &shape), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(op, "n=1 c=5", &shape), HEDDLE_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_of_more_than_a_tile_matches_the_reference),
        cmocka_unit_test(batches_of_every_size_match_the_reference),
        cmocka_unit_test(gradients_that_overflow_are_no_numbers),
        cmocka_unit_test(few_samples_are_not_multiplied_in_tf32),
        cmocka_unit_test(the_simulator_takes_the_rungs_without_wgmma),
        cmocka_unit_test(a_batch_that_the_order_has_not_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
