// The trace by itself: what may be added to it, and what differentiating appends, without any memory or device.

#include "helpers.h"

#include <limits.h>
#include <string.h>

#include "heddle/ops.h"
#include "nn/trace.h"

static heddle_value value_of(heddle_trace *trace, const char *name, int count, bool needs_gradient)
{
    heddle_value value = HEDDLE_NO_VALUE;
    assert_ok(heddle_trace_value_add(trace, name, HEDDLE_F32, 1, &count, &value));
    trace->values[value].needs_gradient = needs_gradient;
    return value;
}

// Applies an operator over elements and gives its output.
static heddle_value apply(heddle_trace *trace, const char *name, int count, heddle_value a, heddle_value b)
{
    const heddle_op *op = NULL;
    assert_ok(heddle_op_find(name, &op));
    heddle_elements_shape shape = {.n = count};
    heddle_binding bound[] = {{b < 0 ? "input" : "a", a}, {"b", b}};
    int node = -1;
    assert_ok(heddle_trace_apply(trace, op, &shape, bound, b < 0 ? 1 : 2, &node));
    return heddle_trace_operand(trace, node, "output");
}

static int count_nodes(const heddle_trace *trace, const char *name)
{
    int count = 0;
    for (int i = 0; i < trace->node_count; i++)
        count += strcmp(trace->nodes[i].op->name, name) == 0;
    return count;
}

static void dimensions_that_memory_cannot_have_are_refused(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value value;
    const int negative[] = {3, -1}, wraps[] = {1 << 30, 1 << 30, 16}, wraps_to_one[] = {-1, -1};
    const int ones[HEDDLE_MAX_DIMS + 1] = {1, 1, 1, 1, 1, 1};
    assert_int_equal(heddle_trace_value_add(&trace, "x", HEDDLE_F32, 2, negative, &value), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "negative"));
    assert_int_equal(heddle_trace_value_add(&trace, "x", HEDDLE_F32, 2, wraps_to_one, &value), HEDDLE_INVALID);
    assert_int_equal(heddle_trace_value_add(&trace, "x", HEDDLE_F32, 3, wraps, &value), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "more elements"));
    assert_int_equal(heddle_trace_value_add(&trace, "x", HEDDLE_F32, HEDDLE_MAX_DIMS + 1, ones, &value),
                     HEDDLE_INVALID);
    assert_int_equal(heddle_trace_value_add(&trace, "x", HEDDLE_F32, 1, NULL, &value), HEDDLE_INVALID);
    assert_int_equal(trace.value_count, 0);
    assert_ok(heddle_trace_value_add(&trace, "number", HEDDLE_F32, 0, NULL, &value));
    assert_int_equal(trace.values[value].elements, 1);
    heddle_trace_destroy(&trace);
}

static void operands_of_another_size_or_type_are_refused(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value three = value_of(&trace, "three", 3, false), four = value_of(&trace, "four", 4, false), labels;
    int count = 3, node;
    assert_ok(heddle_trace_value_add(&trace, "labels", HEDDLE_I32, 1, &count, &labels));
    const heddle_op *add = NULL;
    assert_ok(heddle_op_find("add_forward", &add));
    heddle_elements_shape shape = {.n = 3};
    heddle_binding wrong_size[] = {{"a", three}, {"b", four}}, wrong_type[] = {{"a", three}, {"b", labels}};
    assert_int_equal(heddle_trace_apply(&trace, add, &shape, wrong_size, 2, &node), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "'b' must be 3 elements"));
    assert_int_equal(heddle_trace_apply(&trace, add, &shape, wrong_type, 2, &node), HEDDLE_INVALID);
    assert_int_equal(heddle_trace_apply(&trace, add, &shape, wrong_type, 1, &node), HEDDLE_INTERNAL); // b is not bound
    assert_int_equal(trace.node_count, 0);
    heddle_trace_destroy(&trace);
}

static void a_reshape_shares_its_root_and_keeps_the_number_of_elements(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value six = value_of(&trace, "six", 6, true), grid, back;
    const int two_by_three[] = {2, 3}, seven = 7, flat = 6;
    assert_ok(heddle_trace_reshape(&trace, six, 2, two_by_three, &grid));
    assert_ok(heddle_trace_reshape(&trace, grid, 1, &flat, &back));
    assert_int_equal(trace.values[back].root, six);
    assert_int_equal(heddle_trace_reshape(&trace, grid, 1, &seven, &back), HEDDLE_INVALID);
    assert_int_equal(trace.value_count, 3);
    heddle_trace_destroy(&trace);
}

static void what_needs_no_gradient_gets_no_backward_operator(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value constant = value_of(&trace, "constant", 4, false), parameter = value_of(&trace, "parameter", 4, true);
    heddle_value side = apply(&trace, "tanh_forward", 4, constant, -1);
    heddle_value product = apply(&trace, "multiply_forward", 4, parameter, side);
    heddle_value unused = apply(&trace, "tanh_forward", 4, parameter, -1);
    heddle_value loss = apply(&trace, "sum_forward", 4, product, -1), seed = value_of(&trace, "seed", 1, false);
    assert_ok(heddle_trace_differentiate(&trace, loss, seed));
    assert_int_equal(count_nodes(&trace, "tanh_backward"), 0); // one needs none, the other does not reach the loss
    assert_true(trace.values[parameter].gradient != HEDDLE_NO_VALUE);
    assert_int_equal(trace.values[constant].gradient, HEDDLE_NO_VALUE);
    assert_int_equal(trace.values[unused].gradient, HEDDLE_NO_VALUE);
    heddle_trace_destroy(&trace);
}

static void each_further_use_of_a_value_adds_to_its_gradient(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value parameter = value_of(&trace, "parameter", 4, true), slot = value_of(&trace, "slot", 4, false);
    trace.values[parameter].gradient = slot;
    heddle_value square = apply(&trace, "multiply_forward", 4, parameter, parameter);
    heddle_value cube = apply(&trace, "multiply_forward", 4, square, parameter);
    heddle_value loss = apply(&trace, "sum_forward", 4, cube, -1), seed = value_of(&trace, "seed", 1, false);
    assert_ok(heddle_trace_differentiate(&trace, loss, seed));
    assert_int_equal(count_nodes(&trace, "add_forward"), 2); // three uses: the first is written, two are added
    assert_int_equal(trace.values[parameter].gradient, slot);
    heddle_trace_destroy(&trace);
}

static void a_loss_must_be_one_number_that_something_computes(void **state)
{
    (void)state;
    heddle_trace trace = {0};
    heddle_value parameter = value_of(&trace, "weight", 1, true), slot = value_of(&trace, "slot", 1, false);
    trace.values[parameter].gradient = slot;
    heddle_value seed = value_of(&trace, "seed", 1, false), many = value_of(&trace, "many", 2, true), reshaped;
    assert_int_equal(heddle_trace_differentiate(&trace, many, seed), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "one number, but 'many' has 2"));
    assert_ok(heddle_trace_reshape(&trace, parameter, 0, NULL, &reshaped));
    assert_int_equal(heddle_trace_differentiate(&trace, reshaped, seed), HEDDLE_INVALID);
    assert_non_null(strstr(heddle_last_error(), "'weight' is a parameter"));
    assert_int_equal(trace.values[parameter].gradient, slot); // and its place is still its own
    assert_int_equal(trace.node_count, 0);
    heddle_trace_destroy(&trace);
}

static void a_long_trace_grows_without_losing_anything(void **state)
{
    (void)state;
    enum { LENGTH = 300 }; // several times the first room
    heddle_trace trace = {0};
    heddle_value parameter = value_of(&trace, "parameter", 2, true), value = parameter;
    for (int i = 0; i < LENGTH; i++)
        value = apply(&trace, "tanh_forward", 2, value, -1);
    heddle_value loss = apply(&trace, "sum_forward", 2, value, -1), seed = value_of(&trace, "seed", 1, false);
    assert_ok(heddle_trace_differentiate(&trace, loss, seed));
    assert_int_equal(count_nodes(&trace, "tanh_backward"), LENGTH);
    assert_int_equal(trace.node_count, 2 * (LENGTH + 1));
    heddle_trace_destroy(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_that_memory_cannot_have_are_refused),
        cmocka_unit_test(operands_of_another_size_or_type_are_refused),
        cmocka_unit_test(a_reshape_shares_its_root_and_keeps_the_number_of_elements),
        cmocka_unit_test(what_needs_no_gradient_gets_no_backward_operator),
        cmocka_unit_test(each_further_use_of_a_value_adds_to_its_gradient),
        cmocka_unit_test(a_loss_must_be_one_number_that_something_computes),
        cmocka_unit_test(a_long_trace_grows_without_losing_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
