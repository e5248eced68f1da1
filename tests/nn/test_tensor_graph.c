// Tensors as a graph: what computed them, and freeing the part that nobody needs any more.

#include "helpers.h"

#include <string.h>

#include "nn/tensor.h"

static heddle_context *context_on(heddle_device *device)
{
    heddle_context *context = NULL;
    assert_ok(heddle_context_create(device, 7, &context));
    return context;
}

static void a_tensor_names_its_operator_and_its_parents(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *a = heddle_parameter(context, 2, (int[]){2, 3}, 1.0F);
    heddle_tensor *b = heddle_parameter(context, 2, (int[]){3, 2}, 1.0F);
    heddle_tensor *product = heddle_matmul(a, b), *flat = heddle_reshape(product, 1, (int[]){4});
    heddle_tensor *square = heddle_multiply(flat, flat), *dropped = heddle_dropout(square, 0.5F);
    heddle_tensor *parents[3] = {0};
    assert_string_equal(heddle_tensor_op(a), "");
    assert_int_equal(heddle_tensor_parents(a, parents, 3), 0);
    assert_string_equal(heddle_tensor_op(product), "matmul");
    assert_int_equal(heddle_tensor_parents(product, parents, 1), 2);
    assert_ptr_equal(parents[0], a);
    assert_null(parents[1]);
    assert_int_equal(heddle_tensor_parents(product, parents, 3), 2);
    assert_ptr_equal(parents[1], b);
    assert_string_equal(heddle_tensor_op(flat), "reshape");
    assert_int_equal(heddle_tensor_parents(flat, parents, 3), 1);
    assert_ptr_equal(parents[0], product);
    assert_string_equal(heddle_tensor_op(square), "multiply");
    assert_int_equal(heddle_tensor_parents(square, parents, 3), 2);
    assert_ptr_equal(parents[1], flat);
    assert_int_equal(heddle_tensor_parents(dropped, parents, 3), 1); // not the random state
    assert_ptr_equal(parents[0], square);
    assert_string_equal(heddle_tensor_op(NULL), "");
    assert_int_equal(heddle_tensor_parents(NULL, parents, 3), 0);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

// The loss (w * x)^2 summed, where all but the loss and the parameter are released.
static heddle_tensor *released_loss(heddle_context *context, heddle_tensor *w, const float *values)
{
    heddle_tensor *x = heddle_tensor_create(context, 1, (int[]){2}, values);
    heddle_tensor *both = heddle_multiply(w, x), *product = heddle_reshape(both, 2, (int[]){2, 1});
    heddle_tensor *flat = heddle_reshape(product, 1, (int[]){2}), *square = heddle_multiply(flat, flat);
    heddle_tensor *loss = heddle_sum(square);
    assert_non_null(loss);
    heddle_tensor *gone[] = {x, both, product, flat, square};
    for (int i = 0; i < 5; i++)
        heddle_tensor_release(gone[i]);
    return loss;
}

static void a_sweep_keeps_what_a_held_tensor_was_computed_from(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *w = heddle_parameter_from(context, 1, (int[]){2}, (float[]){1, -2});
    heddle_tensor *first = released_loss(context, w, (float[]){1, 1});
    heddle_tensor *second = released_loss(context, w, (float[]){3, 2});
    heddle_tensor_release(first);
    assert_ok(heddle_context_sweep(context));
    assert_float_equal(heddle_tensor_item(second), 9 + 16, 1e-5);
    assert_ok(heddle_backward(second));
    assert_ok(heddle_context_sweep(context)); // the gradients stay, and so does what a second backward needs
    for (int i = 0; i < 2; i++) {
        float gradient[2];
        assert_ok(heddle_tensor_read_gradient(w, gradient));
        assert_float_equal(gradient[0], 2 * 1 * 9, 1e-5);
        assert_float_equal(gradient[1], 2 * -2 * 4, 1e-5);
        assert_ok(heddle_backward(second));
    }
    heddle_tensor *parent = second;
    const char *const ops[] = {"sum", "multiply", "reshape", "reshape", "multiply", ""};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(heddle_tensor_op(parent), ops[i]);
        (void)heddle_tensor_parents(parent, &parent, 1);
    }
    heddle_context_destroy(context);
    heddle_device_close(device);
}

static void a_swept_training_run_needs_no_more_memory_than_its_first_steps(void **state)
{
    (void)state;
    heddle_device *device = open_cpu(1);
    heddle_context *context = context_on(device);
    heddle_tensor *w = heddle_parameter_from(context, 1, (int[]){2}, (float[]){1, -2});
    int values = 0, nodes = 0;
    for (int step = 0; step < 20; step++) {
        heddle_tensor *moment = heddle_parameter(context, 1, (int[]){2}, 1.0F); // a parameter of one step
        heddle_tensor *loss = released_loss(context, heddle_add(w, moment), (float[]){0.1F, 0.2F});
        assert_ok(heddle_backward(loss));
        assert_ok(heddle_sgd_step(context, 0.1F));
        heddle_tensor *sum = NULL;
        (void)heddle_tensor_parents(loss, &sum, 1);
        while (strcmp(heddle_tensor_op(sum), "add") != 0)
            (void)heddle_tensor_parents(sum, &sum, 1);
        heddle_tensor_release(sum);
        heddle_tensor_release(loss);
        heddle_tensor_release(moment);
        assert_ok(heddle_context_sweep(context));
        if (step == 0) {
            values = context->trace.value_count;
            nodes = context->trace.node_count;
        }
        assert_int_equal(context->trace.value_count, values);
        assert_int_equal(context->trace.node_count, nodes);
        assert_null(context->tensors);
        assert_ptr_equal(context->parameters, w);
        assert_null(w->next);
    }
    assert_int_equal(nodes, 0);
    assert_int_equal(heddle_context_sweep(NULL), HEDDLE_INVALID);
    heddle_tensor_release(NULL);
    heddle_context_destroy(context);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_names_its_operator_and_its_parents),
        cmocka_unit_test(a_sweep_keeps_what_a_held_tensor_was_computed_from),
        cmocka_unit_test(a_swept_training_run_needs_no_more_memory_than_its_first_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
