// step_end: what the host would do between two steps, done on the device, so that steps follow each other without the
// host: the epoch's tally, the place of the next batch, the next step's hyper-parameters. Its reference and its ladder.

#include "ops/step_end/step_end.h"

#include <math.h>

#include "ops/by_reference.h"
#include "ops/define.h"

typedef heddle_step_end_shape end_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(end_shape, n, "samples in the step's batch")},
    {HEDDLE_REQUIRED_INT(end_shape, length, "rows of the schedule, one per step")},
};

static heddle_status validate(const void *shape_)
{
    const end_shape *shape = shape_;
    if (shape->n < 0 || shape->length < 1)
        return heddle_fail(HEDDLE_INVALID, "step_end: n=%d length=%d: a schedule has at least one step", shape->n,
                           shape->length);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_one, void, 1)
HEDDLE_DIMS(dims_schedule, end_shape, shape->length, HEDDLE_HYPER_COUNT)
HEDDLE_DIMS(dims_hyper, void, HEDDLE_HYPER_COUNT)
HEDDLE_DIMS(dims_cursor, void, HEDDLE_CURSOR_COUNT)
HEDDLE_DIMS(dims_tally, void, HEDDLE_TALLY_COUNT)

HEDDLE_OF_SHAPE(int, limit_correct, end_shape, shape->n + 1)

enum { GRAD = 3, CURSOR = 4 };

// A forward-only network has no hyper-parameters; a network that never skips a step names no gradient.
static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("loss", HEDDLE_VALUES_POSITIVE, dims_one)},
    {"correct", HEDDLE_INPUT, HEDDLE_I32, HEDDLE_VALUES_LABELS, dims_one, limit_correct},
    {HEDDLE_FLOAT_INPUT("schedule", HEDDLE_VALUES_POSITIVE, dims_schedule), .optional = true},
    {HEDDLE_FLOAT_INPUT("grad", HEDDLE_VALUES_OWN, dims_one), .optional = true},
    {"cursor", HEDDLE_UPDATE, HEDDLE_I64, HEDDLE_VALUES_OWN, dims_cursor},
    {"tally", HEDDLE_UPDATE, HEDDLE_F64, HEDDLE_VALUES_OWN, dims_tally},
    {HEDDLE_FLOAT_UPDATE("hyper", HEDDLE_VALUES_POSITIVE, dims_hyper), .optional = true},
};

// After some steps: in the schedule's middle, or past its end. Some of them were skipped; whether this one is depends
// on the seed and on whether the schedule's length is odd or even.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const end_shape *shape = shape_;
    const double steps = (double)(seed % 11);
    if (operand == GRAD) {
        values[0] = (seed + (uint64_t)shape->length) % 2 ? NAN : 0.25;
    } else if (operand == CURSOR) {
        values[0] = steps * shape->n;
        values[1] = steps;
    } else {
        for (int i = 0; i < HEDDLE_TALLY_COUNT; i++)
            values[i] = 0.75 + i;
        values[4] = floor(steps / 3);
    }
}

static heddle_cost cost(const void *shape)
{
    (void)shape;
    return (heddle_cost){.flops = 3,
                         .bytes_read = sizeof(float) * (3 + HEDDLE_HYPER_COUNT) + 2 * sizeof(int64_t),
                         .bytes_written = sizeof(float) * HEDDLE_HYPER_COUNT + 7 * sizeof(double)};
}

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const end_shape *shape = shape_;
    const double *schedule = input[2], *grad = input[3];
    double loss = input[0][0], *cursor = output[0], *tally = output[1], *hyper = output[2];
    if (isfinite(loss)) {
        tally[0] += loss * shape->n;
        tally[1] += input[1][0];
    } else {
        tally[2] += 1;
        tally[3] = loss;
    }
    cursor[0] += shape->n;
    cursor[1] += 1;
    if (grad && isnan(grad[0]))
        tally[4] += 1;
    for (int i = 0; schedule && hyper && i < HEDDLE_HYPER_COUNT; i++) {
        bool correction = i == HEDDLE_HYPER_CORRECTION1 || i == HEDDLE_HYPER_CORRECTION2;
        double row = fmax(0, fmin(cursor[1] - (grad && correction ? tally[4] : 0), shape->length - 1));
        hyper[i] = schedule[(size_t)row * HEDDLE_HYPER_COUNT + (size_t)i];
    }
}

static const char *const test_shapes[] = {"n=1 length=1",    "n=64 length=5",  "n=0 length=13",
                                          "n=37 length=100", "n=5 length=263", NULL};
static const char *const bench_shapes[] = {"n=1024 length=295", NULL};

HEDDLE_BY_REFERENCE(step_end)

static const heddle_rung ladder[] = {
    HEDDLE_REFERENCE_RUNG(step_end),
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one warp: limited by the launch", NULL, NULL},
};

const heddle_op heddle_op_step_end = {
    .name = "step_end",
    .ladder_name = "step_end",
    .summary = "between two steps, on the device: the epoch's tally, the next batch, the next hyper-parameters",
    .shape_size = sizeof(end_shape),
    HEDDLE_FIELDS(fields),
    HEDDLE_OPERANDS(operands),
    .validate = validate,
    .cost = cost,
    .reference = reference,
    .fill = fill,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
