// The float64 reference kernels that modules bring for long benchmarks, held to the operators' own references on every
// test shape.

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"
#include "harness.h"

static heddle_device *device;
static heddle_stream *stream;

static void must(heddle_status status)
{
    if (status != HEDDLE_OK)
        fail_msg("%s", heddle_last_error());
}

// Operand `i` on the device: inputs as rungs get them (`given`), outputs in float64, with what an update held.
static void *upload(const harness_values *values, const harness_memory *given, int i)
{
    const heddle_operand *operand = &values->op->operands[i];
    size_t elements = values->elements[i], bytes = elements * sizeof(double);
    void *memory;
    must(heddle_alloc(device, bytes + 1, &memory));
    if (operand->role == HEDDLE_INPUT)
        must(heddle_copy(stream, memory, harness_memory_data(given, i),
                         heddle_operand_bytes(given->op, i, given->shape)));
    else if (operand->role == HEDDLE_UPDATE)
        must(heddle_copy(stream, memory, values->operand[i], bytes));
    else
        must(heddle_fill(stream, memory, 0xff, bytes));
    must(heddle_stream_synchronize(stream));
    return memory;
}

// The order of a sum may differ, no more: so many roundings of float64, of values that are sums of `reduction` terms.
static void compare(const harness_values *expected, int i, const double *got, int64_t reduction, const char *shape)
{
    double bound = 16 * DBL_EPSILON * (1 + (double)reduction);
    for (size_t e = 0; e < expected->elements[i]; e++)
        if (!(fabs(got[e] - expected->operand[i][e]) <= bound * (1 + fabs(expected->operand[i][e]))))
            fail_msg("%s, \"%s\": element %zu of '%s' is %.17g, expected %.17g", expected->op->name, shape, e,
                     expected->op->operands[i].name, got[e], expected->operand[i][e]);
}

// The kernels are plain loops, and a large shape shows nothing that a small one does not: the simulated GPU takes one
// only where there is no smaller.
static bool is_left_out(const heddle_op *op, const void *shape, bool checked_one)
{
    const double most_flops = 1e6;
    return strcmp(harness_device_name(), "sim") == 0 && checked_one && op->cost(shape).flops > most_flops;
}

// Whether it told anything: it was not left out, and not empty.
static bool check_shape(const heddle_op *op, heddle_device_launcher *launcher, const char *text, bool checked_one)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    must(heddle_shape_parse(op, text, shape));
    if (is_left_out(op, shape, checked_one))
        return false;
    harness_values values;
    harness_values_create(&values, op, shape);
    harness_values_prepare(&values, harness_forward_of(op), harness_seed());
    const heddle_rung none = {.name = "reference", .device = HEDDLE_CUDA};
    harness_memory given;
    harness_memory_create(&given, &values, &none, 1, 0);
    heddle_call call = {.shape = shape, .stream = stream};
    void *memory[HARNESS_OPERANDS];
    for (int i = 0, slot; i < op->operand_count; i++) {
        memory[i] = upload(&values, &given, i);
        if (heddle_operand_slot(op, i, &slot))
            call.output[slot] = memory[i];
        else
            call.input[slot] = memory[i];
    }
    must(launcher(&call));
    must(heddle_stream_synchronize(stream));
    harness_values_reference(&values);
    for (int i = 0; i < op->operand_count; i++) {
        size_t bytes = values.elements[i] * sizeof(double);
        if (op->operands[i].role != HEDDLE_INPUT && bytes > 0) {
            double *got = malloc(bytes);
            must(heddle_copy(stream, got, memory[i], bytes));
            must(heddle_stream_synchronize(stream));
            compare(&values, i, got, harness_reduction(op, shape), text);
            free(got);
        }
        heddle_free(device, memory[i]);
    }
    harness_memory_destroy(&given);
    harness_values_destroy(&values);
    return op->cost(shape).flops > 0;
}

// On a device of its own: what one operator makes the simulated GPU watch more closely would slow down all that follow.
static bool check_operator(const heddle_op *op)
{
    heddle_device_launcher *launcher;
    must(heddle_device_open(harness_device_name(), 0, &device));
    must(heddle_stream_create(device, 0, &stream));
    bool found = heddle_device_find_launcher(device, op->name, "reference", &launcher) == HEDDLE_OK,
         checked_one = false;
    for (int s = 0; found && op->test_shapes[s]; s++)
        checked_one |= check_shape(op, launcher, op->test_shapes[s], checked_one);
    heddle_stream_destroy(stream);
    heddle_device_close(device);
    return found;
}

static void reference_kernels_agree_with_the_references(void **state)
{
    (void)state;
    int kernels = 0;
    for (int i = 0; i < heddle_op_count(); i++)
        kernels += check_operator(heddle_op_at(i));
    assert_true(kernels > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_kernels_agree_with_the_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
