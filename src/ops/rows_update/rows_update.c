// rows_weights makes the bf16 copies of the parameters for products; rows_collect adds the parts of their gradients;
// rows_update does that, takes the optimiser's step with the sum and makes new copies, all in one. Costs, references
// and ladders.

#include "ops/rows_update/rows_update.h"

#include <math.h>

#include "base/float16.h"
#include "ops/optimizer/optimizer.h"
#include "ops/rows_define.h"

typedef heddle_rows_update_shape update_shape;

static const heddle_field fields[] = {
    {HEDDLE_REQUIRED_INT(update_shape, segments, "parameters in the table")},
    {HEDDLE_REQUIRED_INT(update_shape, tiles, "of all segments")},
    {HEDDLE_REQUIRED_INT(update_shape, parameters, "floats of the parameters' buffer")},
    {HEDDLE_REQUIRED_INT(update_shape, parts, "floats of the gradients' parts")},
    {HEDDLE_REQUIRED_INT(update_shape, copies, "elements of the copies")},
    {HEDDLE_OPTIONAL_INT(update_shape, vectors, 0, "floats of padded biases")},
    {HEDDLE_OPTIONAL_INT(update_shape, optimizer, 0, "0: sgd, 1: momentum, 2: AdamW")},
    {HEDDLE_ROWS_HALF(update_shape)},
    {HEDDLE_ROWS_PAIRS(update_shape)},
    {HEDDLE_OPTIONAL_INT(update_shape, scale, 0, "gradients are multiplied by 2 to this power")},
};

// Of copies: their rows are of any length, so that a pair is two elements.
HEDDLE_OF_SHAPE(heddle_dtype, copies_dtype, update_shape, shape->half || shape->pairs ? HEDDLE_F16 : HEDDLE_BF16)

static heddle_status validate(const void *shape_)
{
    const update_shape *shape = shape_;
    if (shape->segments < 1 || shape->segments > HEDDLE_ROWS_MOST_SEGMENTS || shape->tiles < 1)
        return heddle_fail(HEDDLE_INVALID, "rows_update: segments=%d tiles=%d: 1 to %d parameters are possible",
                           shape->segments, shape->tiles, HEDDLE_ROWS_MOST_SEGMENTS);
    if (shape->optimizer > 2)
        return heddle_fail(HEDDLE_INVALID, "rows_update: optimizer=%d is not 0, 1 or 2", shape->optimizer);
    return HEDDLE_OK;
}

// --- operands -------------------------------------------------------------------------------------------------------

HEDDLE_DIMS(dims_table, update_shape, shape->segments, HEDDLE_SEGMENT_FIELDS)
HEDDLE_DIMS(dims_parameters, update_shape, shape->parameters)
HEDDLE_DIMS(dims_parts, update_shape, shape->parts)
HEDDLE_DIMS(dims_copies, update_shape, shape->copies)
HEDDLE_DIMS(dims_vectors, update_shape, shape->vectors)
HEDDLE_DIMS(dims_hyper, update_shape, HEDDLE_HYPER_COUNT)

#define TABLE                                                                                                          \
    .name = "table", .role = HEDDLE_INPUT, .dtype = HEDDLE_I32, .values = HEDDLE_VALUES_OWN, .dims = dims_table
// Elements between two copies are left unchanged.
#define VECTORS HEDDLE_FLOAT_UPDATE("vectors", HEDDLE_VALUES_NORMAL, dims_vectors), .optional = true
#define COPIES  HEDDLE_ROWS_OPERAND("copies", HEDDLE_UPDATE, HEDDLE_VALUES_NORMAL, dims_copies)

static const heddle_operand weights_operands[] = {
    {TABLE},
    {HEDDLE_FLOAT_INPUT("parameters", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {COPIES},
    {VECTORS},
};

static const heddle_operand collect_operands[] = {
    {TABLE},
    {HEDDLE_FLOAT_INPUT("parts", HEDDLE_VALUES_NORMAL, dims_parts)},
    {HEDDLE_FLOAT_UPDATE("gradients", HEDDLE_VALUES_NORMAL, dims_parameters)},
};

static const heddle_operand update_operands[] = {
    {TABLE},
    {HEDDLE_FLOAT_INPUT("parts", HEDDLE_VALUES_NORMAL, dims_parts)},
    {HEDDLE_FLOAT_INPUT("hyper", HEDDLE_VALUES_OWN, dims_hyper)},
    {HEDDLE_FLOAT_UPDATE("parameters", HEDDLE_VALUES_NORMAL, dims_parameters)},
    {COPIES},
    {VECTORS},
    {HEDDLE_FLOAT_UPDATE("first_moment", HEDDLE_VALUES_NORMAL, dims_parameters), .optional = true},
    {HEDDLE_FLOAT_UPDATE("second_moment", HEDDLE_VALUES_POSITIVE, dims_parameters), .optional = true},
};

// A table for tests: weights of a growing number of rows and channels with 9, 1 and 40 taps in turn, each followed by a
// bias, in one part or several, and one bias without a gradient. Rows of copies are of one tap with 9 taps, else of
// all. It fits the test shapes.
static void fill_table(const update_shape *shape, double *values)
{
    double first = 0, parameter = 0, part = 0, copy = 0, vector = 0;
    for (int i = 0; i < shape->segments; i++, values += HEDDLE_SEGMENT_FIELDS) {
        const int bias = i % 2, k = 4 + i / 2 * 6, taps = bias || i % 4 ? 1 : i % 8 ? 40 : 9;
        const int c = bias ? 1 : i % 4 ? 8 * i : 5 + 5 * i;
        const int padded_k = (k + 7) / 8 * 8, padded_c = bias ? 1 : (c + 7) / 8 * 8,
                  parts = i == 3 ? 0 : 1 + i * 5 % 13;
        const double elements = (double)padded_k * taps * padded_c;
        values[HEDDLE_SEGMENT_FIRST] = first;
        values[HEDDLE_SEGMENT_PARAMETER] = parameter;
        values[HEDDLE_SEGMENT_K] = k;
        values[HEDDLE_SEGMENT_C] = c;
        values[HEDDLE_SEGMENT_TAPS] = taps;
        values[HEDDLE_SEGMENT_PADDED_K] = padded_k;
        values[HEDDLE_SEGMENT_PADDED_C] = padded_c;
        values[HEDDLE_SEGMENT_PARTS] = parts;
        values[HEDDLE_SEGMENT_PART] = part;
        values[HEDDLE_SEGMENT_COPY] = bias ? -1 : copy;
        values[HEDDLE_SEGMENT_VECTOR] = bias ? vector : -1;
        values[HEDDLE_SEGMENT_COLUMNS] = taps == 9 ? padded_c : taps * padded_c;
        first += heddle_segment_tiles(padded_k, taps, padded_c, parts);
        parameter += (double)k * c * taps;
        part += parts * elements;
        copy += bias ? 0 : shape->pairs ? 2 * elements : elements;
        vector += bias ? elements : 0;
    }
}

// The lower half of a pair shows every rounding of a step: with pairs the step is none.
static void fill(const void *shape_, int operand, uint64_t seed, double *values)
{
    const update_shape *shape = shape_;
    if (operand == 0) {
        fill_table(shape, values);
        return;
    }
    heddle_optimizer_fill_hyper(seed, values);
    if (shape->pairs)
        values[HEDDLE_HYPER_LEARNING_RATE] = 0;
}

// --- the reference --------------------------------------------------------------------------------------------------

// An element of a segment: its place in every array. `parameter` is -1 in the padding.
typedef struct element {
    long long parameter, part, stride, copy, lower, vector; // copy, lower: of a pair, hi and lo
    int parts;
} element;

static element element_of(const update_shape *shape, const double *segment, long long i)
{
    const int k = (int)segment[HEDDLE_SEGMENT_K], c = (int)segment[HEDDLE_SEGMENT_C];
    const int taps = (int)segment[HEDDLE_SEGMENT_TAPS], padded_k = (int)segment[HEDDLE_SEGMENT_PADDED_K];
    const int padded_c = (int)segment[HEDDLE_SEGMENT_PADDED_C], columns = (int)segment[HEDDLE_SEGMENT_COLUMNS];
    const long long copy = shape->pairs ? 2 * i - i % columns : i;
    const int channel = (int)(i % padded_c), tap = (int)(i / padded_c % taps), row = (int)(i / padded_c / taps);
    return (element){
        .parameter = row < k && channel < c
                         ? (long long)segment[HEDDLE_SEGMENT_PARAMETER] + ((long long)row * c + channel) * taps + tap
                         : -1,
        .part = (long long)segment[HEDDLE_SEGMENT_PART] + i,
        .stride = (long long)padded_k * taps * padded_c,
        .copy = segment[HEDDLE_SEGMENT_COPY] < 0 ? -1 : (long long)segment[HEDDLE_SEGMENT_COPY] + copy,
        .lower = shape->pairs ? (long long)segment[HEDDLE_SEGMENT_COPY] + copy + columns : -1,
        .vector = segment[HEDDLE_SEGMENT_VECTOR] < 0 ? -1 : (long long)segment[HEDDLE_SEGMENT_VECTOR] + i,
        .parts = (int)segment[HEDDLE_SEGMENT_PARTS],
    };
}

// Runs the last argument for every element `at` of every segment.
#define FOR_ELEMENTS(shape, table, ...)                                                                                \
    for (int segment = 0; segment < (shape)->segments; segment++) {                                                    \
        const double *fields_of = (table) + (size_t)segment * HEDDLE_SEGMENT_FIELDS;                                   \
        const long long count = (long long)(fields_of[HEDDLE_SEGMENT_PADDED_K] * fields_of[HEDDLE_SEGMENT_TAPS] *      \
                                            fields_of[HEDDLE_SEGMENT_PADDED_C]);                                       \
        for (long long i = 0; i < count; i++) {                                                                        \
            const element at = element_of(shape, fields_of, i);                                                        \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    }

static double gradient_of(const update_shape *shape, const element *at, const double *parts)
{
    double sum = 0;
    for (int part = 0; part < at->parts; part++)
        sum += parts[at->part + part * at->stride];
    return ldexp(sum, -shape->scale);
}

static void store_copies(const element *at, double value, double *copies, double *vectors)
{
    if (at->vector >= 0 && vectors)
        vectors[at->vector] = value;
    if (at->copy < 0)
        return;
    copies[at->copy] = value;
    if (at->lower >= 0) {
        uint16_t hi, lo;
        heddle_f16_pair_encode(value, &hi, &lo);
        copies[at->copy] = heddle_f16_decode(hi);
        copies[at->lower] = heddle_f16_decode(lo);
    }
}

static void weights_reference(const void *shape_, const double *const *input, double *const *output)
{
    const update_shape *shape = shape_;
    FOR_ELEMENTS(shape, input[0],
                 { store_copies(&at, at.parameter < 0 ? 0 : input[1][at.parameter], output[0], output[1]); })
}

static void collect_reference(const void *shape_, const double *const *input, double *const *output)
{
    const update_shape *shape = shape_;
    FOR_ELEMENTS(shape, input[0], {
        if (at.parameter >= 0)
            output[0][at.parameter] = gradient_of(shape, &at, input[1]);
    })
}

static void update_reference(const void *shape_, const double *const *input, double *const *output)
{
    const update_shape *shape = shape_;
    static const heddle_op *const optimizers[] = {&heddle_op_sgd_update, &heddle_op_momentum_update,
                                                  &heddle_op_adamw_update};
    const heddle_update_shape one = {.n = 1};
    const int optimizer = heddle_rows_optimizer(shape->optimizer, output[3], output[4]);
    FOR_ELEMENTS(shape, input[0], {
        double value = 0;
        if (at.parameter >= 0) {
            const double gradient = gradient_of(shape, &at, input[1]);
            const double *const from[] = {&gradient, input[2]};
            double *const to[] = {output[0] + at.parameter, output[3] ? output[3] + at.parameter : NULL,
                                  output[4] ? output[4] + at.parameter : NULL};
            optimizers[optimizer]->reference(&one, from, to);
            value = output[0][at.parameter];
        }
        store_copies(&at, value, output[1], output[2]);
    })
}

// --- cost -----------------------------------------------------------------------------------------------------------

static heddle_cost weights_cost(const void *shape_)
{
    const update_shape *shape = shape_;
    return (heddle_cost){.bytes_read = sizeof(float) * (double)shape->parameters,
                         .bytes_written = sizeof(uint16_t) * (double)shape->copies};
}

static heddle_cost collect_cost(const void *shape_)
{
    const update_shape *shape = shape_;
    return (heddle_cost){.flops = shape->parts,
                         .bytes_read = sizeof(float) * (double)shape->parts,
                         .bytes_written = sizeof(float) * (double)shape->parameters};
}

static heddle_cost update_cost(const void *shape_)
{
    const update_shape *shape = shape_;
    const double states = sizeof(float) * (double)(1 + shape->optimizer) * shape->parameters;
    return (heddle_cost){.flops = (double)shape->parts + 6.0 * shape->parameters,
                         .bytes_read = sizeof(float) * (double)shape->parts + states,
                         .bytes_written = sizeof(uint16_t) * (double)shape->copies + states};
}

static int64_t reduction(const void *shape)
{
    (void)shape;
    return 13; // parts of a test's table, at most
}

static const char *const test_shapes[] = {
    "segments=1 tiles=8 parameters=180 parts=576 copies=576 vectors=0",
    "segments=2 tiles=9 parameters=184 parts=624 copies=576 vectors=8 optimizer=1 half=1 scale=7",
    "segments=4 tiles=11 parameters=354 parts=3440 copies=832 vectors=24",
    "segments=7 tiles=46 parameters=17426 parts=173248 copies=22464 vectors=40 optimizer=2 half=1 scale=7",
    "segments=12 tiles=213 parameters=31570 parts=239920 copies=39488 vectors=136 optimizer=1",
    "segments=1 tiles=8 parameters=180 parts=576 copies=1152 vectors=0 pairs=1",
    "segments=7 tiles=46 parameters=17426 parts=173248 copies=44928 vectors=40 optimizer=2 pairs=1 scale=7",
    NULL};
static const char *const bench_shapes[] = {
    "segments=60 tiles=13819 parameters=6378250 parts=50249800 copies=6624512 vectors=2824", NULL};

// --- ladders --------------------------------------------------------------------------------------------------------

HEDDLE_BY_REFERENCE(rows_weights)
HEDDLE_BY_REFERENCE(rows_collect)
HEDDLE_BY_REFERENCE(rows_update)

#define RUNGS(name)                                                                                                    \
    HEDDLE_REFERENCE_RUNG(name),                                                                                       \
    {                                                                                                                  \
        "01_tiles", HEDDLE_CUDA, HEDDLE_FUSED, NULL,                                                                   \
            "one block per tile of a weight, transposed in shared memory: limited by memory bandwidth", NULL, NULL,    \
            .capability = 90                                                                                           \
    }
static const heddle_rung weights_ladder[] = {RUNGS(rows_weights)}, collect_ladder[] = {RUNGS(rows_collect)},
                         update_ladder[] = {RUNGS(rows_update)};

#define ROWS_UPDATE(title, about)                                                                                      \
    .name = (title), .ladder_name = "rows_update", .summary = (about), .shape_size = sizeof(update_shape),             \
    HEDDLE_FIELDS(fields), .validate = validate, .element = copies_dtype, .fill = fill, .test_shapes = test_shapes,    \
    .bench_shapes = bench_shapes, .reduction = reduction

const heddle_op heddle_op_rows_weights = {
    ROWS_UPDATE("rows_weights", "bf16 copies of all weights, for products"),
    HEDDLE_OPERANDS(weights_operands),
    .cost = weights_cost,
    .reference = weights_reference,
    HEDDLE_LADDER(weights_ladder),
};

const heddle_op heddle_op_rows_collect = {
    ROWS_UPDATE("rows_collect", "gradients of all parameters, added from their parts"),
    HEDDLE_OPERANDS(collect_operands),
    .cost = collect_cost,
    .reference = collect_reference,
    HEDDLE_LADDER(collect_ladder),
};

const heddle_op heddle_op_rows_update = {
    ROWS_UPDATE("rows_update", "the optimiser's step from parts of gradients, and new bf16 copies"),
    HEDDLE_OPERANDS(update_operands),
    .cost = update_cost,
    .reference = update_reference,
    HEDDLE_LADDER(update_ladder),
};
