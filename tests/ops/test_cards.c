// What is chosen for a card runs on it: every operator's best rung by tier and arithmetic, launched at a test shape.
// Which simulated card, SIM_GPU says (devices.cmake): one whose blocks have less shared memory than those of the card
// that the ladders are written for.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "harness.h"

// What a card can run is known once its module is loaded, and that is when it is first opened.
static int load_module(void **state)
{
    (void)state;
    heddle_device *device;
    if (heddle_device_open("sim", 1, &device) != HEDDLE_OK) {
        print_error("%s\n", heddle_last_error());
        return -1;
    }
    heddle_device_close(device);
    return 0;
}

static void launch(const heddle_op *op, const heddle_rung *rung, const void *shape, const char *text)
{
    harness_values values;
    harness_memory memory;
    harness_values_create(&values, op, shape);
    harness_values_prepare(&values, harness_forward_of(op), harness_seed());
    harness_memory_create(&memory, &values, rung, 1, 0);
    heddle_status status = harness_launch(op, rung, &memory.call);
    harness_memory_destroy(&memory);
    harness_values_destroy(&values);
    if (status != HEDDLE_OK)
        fail_msg("%s, rung %s, \"%s\": %s", op->name, rung->name, text, heddle_last_error());
}

// Each rung once: what a launch asks of a card depends little on the shape.
static void launch_chosen(const heddle_op *op, const char *text, double most_flops, bool *launched)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    assert_int_equal(heddle_shape_parse(op, text, shape), HEDDLE_OK);
    if (op->cost(shape).flops > most_flops)
        return;
    for (int tier = HEDDLE_NAIVE; tier <= HEDDLE_FUSED; tier++)
        for (int arithmetic = HEDDLE_FULL; arithmetic <= HEDDLE_BFLOAT; arithmetic++) {
            const heddle_rung *rung;
            if (heddle_rung_choose(op, HEDDLE_SIM, tier, arithmetic, shape, &rung) != HEDDLE_OK)
                continue; // an operator may have none for this card: its parts are then used one by one
            if (!launched[rung - op->ladder])
                launch(op, rung, shape, text);
            launched[rung - op->ladder] = true;
        }
}

// From the last test shape on, since the first ones are empty; those that take long only for rungs that no other
// reaches.
static void what_is_chosen_runs(void **state)
{
    const heddle_op *op = *state;
    const double flops[] = {1e6, INFINITY};
    bool launched[HARNESS_RUNGS] = {false};
    int shapes = 0;
    while (op->test_shapes[shapes])
        shapes++;
    for (int round = 0; round < 2; round++)
        for (int s = shapes - 1; s >= 0; s--)
            launch_chosen(op, op->test_shapes[s], flops[round], launched);
}

// The best rungs where they stand on the ladder are not all for every card.
static void a_rung_that_takes_more_shared_memory_than_a_block_has_is_not_chosen(void **state)
{
    (void)state;
    const heddle_op *op;
    const heddle_rung *rung;
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    assert_int_equal(heddle_op_find("matmul_forward", &op), HEDDLE_OK);
    assert_int_equal(heddle_shape_parse(op, "m=64 n=64 k=64", shape), HEDDLE_OK);
    assert_int_equal(heddle_rung_choose(op, HEDDLE_SIM, HEDDLE_FUSED, HEDDLE_TF32, shape, &rung), HEDDLE_OK);
    assert_string_equal(rung->name, "11_tf32_wmma");
    assert_int_equal(heddle_op_find("cnn_step", &op), HEDDLE_OK);
    assert_int_equal(heddle_shape_parse(op, "n=16 count=19 length=17", shape), HEDDLE_OK);
    assert_int_equal(heddle_rung_choose(op, HEDDLE_SIM, HEDDLE_FUSED, HEDDLE_BFLOAT, shape, &rung), HEDDLE_UNSUPPORTED);
}

int main(void)
{
    int count = 0;
    struct CMUnitTest *tests = calloc((size_t)heddle_op_count() + 1, sizeof *tests);
    tests[count++] =
        (struct CMUnitTest)cmocka_unit_test(a_rung_that_takes_more_shared_memory_than_a_block_has_is_not_chosen);
    for (int i = 0; i < heddle_op_count(); i++)
        tests[count++] = (struct CMUnitTest){.name = heddle_op_at(i)->name,
                                             .test_func = what_is_chosen_runs,
                                             .initial_state = (void *)(uintptr_t)heddle_op_at(i)};
    int failures = _cmocka_run_group_tests("cards", tests, (size_t)count, load_module, NULL);
    free(tests);
    return failures;
}
