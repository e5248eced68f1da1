// The float64 reference of cnn_step against single operators: convolution, batchnorm, relu, pooling and linear layers
// one after another, by their own references. On the CPU cnn_step is nothing but its reference, so the ladders have
// nothing to compare it with.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness.h"
#include "heddle/ops.h"
#include "ops/cnn_step/cnn_step.h"

enum { MOST_CALLS = 32 };

// Every call that was made, to be freed at the end.
typedef struct calls {
    harness_values made[MOST_CALLS];
    int count;
} calls;

static bool is_given(const harness_values *values, int operand, const char *const names[], const double *const data[])
{
    for (int i = 0; names[i]; i++)
        if (strcmp(values->op->operands[operand].name, names[i]) == 0) {
            memcpy(values->operand[operand], data[i], values->elements[operand] * sizeof(double));
            return true;
        }
    return false;
}

// Runs the reference of an operator on these inputs and updates. An optional operand that is not given is left out.
static const harness_values *run(calls *all, const char *name, const void *shape, const char *const names[],
                                 const double *const data[])
{
    const heddle_op *op;
    assert_int_equal(heddle_op_find(name, &op), HEDDLE_OK);
    assert_int_equal(heddle_shape_validate(op, shape), HEDDLE_OK);
    assert_in_range(all->count, 0, MOST_CALLS - 1);
    harness_values *values = &all->made[all->count++];
    harness_values_create(values, op, shape);
    for (int i = 0; i < op->operand_count; i++) {
        const heddle_operand *operand = &op->operands[i];
        if (operand->role == HEDDLE_OUTPUT || is_given(values, i, names, data))
            continue;
        if (!operand->optional)
            fail_msg("'%s' of %s is not given", operand->name, name);
        values->absent[i] = true;
    }
    harness_values_reference(values);
    return values;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define DATA(...)  ((const double *const[]){__VA_ARGS__})

static const double *of(const harness_values *values, const char *name)
{
    const double *found = harness_values_find(values, name);
    assert_non_null(found);
    return found;
}

// An operand of cnn_step that a layer's number is part of: "gamma" and 2 is gamma2.
static const double *of_layer(const harness_values *step, const char *start, int layer, const char *end)
{
    char name[64];
    snprintf(name, sizeof name, "%s%d%s", start, layer, end);
    return of(step, name);
}

static void compare(const harness_values *step, const char *name, const double *expected)
{
    const double *got = of(step, name);
    const size_t elements = step->elements[heddle_operand_find(step->op, name)];
    const double allowed = 1e-9; // of sums of numbers near 1 in float64
    for (size_t i = 0; i < elements; i++)
        if (!(fabs(got[i] - expected[i]) <= allowed * fmax(1, fabs(expected[i]))))
            fail_msg("element %zu of '%s' is %.12g, expected %.12g", i, name, got[i], expected[i]);
}

static void compare_layer(const harness_values *step, const char *start, int layer, const char *end,
                          const double *expected)
{
    char name[64];
    snprintf(name, sizeof name, "%s%d%s", start, layer, end);
    compare(step, name, expected);
}

// --- a convolution with what follows it -----------------------------------------------------------------------------

typedef struct block {
    int layer; // 1 or 2
    heddle_conv2d_shape conv;
    heddle_batchnorm2d_shape norm;
    heddle_elements_shape elements;
    heddle_pool2d_shape pool;
    const double *input;
    const harness_values *convolution, *normalised, *active, *pooled;
} block;

static void block_forward(calls *all, block *made, const heddle_cnn_step_shape *shape, const harness_values *before)
{
    const int layer = made->layer, n = shape->n, k = layer == 1 ? shape->k1 : shape->k2;
    const int h = shape->h / layer, w = shape->w / layer;
    made->conv = (heddle_conv2d_shape){n, layer == 1 ? shape->c : shape->k1, h, w, k, 3, 3, 1, 1, 1};
    made->norm = (heddle_batchnorm2d_shape){n, k, h, w, shape->epsilon, shape->momentum};
    made->elements = (heddle_elements_shape){n * k * h * w};
    made->pool = (heddle_pool2d_shape){n, k, h, w, 2, 2, 0};
    made->convolution =
        run(all, "conv2d_forward", &made->conv, NAMES("input", "weight", "bias"),
            DATA(made->input, of_layer(before, "conv", layer, "_weight"), of_layer(before, "conv", layer, "_bias")));
    made->normalised = run(
        all, "batchnorm2d_forward", &made->norm, NAMES("input", "gamma", "beta", "running_mean", "running_var"),
        DATA(of(made->convolution, "output"), of_layer(before, "gamma", layer, ""), of_layer(before, "beta", layer, ""),
             of_layer(before, "running_mean", layer, ""), of_layer(before, "running_var", layer, "")));
    made->active = run(all, "relu_forward", &made->elements, NAMES("input"), DATA(of(made->normalised, "output")));
    made->pooled = run(all, "maxpool2d_forward", &made->pool, NAMES("input"), DATA(of(made->active, "output")));
}

// Compares what the step gives for this block, and returns the gradient of its input.
static const double *block_backward(calls *all, const block *made, const harness_values *after, const double *gradient)
{
    const int layer = made->layer;
    const double *weight = of_layer(after, "conv", layer, "_weight");
    const harness_values *pool = run(all, "maxpool2d_backward", &made->pool, NAMES("index", "grad_output"),
                                     DATA(of(made->pooled, "index"), gradient));
    const harness_values *relu =
        run(all, "relu_backward", &made->elements, NAMES("input", "output", "grad_output"),
            DATA(of(made->normalised, "output"), of(made->active, "output"), of(pool, "grad_input")));
    const harness_values *norm =
        run(all, "batchnorm2d_backward", &made->norm, NAMES("input", "gamma", "mean", "inverse_std", "grad_output"),
            DATA(of(made->convolution, "output"), of_layer(after, "gamma", layer, ""), of(made->normalised, "mean"),
                 of(made->normalised, "inverse_std"), of(relu, "grad_input")));
    const harness_values *weights = run(all, "conv2d_backward_weight", &made->conv, NAMES("input", "grad_output"),
                                        DATA(made->input, of(norm, "grad_input")));
    compare_layer(after, "running_mean", layer, "", of(made->normalised, "running_mean"));
    compare_layer(after, "running_var", layer, "", of(made->normalised, "running_var"));
    compare_layer(after, "grad_gamma", layer, "", of(norm, "grad_gamma"));
    compare_layer(after, "grad_beta", layer, "", of(norm, "grad_beta"));
    compare_layer(after, "grad_conv", layer, "_weight", of(weights, "grad_weight"));
    compare_layer(after, "grad_conv", layer, "_bias", of(weights, "grad_bias"));
    return of(run(all, "conv2d_backward_data", &made->conv, NAMES("weight", "grad_output"),
                  DATA(weight, of(norm, "grad_input"))),
              "grad_input");
}

// --- the linear layers and the loss ---------------------------------------------------------------------------------

// Compares what the step gives from the pooled activations on, and returns their gradient.
static const double *head(calls *all, const heddle_cnn_step_shape *shape, const harness_values *after,
                          const double *pooled, const double *labels)
{
    const heddle_linear_shape hidden = {shape->n, shape->k2 * (shape->h / 4) * (shape->w / 4), shape->hidden};
    const heddle_linear_shape output = {shape->n, shape->hidden, shape->classes};
    const heddle_elements_shape elements = {shape->n * shape->hidden};
    const heddle_rows_shape rows = {shape->n, shape->classes};
    const double one = 1, *hidden_weight = of(after, "hidden_weight"), *output_weight = of(after, "output_weight");
    const harness_values *first = run(all, "linear_forward", &hidden, NAMES("input", "weight", "bias"),
                                      DATA(pooled, hidden_weight, of(after, "hidden_bias")));
    const harness_values *active = run(all, "relu_forward", &elements, NAMES("input"), DATA(of(first, "output")));
    const harness_values *logits = run(all, "linear_forward", &output, NAMES("input", "weight", "bias"),
                                       DATA(of(active, "output"), output_weight, of(after, "output_bias")));
    const harness_values *loss =
        run(all, "cross_entropy_forward", &rows, NAMES("logits", "labels"), DATA(of(logits, "output"), labels));
    const harness_values *grad_logits =
        run(all, "cross_entropy_backward", &rows, NAMES("probabilities", "labels", "grad_loss"),
            DATA(of(loss, "probabilities"), labels, &one));
    const harness_values *second = run(all, "linear_backward", &output, NAMES("input", "weight", "grad_output"),
                                       DATA(of(active, "output"), output_weight, of(grad_logits, "grad_logits")));
    const harness_values *grad_hidden = run(all, "relu_backward", &elements, NAMES("input", "output", "grad_output"),
                                            DATA(of(first, "output"), of(active, "output"), of(second, "grad_input")));
    const harness_values *last = run(all, "linear_backward", &hidden, NAMES("input", "weight", "grad_output"),
                                     DATA(pooled, hidden_weight, of(grad_hidden, "grad_input")));
    compare(after, "loss", of(loss, "loss"));
    compare(after, "correct", of(loss, "correct"));
    compare(after, "grad_output_weight", of(second, "grad_weight"));
    compare(after, "grad_output_bias", of(second, "grad_bias"));
    compare(after, "grad_hidden_weight", of(last, "grad_weight"));
    compare(after, "grad_hidden_bias", of(last, "grad_bias"));
    return of(last, "grad_input");
}

static void the_step_is_what_its_operators_give_one_by_one(void **state)
{
    (void)state;
    static calls all;
    heddle_cnn_step_shape shape;
    harness_values before, after;
    assert_int_equal(heddle_shape_parse(&heddle_op_cnn_step, heddle_op_cnn_step.test_shapes[0], &shape), HEDDLE_OK);
    assert_true(shape.h % 2 == 1 && shape.w % 2 == 1 && shape.c > 1); // pooling cuts a row and a column off
    harness_values_create(&before, &heddle_op_cnn_step, &shape);
    harness_values_draw(&before, harness_seed());
    harness_values_copy(&after, &before);
    harness_values_reference(&after);

    const heddle_gather_shape gather = {shape.n, shape.count, shape.length, shape.c * shape.h * shape.w};
    const harness_values *batch =
        run(&all, "gather", &gather, NAMES("dataset", "dataset_labels", "order", "cursor"),
            DATA(of(&before, "images"), of(&before, "labels"), of(&before, "order"), of(&before, "cursor")));
    block first = {.layer = 1, .input = of(batch, "images")}, second = {.layer = 2};
    block_forward(&all, &first, &shape, &before);
    second.input = of(first.pooled, "output");
    block_forward(&all, &second, &shape, &before);
    const double *gradient = head(&all, &shape, &after, of(second.pooled, "output"), of(batch, "labels"));
    gradient = block_backward(&all, &second, &after, gradient);
    block_backward(&all, &first, &after, gradient);

    for (int i = 0; i < all.count; i++)
        harness_values_destroy(&all.made[i]);
    harness_values_destroy(&before);
    harness_values_destroy(&after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_step_is_what_its_operators_give_one_by_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
