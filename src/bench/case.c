// Makes a case: inputs, expected values and their scale. The scale comes from a second run of the reference with
// perturbed inputs, which large shapes leave out. Comparing with what is expected is verify.c's.

#include "bench/case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/threads.h"
#include "device/device.h"
#include "ops/tolerance.h"

// The reference on the CPU is a plain loop in one thread: at 1 ns per operation this takes 20 s.
static const double most_reference_flops = 2e10;
// Beyond this the device's own reference kernel is used, where it has one.
static const double long_reference_flops = 1e9;
// Inputs are perturbed up to this size; beyond it the root mean square of so many elements serves as well.
static const double most_perturbed_elements = 1e7;
static const double most_perturbed_flops = 5e8;

// --- scale -----------------------------------------------------------------------------------------------------------

typedef struct squares {
    const double *values;
    double *sums; // one per piece
} squares;

static void add_squares(void *context, size_t first, size_t last)
{
    squares *job = context;
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += job->values[i] * job->values[i];
    job->sums[first / HEDDLE_VALUES_PIECE] = sum;
}

static heddle_status root_mean_square(heddle_pool *pool, const double *values, size_t elements, double *result)
{
    size_t count = elements / HEDDLE_VALUES_PIECE + 1;
    squares job = {values, calloc(count, sizeof(double))};
    if (!job.sums)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to add up a reference");
    heddle_values_pieces(pool, elements, add_squares, &job);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += job.sums[i];
    free(job.sums);
    *result = elements ? sqrt(sum / (double)elements) : 0;
    return HEDDLE_OK;
}

// --- expected values -------------------------------------------------------------------------------------------------

// Copies operand i, as a rung gets it, to new device memory; NULL if it is empty.
static heddle_status upload(const heddle_bench_place *place, const heddle_operand_values *values, int i, void **made)
{
    const heddle_op *op = values->op;
    const size_t size = heddle_operand_bytes(op, i, values->shape);
    *made = NULL;
    if (size == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_alloc(place->device, size, made));
    void *bytes = malloc(size);
    if (!bytes)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for operand '%s' of %s", op->operands[i].name, op->name);
    heddle_values_encode(heddle_operand_dtype(op, i, values->shape), heddle_operand_columns(op, i, values->shape),
                         place->pool, values->operand[i], values->elements[i], bytes);
    heddle_status status = heddle_copy(place->stream, *made, bytes, size);
    if (status == HEDDLE_OK)
        status = heddle_stream_synchronize(place->stream);
    free(bytes);
    return status;
}

static heddle_status upload_read(heddle_bench_case *one, int set, const heddle_operand_values *values)
{
    for (int i = 0; i < one->op->operand_count; i++)
        if (heddle_bench_is_read(&one->op->operands[i]))
            HEDDLE_TRY(upload(&one->place, values, i, &one->pristine[set][i]));
    return HEDDLE_OK;
}

static void run_reference(void *context, int index, int worker)
{
    (void)worker;
    heddle_operand_values *values = context;
    heddle_operand_values_reference(&values[index]);
}

// Takes what the reference left of a set, and its scale.
static heddle_status take_expected(heddle_bench_case *one, int set, heddle_operand_values *values)
{
    for (int i = 0; i < one->op->operand_count; i++) {
        if (one->op->operands[i].role == HEDDLE_INPUT)
            continue;
        HEDDLE_TRY(
            root_mean_square(one->place.pool, values->operand[i], one->elements[i], &one->expected[set].scale[i]));
        one->expected[set].operand[i] = values->operand[i]; // the case's from here on
        values->operand[i] = NULL;
    }
    return HEDDLE_OK;
}

// Both sets' references at once, each in its own thread. `before`: the first set again, to perturb its inputs; NULL:
// they are not perturbed.
static heddle_status expect_by_host(heddle_bench_case *one, heddle_operand_values values[HEDDLE_BENCH_SETS],
                                    heddle_operand_values *before)
{
    double scale[HEDDLE_VALUES_OPERANDS] = {0};
    heddle_pool_run(one->place.pool, HEDDLE_BENCH_SETS, run_reference, values);
    if (before)
        HEDDLE_TRY(
            heddle_tolerance_scale(one->op, one->shape, before->operand, values[0].operand, one->elements, scale));
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        HEDDLE_TRY(take_expected(one, set, &values[set]));
        for (int i = 0; i < one->op->operand_count; i++)
            one->expected[set].scale[i] = fmax(one->expected[set].scale[i], scale[i]);
    }
    return HEDDLE_OK;
}

// By the device's reference kernel: inputs as a rung gets them, outputs in float64.
static heddle_status launch_reference(const heddle_bench_place *place, heddle_device_launcher *launcher,
                                      void *const *device_input, heddle_operand_values *values, void **device_output)
{
    const heddle_op *op = values->op;
    heddle_call call = {.shape = values->shape, .stream = place->stream};
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        size_t bytes = values->elements[i] * sizeof(double);
        if (!heddle_operand_slot(op, i, &slot)) {
            call.input[slot] = device_input[i];
            continue;
        }
        HEDDLE_TRY(heddle_alloc(place->device, bytes, &device_output[i]));
        call.output[slot] = device_output[i];
        HEDDLE_TRY(heddle_bench_is_read(&op->operands[i])
                       ? heddle_copy(place->stream, device_output[i], values->operand[i], bytes)
                       : heddle_fill(place->stream, device_output[i], heddle_bench_poison[0], bytes));
    }
    HEDDLE_TRY(launcher(&call));
    for (int i = 0; i < op->operand_count; i++)
        if (device_output[i])
            HEDDLE_TRY(
                heddle_copy(place->stream, values->operand[i], device_output[i], values->elements[i] * sizeof(double)));
    return heddle_stream_synchronize(place->stream);
}

static heddle_status reference_by_device(const heddle_bench_place *place, heddle_device_launcher *launcher,
                                         void *const *device_input, heddle_operand_values *values)
{
    void *device_output[HEDDLE_VALUES_OPERANDS] = {NULL};
    heddle_status status = launch_reference(place, launcher, device_input, values, device_output);
    for (int i = 0; i < HEDDLE_VALUES_OPERANDS; i++)
        heddle_free(place->device, device_output[i]);
    return status;
}

static heddle_status expect_by_device(heddle_bench_case *one, heddle_device_launcher *launcher,
                                      heddle_operand_values *values)
{
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        HEDDLE_TRY(reference_by_device(&one->place, launcher, one->pristine[set], &values[set]));
        HEDDLE_TRY(take_expected(one, set, &values[set]));
    }
    return HEDDLE_OK;
}

// The device's reference kernel for an operator, if the shape is one for which the CPU takes long; NULL: none.
static heddle_device_launcher *device_reference(const heddle_bench_place *place, const heddle_op *op, const void *shape)
{
    heddle_device_launcher *launcher = NULL;
    if (op->cost(shape).flops > long_reference_flops && heddle_device_get_kind(place->device) == HEDDLE_CUDA)
        heddle_device_find_launcher(place->device, op->name, "reference", &launcher);
    return launcher;
}

// What a forward operator saves for its gradient.
static heddle_status save(void *context, heddle_operand_values *values)
{
    const heddle_bench_place *place = context;
    heddle_device_launcher *launcher = device_reference(place, values->op, values->shape);
    if (!launcher) {
        heddle_operand_values_reference(values);
        return HEDDLE_OK;
    }
    void *device_input[HEDDLE_VALUES_OPERANDS] = {NULL};
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < values->op->operand_count && status == HEDDLE_OK; i++)
        if (heddle_bench_is_read(&values->op->operands[i]))
            status = upload(place, values, i, &device_input[i]);
    if (status == HEDDLE_OK)
        status = reference_by_device(place, launcher, device_input, values);
    for (int i = 0; i < HEDDLE_VALUES_OPERANDS; i++)
        heddle_free(place->device, device_input[i]);
    return status;
}

// Which reference can be afforded: the device's (*launcher set), the host's, or none.
static heddle_status choose_reference(const heddle_bench_case *one, heddle_device_launcher **launcher)
{
    const heddle_op *op = one->op;
    const heddle_op *forward = heddle_operand_values_forward(op);
    double flops = op->cost(one->shape).flops, before = forward ? forward->cost(one->shape).flops : 0;
    *launcher = device_reference(&one->place, op, one->shape);
    const bool saves_by_device = forward && device_reference(&one->place, forward, one->shape);
    if ((!saves_by_device && before > most_reference_flops) || (!*launcher && flops > most_reference_flops))
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: shape too large for the reference (%.2g operations)",
                           flops + before);
    double bytes = 0;
    for (int i = 0; i < op->operand_count; i++)
        bytes += (double)one->elements[i] * sizeof(double) * HEDDLE_BENCH_SETS;
    char need[32], have[32];
    if (bytes > (double)one->place.host_memory)
        return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: the reference needs %s of memory, %s are free",
                           heddle_text_bytes(bytes, need, sizeof need),
                           heddle_text_bytes((double)one->place.host_memory, have, sizeof have));
    return HEDDLE_OK;
}

enum { BEFORE = HEDDLE_BENCH_SETS, DRAWN }; // the sets, and the first of them as it was before the reference

static heddle_status expect(heddle_bench_case *one, heddle_operand_values values[DRAWN], uint64_t seed)
{
    heddle_device_launcher *launcher;
    HEDDLE_TRY(choose_reference(one, &launcher));
    double elements = 0;
    for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
        HEDDLE_TRY(heddle_operand_values_create(&values[set], one->op, one->shape));
        values[set].whole = heddle_bench_has_whole_numbers(one->op, set);
        HEDDLE_TRY(
            heddle_operand_values_draw_by(&values[set], one->place.pool, seed + (uint64_t)set, save, &one->place));
        HEDDLE_TRY(upload_read(one, set, &values[set]));
    }
    for (int i = 0; i < one->op->operand_count; i++)
        elements += (double)one->elements[i];
    if (launcher)
        return expect_by_device(one, launcher, values);
    bool perturb = one->op->exactness != HEDDLE_NORM && elements <= most_perturbed_elements &&
                   one->op->cost(one->shape).flops <= most_perturbed_flops;
    if (perturb)
        HEDDLE_TRY(heddle_operand_values_copy(&values[BEFORE], &values[0]));
    return expect_by_host(one, values, perturb ? &values[BEFORE] : NULL);
}

// --- life ------------------------------------------------------------------------------------------------------------

static heddle_status check_room(const char *where, double bytes, uint64_t room)
{
    char need[32], have[32];
    if (bytes <= (double)room)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_UNSUPPORTED, "not checked: the operands need %s, the %s has %s free",
                       heddle_text_bytes(bytes, need, sizeof need), where,
                       heddle_text_bytes((double)room, have, sizeof have));
}

// Asked first, because a host may promise memory that it does not have. Operands of a GPU's rung may be in host memory.
static heddle_status check_memory(const heddle_bench_place *place, const heddle_op *op, const void *shape)
{
    heddle_device_info now;
    double on_device = 0, on_host = 0;
    HEDDLE_TRY(heddle_device_describe(place->device, &now));
    for (int i = 0; i < op->operand_count; i++) {
        double bytes = (double)heddle_operand_bytes(op, i, shape);
        if (op->operands[i].on_host && heddle_device_get_kind(place->device) != HEDDLE_CPU)
            on_host += bytes;
        else
            on_device += bytes;
    }
    HEDDLE_TRY(check_room("host", on_host, place->host_memory));
    return check_room("device", on_device, now.memory_free);
}

heddle_status heddle_bench_case_create(const heddle_bench_place *place, const heddle_op *op, const void *shape,
                                       uint64_t seed, heddle_bench_case **made)
{
    *made = NULL;
    HEDDLE_TRY(check_memory(place, op, shape));
    heddle_bench_case *one = calloc(1, sizeof *one);
    if (!one)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a benchmark");
    one->place = *place;
    one->op = op;
    one->shape = shape;
    heddle_status status = heddle_alloc_pinned(place->device, HEDDLE_BENCH_STAGE_BYTES, &one->stage);
    for (int i = 0; i < op->operand_count && status == HEDDLE_OK; i++) {
        one->elements[i] = heddle_operand_elements(op, i, shape);
        one->bytes[i] = heddle_operand_bytes(op, i, shape);
        size_t bytes = one->bytes[i] + heddle_bench_guard_of(one, i);
        status = op->operands[i].on_host ? heddle_alloc_pinned(place->device, bytes, &one->work[i])
                                         : heddle_alloc(place->device, bytes, &one->work[i]);
    }
    heddle_operand_values values[DRAWN] = {{0}};
    if (status == HEDDLE_OK)
        status = expect(one, values, seed);
    for (int i = 0; i < DRAWN; i++)
        heddle_operand_values_destroy(&values[i]);
    if (status != HEDDLE_OK) {
        heddle_bench_case_destroy(one);
        return status;
    }
    *made = one;
    return HEDDLE_OK;
}

void heddle_bench_case_destroy(heddle_bench_case *one)
{
    if (!one)
        return;
    for (int i = 0; i < HEDDLE_VALUES_OPERANDS; i++) {
        if (i < one->op->operand_count && one->op->operands[i].on_host)
            heddle_free_pinned(one->place.device, one->work[i]);
        else
            heddle_free(one->place.device, one->work[i]);
        for (int set = 0; set < HEDDLE_BENCH_SETS; set++) {
            heddle_free(one->place.device, one->pristine[set][i]);
            free(one->expected[set].operand[i]);
        }
    }
    heddle_free_pinned(one->place.device, one->stage);
    free(one);
}

heddle_call heddle_bench_case_call(const heddle_bench_case *one)
{
    heddle_call call = {.shape = one->shape, .stream = one->place.stream};
    for (int i = 0; i < one->op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(one->op, i, &slot))
            call.output[slot] = one->work[i];
        else
            call.input[slot] = one->work[i];
    }
    return call;
}
