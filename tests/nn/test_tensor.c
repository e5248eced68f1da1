// Tensors: values, gradients against finite differences, errors that are passed on and reported once.

#include "helpers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef heddle_tensor *expression(heddle_context *context, heddle_tensor *x);

static heddle_context *context_on(heddle_device *device)
{
    heddle_context *context = NULL;
    assert_ok(heddle_context_create(device, 7, &context));
    return context;
}

// Compares heddle_backward with central differences of the same expression, element by element.
static void check_gradient(expression *f, int rank, const int *dims)
{
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *x = heddle_parameter(context, rank, dims, 1.0F);
    assert_non_null(x);
    size_t count = heddle_tensor_elements(x);
    float *values = calloc(count, sizeof *values), *gradient = calloc(count, sizeof *gradient);
    assert_ok(heddle_tensor_read(x, values));
    heddle_tensor *loss = f(context, x);
    assert_ok(heddle_backward(loss));
    assert_ok(heddle_tensor_read_gradient(x, gradient));
    const float step = 1e-2F;
    for (size_t i = 0; i < count; i++) {
        double sides[2];
        for (int side = 0; side < 2; side++) {
            float moved = values[i];
            values[i] = moved + (side ? step : -step);
            heddle_tensor *changed = heddle_tensor_create(context, rank, dims, values);
            sides[side] = (double)heddle_tensor_item(f(context, changed));
            values[i] = moved;
        }
        double expected = (sides[1] - sides[0]) / (2 * (double)step);
        assert_true(fabs(expected - (double)gradient[i]) < 2e-2 * (1 + fabs(expected)));
    }
    free(values);
    free(gradient);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

// Weights that make the sum depend on every element differently.
static heddle_tensor *weighted_sum(heddle_context *context, heddle_tensor *x)
{
    int count = (int)heddle_tensor_elements(x), rank = heddle_tensor_rank(x), dims[5];
    for (int i = 0; i < rank; i++)
        dims[i] = heddle_tensor_dim(x, i);
    float *weights = calloc((size_t)count, sizeof *weights);
    for (int i = 0; i < count; i++)
        weights[i] = 0.3F + 0.1F * (float)(i % 7);
    heddle_tensor *w = heddle_tensor_create(context, rank, dims, weights);
    free(weights);
    return heddle_sum(heddle_multiply(x, w));
}

static heddle_tensor *square(heddle_context *context, heddle_tensor *x)
{
    return weighted_sum(context, heddle_multiply(x, x));
}

static heddle_tensor *used_three_times(heddle_context *context, heddle_tensor *x)
{
    return weighted_sum(context, heddle_add(heddle_multiply(heddle_tanh(x), x), x));
}

static heddle_tensor *smooth_chain(heddle_context *context, heddle_tensor *x)
{
    heddle_tensor *y = heddle_gelu(heddle_swish(heddle_softplus(heddle_elu(heddle_sigmoid(x)))));
    return weighted_sum(context, heddle_log_softmax(heddle_softmax(y)));
}

static heddle_tensor *convolution(heddle_context *context, heddle_tensor *x)
{
    float weights[2 * 3 * 2 * 2];
    for (int i = 0; i < 24; i++)
        weights[i] = 0.5F - 0.07F * (float)(i % 11);
    heddle_tensor *w = heddle_tensor_create(context, 4, (int[]){2, 3, 2, 2}, weights);
    heddle_tensor *y = heddle_avgpool2d(heddle_conv2d(x, w, NULL, 1, 1, 1), 2, 2, 0);
    return weighted_sum(context, heddle_reshape(y, 2, (int[]){2, 8}));
}

static heddle_tensor *normalised(heddle_context *context, heddle_tensor *x)
{
    heddle_tensor *gamma = heddle_tensor_create(context, 1, (int[]){3}, (float[]){1.5F, -0.5F, 0.7F});
    heddle_tensor *beta = heddle_tensor_create(context, 1, (int[]){3}, NULL);
    heddle_tensor *y = heddle_batchnorm2d(x, gamma, beta, 1e-3F);
    return weighted_sum(context, heddle_multiply(y, y));
}

static heddle_tensor *classified(heddle_context *context, heddle_tensor *x)
{
    heddle_tensor *w =
        heddle_tensor_create(context, 2, (int[]){3, 4}, (float[]){1, 2, 3, 4, -1, 0, 1, 2, 0.5F, 1, -2, 1});
    heddle_tensor *labels = heddle_tensor_labels(context, 2, (int32_t[]){2, 0});
    return heddle_cross_entropy(heddle_linear(x, w, NULL), labels);
}

static heddle_tensor *product_mean(heddle_context *context, heddle_tensor *x)
{
    heddle_tensor *b = heddle_tensor_create(context, 2, (int[]){4, 2}, (float[]){1, -1, 2, 0.5F, 3, 1, -2, 4});
    heddle_tensor *y = heddle_matmul(x, b);
    return heddle_mean(heddle_multiply(y, y));
}

static void gradient_of_a_value_used_twice_in_one_operator(void **state)
{
    (void)state;
    check_gradient(square, 1, (int[]){5});
}

static void gradients_of_several_uses_add_up(void **state)
{
    (void)state;
    check_gradient(used_three_times, 2, (int[]){2, 3});
}

static void gradient_passes_through_every_smooth_activation(void **state)
{
    (void)state;
    check_gradient(smooth_chain, 2, (int[]){3, 4});
}

static void gradient_passes_through_convolution_pooling_and_reshape(void **state)
{
    (void)state;
    check_gradient(convolution, 4, (int[]){2, 3, 3, 3});
}

static void gradient_passes_through_batch_statistics(void **state)
{
    (void)state;
    check_gradient(normalised, 4, (int[]){2, 3, 2, 3});
}

static void gradient_passes_through_linear_and_cross_entropy(void **state)
{
    (void)state;
    check_gradient(classified, 2, (int[]){2, 4});
}

static void gradient_passes_through_matmul(void **state)
{
    (void)state;
    check_gradient(product_mean, 2, (int[]){3, 4});
}

static void dropout_scales_what_it_keeps(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    enum { COUNT = 4000 };
    static float ones[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++)
        ones[i] = 1;
    heddle_tensor *x = heddle_tensor_create(context, 1, (int[]){COUNT}, ones);
    assert_ok(heddle_tensor_read(heddle_dropout(x, 0.25F), out));
    int kept = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(out[i] == 0 || fabsf(out[i] - 1 / 0.75F) < 1e-6F);
        kept += out[i] != 0;
    }
    assert_in_range(kept, COUNT * 0.70, COUNT * 0.80);
    static float again[COUNT];
    assert_ok(heddle_tensor_read(heddle_dropout(x, 0.25F), again));
    assert_memory_not_equal(out, again, sizeof out); // each use draws new numbers
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_wrong_shape_is_reported_by_backward(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *a = heddle_parameter(context, 2, (int[]){2, 3}, 1.0F);
    heddle_tensor *b = heddle_parameter(context, 2, (int[]){2, 3}, 1.0F);
    heddle_tensor *loss = heddle_sum(heddle_relu(heddle_matmul(a, b)));
    assert_null(loss);
    assert_int_equal(heddle_backward(loss), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "(2, 3) times (2, 3)"));
    heddle_context_clear(context); // and the context works again
    assert_non_null(heddle_sum(a));
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void the_first_failure_is_reported_whatever_came_after(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *a = heddle_parameter(context, 2, (int[]){2, 3}, 1.0F);
    heddle_tensor *product = heddle_matmul(a, a);
    heddle_tensor *reshaped = heddle_reshape(a, 1, (int[]){7});
    float values[6];
    assert_int_equal(heddle_tensor_read(product, values), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "(2, 3) times (2, 3)"));
    assert_int_equal(heddle_backward(heddle_add(product, reshaped)), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "(2, 3) times (2, 3)"));
    heddle_context_clear(context);
    assert_int_equal(heddle_backward(NULL), HEDDLE_INVALID); // now a NULL with no story
    assert_non_null(strstr(heddle_last_error(), "NULL"));
    assert_ok(heddle_backward(heddle_sum(a)));
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void tensors_of_two_contexts_do_not_mix(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *one = context_on(device), *other = context_on(device);
    for (int i = 0; i < 200; i++) // so that the other's numbers mean nothing in the first
        assert_non_null(heddle_tensor_create(other, 1, (int[]){3}, NULL));
    heddle_tensor *a = heddle_tensor_create(one, 1, (int[]){3}, NULL);
    heddle_tensor *b = heddle_tensor_create(other, 1, (int[]){3}, NULL);
    assert_null(heddle_add(a, b));
    assert_non_null(strstr(heddle_last_error(), "another context"));
    heddle_context_destroy(one);
    heddle_context_destroy(other);
    heddle_device_close(device);
}

static void impossible_dimensions_are_refused(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    float values[4] = {0};
    assert_null(heddle_parameter_from(context, 2, (int[]){-1, -1}, values));
    assert_null(heddle_parameter(context, 2, (int[]){-1, -1}, 1.0F));
    assert_null(heddle_parameter(context, 9, (int[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 1.0F));
    assert_null(heddle_tensor_create(context, 3, (int[]){1 << 30, 1 << 30, 16}, NULL));
    assert_null(heddle_tensor_labels(context, -1, NULL));
    assert_null(heddle_tensor_create(NULL, 1, (int[]){1}, NULL));
    assert_int_equal(heddle_sgd_step(NULL, 0.1F), HEDDLE_INVALID);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_tensor_without_elements_can_be_used(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *empty = heddle_parameter(context, 2, (int[]){0, 3}, 1.0F);
    float nothing[1] = {5};
    assert_non_null(empty);
    assert_int_equal(heddle_tensor_elements(empty), 0);
    assert_ok(heddle_tensor_read(empty, nothing));
    assert_true(nothing[0] == 5);
    assert_int_equal(heddle_tensor_read_gradient(empty, nothing), HEDDLE_INVALID);
    assert_true(isnan(heddle_tensor_item(empty)));
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void backward_again_replaces_the_gradient(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    float gradient[2];
    heddle_tensor *x = heddle_parameter_from(context, 1, (int[]){2}, (float[]){3, 4});
    heddle_tensor *loss = heddle_sum(heddle_add(heddle_multiply(x, x), x)); // x² + x
    for (int i = 0; i < 2; i++) {
        assert_ok(heddle_backward(loss));
        assert_ok(heddle_tensor_read_gradient(x, gradient));
        assert_true(gradient[0] == 7 && gradient[1] == 9);
    }
    assert_ok(heddle_backward(heddle_multiply(loss, loss))); // on top of what has its gradients already
    assert_ok(heddle_tensor_read_gradient(x, gradient));
    assert_true(gradient[0] == 2 * 32 * 7 && gradient[1] == 2 * 32 * 9);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_parameter_is_no_loss_and_keeps_its_gradients_place(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    float gradient = 0;
    heddle_tensor *x = heddle_parameter_from(context, 1, (int[]){1}, (float[]){2});
    assert_int_equal(heddle_backward(x), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "parameter"));
    assert_ok(heddle_backward(heddle_multiply(x, x)));
    assert_ok(heddle_tensor_read_gradient(x, &gradient));
    assert_true(gradient == 4);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void backward_from_many_numbers_is_refused(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *a = heddle_parameter(context, 1, (int[]){3}, 1.0F);
    assert_int_equal(heddle_backward(heddle_relu(a)), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "sum or mean"));
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_parameter_without_gradient_says_so(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *used = heddle_parameter(context, 1, (int[]){3}, 1.0F);
    heddle_tensor *unused = heddle_parameter(context, 1, (int[]){3}, 1.0F);
    float gradient[3];
    assert_ok(heddle_backward(heddle_sum(used)));
    assert_ok(heddle_tensor_read_gradient(used, gradient));
    assert_true(gradient[0] == 1 && gradient[1] == 1 && gradient[2] == 1);
    assert_int_equal(heddle_tensor_read_gradient(unused, gradient), HEDDLE_INVALID);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void sgd_moves_parameters_against_their_gradient(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    float start[] = {1, 2, 3}, after[3];
    heddle_tensor *p = heddle_parameter_from(context, 1, (int[]){3}, start);
    for (int step = 0; step < 2; step++) {
        assert_ok(heddle_backward(heddle_sum(heddle_multiply(p, p))));
        assert_ok(heddle_sgd_step(context, 0.25F));
        heddle_context_clear(context);
    }
    assert_ok(heddle_tensor_read(p, after));
    for (int i = 0; i < 3; i++)
        assert_float_equal(after[i], start[i] / 4, 1e-6F);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

// --- optimisers, against PyTorch's rules in float64 -----------------------------------------------------------------

enum { TRAINED = 5, OPTIMISER_STEPS = 5 };

// One parameter's number as PyTorch's optimisers see it.
typedef struct trained {
    double value, velocity, mean, square;
    int steps;
} trained;

static void momentum_rule(trained *number, double gradient, const heddle_momentum_options *options)
{
    gradient += (double)options->weight_decay * number->value;
    number->velocity = (double)options->momentum * number->velocity + gradient;
    double direction = options->nesterov ? gradient + (double)options->momentum * number->velocity : number->velocity;
    number->value -= (double)options->rate * direction;
}

static void adamw_rule(trained *number, double gradient, const heddle_adamw_options *options)
{
    const double beta1 = (double)options->beta1, beta2 = (double)options->beta2;
    number->steps++;
    number->value *= 1 - (double)options->rate * (double)options->weight_decay;
    number->mean = beta1 * number->mean + (1 - beta1) * gradient;
    number->square = beta2 * number->square + (1 - beta2) * gradient * gradient;
    double size = sqrt(number->square / (1 - pow(beta2, number->steps))) + (double)options->epsilon;
    number->value -= (double)options->rate * (number->mean / (1 - pow(beta1, number->steps))) / size;
}

// Five steps on the sum of p², whose gradient is 2p; a second parameter has a gradient at every second step only.
static void compare_with_rule(const heddle_momentum_options *momentum, const heddle_adamw_options *adamw)
{
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    float start[2][TRAINED] = {{1, -2, 3, 0.5F, -0.25F}, {0.1F, 4, -1, 2, 1}}, after[TRAINED];
    heddle_tensor *p[2];
    trained numbers[2][TRAINED] = {0};
    for (int k = 0; k < 2; k++) {
        p[k] = heddle_parameter_from(context, 1, (int[]){TRAINED}, start[k]);
        for (int i = 0; i < TRAINED; i++)
            numbers[k][i].value = (double)start[k][i];
    }
    for (int step = 0; step < OPTIMISER_STEPS; step++) {
        const int used = step % 2 ? 1 : 2;
        heddle_tensor *loss = heddle_sum(heddle_multiply(p[0], p[0]));
        if (used == 2)
            loss = heddle_add(loss, heddle_sum(heddle_multiply(p[1], p[1])));
        assert_ok(heddle_backward(loss));
        assert_ok(momentum ? heddle_momentum_step(context, momentum) : heddle_adamw_step(context, adamw));
        heddle_context_clear(context);
        for (int k = 0; k < used; k++)
            for (int i = 0; i < TRAINED; i++) {
                double gradient = 2 * numbers[k][i].value;
                if (momentum)
                    momentum_rule(&numbers[k][i], gradient, momentum);
                else
                    adamw_rule(&numbers[k][i], gradient, adamw);
            }
        for (int k = 0; k < 2; k++) {
            assert_ok(heddle_tensor_read(p[k], after));
            for (int i = 0; i < TRAINED; i++)
                assert_true(fabs((double)after[i] - numbers[k][i].value) < 2e-6 * (1 + fabs(numbers[k][i].value)));
        }
    }
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void momentum_steps_are_pytorchs(void **state)
{
    (void)state;
    compare_with_rule(&(heddle_momentum_options){.rate = 0.1F, .momentum = 0.9F}, NULL);
    compare_with_rule(&(heddle_momentum_options){.rate = 0.1F, .momentum = 0.9F, .weight_decay = 0.1F}, NULL);
    compare_with_rule(
        &(heddle_momentum_options){.rate = 0.05F, .momentum = 0.8F, .weight_decay = 0.2F, .nesterov = true}, NULL);
    compare_with_rule(&(heddle_momentum_options){.rate = 0.1F}, NULL);
}

static void adamw_steps_are_pytorchs(void **state)
{
    (void)state;
    const heddle_adamw_options defaults = heddle_adamw_defaults();
    compare_with_rule(NULL, &defaults);
    compare_with_rule(NULL, &(heddle_adamw_options){
                                .rate = 0.1F, .beta1 = 0.8F, .beta2 = 0.95F, .epsilon = 1e-3F, .weight_decay = 0.3F});
}

// What the optimiser before had remembered is gone.
static void another_optimiser_begins_anew(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    const heddle_momentum_options momentum = {.rate = 0.1F, .momentum = 0.9F};
    const heddle_adamw_options adamw = heddle_adamw_defaults();
    trained number = {.value = 1};
    float after;
    heddle_tensor *p = heddle_parameter_from(context, 1, (int[]){1}, (float[]){1});
    for (int step = 0; step < 3; step++) {
        assert_ok(heddle_backward(heddle_sum(heddle_multiply(p, p))));
        assert_ok(step == 1 ? heddle_adamw_step(context, &adamw) : heddle_momentum_step(context, &momentum));
        heddle_context_clear(context);
        number = (trained){.value = number.value};
        if (step == 1)
            adamw_rule(&number, 2 * number.value, &adamw);
        else
            momentum_rule(&number, 2 * number.value, &momentum);
    }
    assert_ok(heddle_tensor_read(p, &after));
    assert_true(fabs((double)after - number.value) < 1e-6);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void optimiser_settings_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    const heddle_momentum_options good = {.rate = 0.1F, .momentum = 0.9F};
    const heddle_momentum_options momentum[] = {{.rate = NAN, .momentum = 0.9F},
                                                {.rate = 0.1F, .momentum = 1},
                                                {.rate = 0.1F, .momentum = -0.1F},
                                                {.rate = 0.1F, .momentum = 0.9F, .weight_decay = -1},
                                                {.rate = 0.1F, .nesterov = true}};
    for (size_t i = 0; i < sizeof momentum / sizeof *momentum; i++)
        assert_int_equal(heddle_momentum_step(context, &momentum[i]), HEDDLE_INVALID);
    heddle_adamw_options adamw[5];
    for (int i = 0; i < 5; i++)
        adamw[i] = heddle_adamw_defaults();
    adamw[0].rate = INFINITY;
    adamw[1].beta1 = 1;
    adamw[2].beta2 = NAN;
    adamw[3].epsilon = -1;
    adamw[4].weight_decay = INFINITY;
    for (int i = 0; i < 5; i++)
        assert_int_equal(heddle_adamw_step(context, &adamw[i]), HEDDLE_INVALID);
    assert_int_equal(heddle_momentum_step(NULL, &good), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "heddle_momentum_step needs a context, and got NULL"));
    assert_int_equal(heddle_adamw_step(context, NULL), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "heddle_adamw_step needs a context and options, and got NULL"));
    assert_ok(heddle_momentum_step(context, &good)); // no parameter has a gradient: nothing happens
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_failure_that_is_not_used_does_not_spoil_another_expression(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *a = heddle_parameter(context, 1, (int[]){3}, 1.0F);
    assert_null(heddle_reshape(a, 1, (int[]){4}));
    assert_ok(heddle_backward(heddle_sum(a)));
    assert_int_equal(heddle_sgd_step(context, NAN), HEDDLE_INVALID);
    assert_true(isnan(heddle_tensor_item(a)));
    assert_non_null(strstr(heddle_last_error(), "3 elements"));
    heddle_context_destroy(context);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_that_is_not_used_does_not_spoil_another_expression),
        cmocka_unit_test(gradient_of_a_value_used_twice_in_one_operator),
        cmocka_unit_test(gradients_of_several_uses_add_up),
        cmocka_unit_test(gradient_passes_through_every_smooth_activation),
        cmocka_unit_test(gradient_passes_through_convolution_pooling_and_reshape),
        cmocka_unit_test(gradient_passes_through_batch_statistics),
        cmocka_unit_test(gradient_passes_through_linear_and_cross_entropy),
        cmocka_unit_test(gradient_passes_through_matmul),
        cmocka_unit_test(dropout_scales_what_it_keeps),
        cmocka_unit_test(a_wrong_shape_is_reported_by_backward),
        cmocka_unit_test(the_first_failure_is_reported_whatever_came_after),
        cmocka_unit_test(tensors_of_two_contexts_do_not_mix),
        cmocka_unit_test(impossible_dimensions_are_refused),
        cmocka_unit_test(a_tensor_without_elements_can_be_used),
        cmocka_unit_test(backward_again_replaces_the_gradient),
        cmocka_unit_test(a_parameter_is_no_loss_and_keeps_its_gradients_place),
        cmocka_unit_test(backward_from_many_numbers_is_refused),
        cmocka_unit_test(a_parameter_without_gradient_says_so),
        cmocka_unit_test(sgd_moves_parameters_against_their_gradient),
        cmocka_unit_test(momentum_steps_are_pytorchs),
        cmocka_unit_test(adamw_steps_are_pytorchs),
        cmocka_unit_test(another_optimiser_begins_anew),
        cmocka_unit_test(optimiser_settings_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
