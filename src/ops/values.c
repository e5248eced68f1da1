// Values of operands, drawn on all cores: each piece of an operand comes from its own part of a counter-based stream.

#include "ops/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/float16.h"
#include "base/float8.h"
#include "base/threads.h"
#include "heddle/random.h"

static const double two_pi = 6.283185307179586476925286766559;

// --- pieces ----------------------------------------------------------------------------------------------------------

typedef struct pieces {
    size_t count;
    heddle_values_work *work;
    void *context;
} pieces;

static void run_piece(void *context, int index, int worker)
{
    (void)worker;
    const pieces *all = context;
    size_t first = (size_t)index * HEDDLE_VALUES_PIECE;
    size_t last = first + HEDDLE_VALUES_PIECE < all->count ? first + HEDDLE_VALUES_PIECE : all->count;
    all->work(all->context, first, last);
}

void heddle_values_pieces(heddle_pool *pool, size_t count, heddle_values_work *work, void *context)
{
    pieces all = {count, work, context};
    heddle_pool_run(pool, (int)((count + HEDDLE_VALUES_PIECE - 1) / HEDDLE_VALUES_PIECE), run_piece, &all);
}

// --- memory ----------------------------------------------------------------------------------------------------------

heddle_status heddle_operand_values_create(heddle_operand_values *values, const heddle_op *op, const void *shape)
{
    *values = (heddle_operand_values){.op = op, .shape = shape};
    for (int i = 0; i < op->operand_count; i++) {
        values->elements[i] = heddle_operand_elements(op, i, shape);
        values->operand[i] = calloc(values->elements[i] + 1, sizeof(double));
        if (!values->operand[i]) {
            heddle_operand_values_destroy(values);
            return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the operands of %s in float64", op->name);
        }
    }
    return HEDDLE_OK;
}

heddle_status heddle_operand_values_copy(heddle_operand_values *copy, const heddle_operand_values *values)
{
    HEDDLE_TRY(heddle_operand_values_create(copy, values->op, values->shape));
    for (int i = 0; i < values->op->operand_count; i++)
        memcpy(copy->operand[i], values->operand[i], values->elements[i] * sizeof(double));
    return HEDDLE_OK;
}

void heddle_operand_values_destroy(heddle_operand_values *values)
{
    for (int i = 0; i < HEDDLE_VALUES_OPERANDS; i++)
        free(values->operand[i]);
    memset(values->operand, 0, sizeof values->operand);
}

// --- dtypes ----------------------------------------------------------------------------------------------------------

// Where the upper half of a pair is, in 16-bit elements; the lower half is a row's columns further on.
static size_t pair_at(size_t columns, size_t index)
{
    return index + index / columns * columns;
}

static void encode_pair(uint16_t *bytes, size_t columns, size_t index, double value)
{
    uint16_t *hi = bytes + pair_at(columns, index);
    heddle_f16_pair_encode(value, hi, hi + columns);
}

static double decode_pair(const uint16_t *bytes, size_t columns, size_t index)
{
    const uint16_t *hi = bytes + pair_at(columns, index);
    return heddle_f16_pair_decode(hi[0], hi[columns]);
}

typedef struct encoding {
    heddle_dtype dtype;
    size_t columns;
    const double *values;
    void *bytes;
} encoding;

#define ENCODE(type, expression)                                                                                       \
    for (size_t i = first; i < last; i++) {                                                                            \
        double value = job->values[i];                                                                                 \
        ((type *)job->bytes)[i] = (expression);                                                                        \
    }                                                                                                                  \
    break

static void encode_piece(void *context, size_t first, size_t last)
{
    const encoding *job = context;
    switch (job->dtype) {
    case HEDDLE_F32: ENCODE(float, (float)value);
    case HEDDLE_F64: ENCODE(double, value);
    case HEDDLE_F16: ENCODE(uint16_t, heddle_f16_encode(value));
    case HEDDLE_BF16: ENCODE(uint16_t, heddle_bf16_encode((float)value));
    case HEDDLE_I32: ENCODE(int32_t, (int32_t)value);
    case HEDDLE_I64: ENCODE(int64_t, (int64_t)value);
    case HEDDLE_U8: ENCODE(uint8_t, (uint8_t)value);
    case HEDDLE_I8: ENCODE(int8_t, (int8_t)value);
    case HEDDLE_F8_E4M3: ENCODE(uint8_t, heddle_e4m3_encode(value));
    case HEDDLE_F16_PAIR:
        for (size_t i = first; i < last; i++)
            encode_pair(job->bytes, job->columns, i, job->values[i]);
        break;
    }
}

void heddle_values_encode(heddle_dtype dtype, size_t columns, heddle_pool *pool, const double *values, size_t count,
                          void *bytes)
{
    encoding job = {dtype, columns, values, bytes};
    heddle_values_pieces(pool, count, encode_piece, &job);
}

double heddle_values_decode(heddle_dtype dtype, size_t columns, const void *bytes, size_t index)
{
    switch (dtype) {
    case HEDDLE_F32: return ((const float *)bytes)[index];
    case HEDDLE_F64: return ((const double *)bytes)[index];
    case HEDDLE_F16: return heddle_f16_decode(((const uint16_t *)bytes)[index]);
    case HEDDLE_BF16: return heddle_bf16_decode(((const uint16_t *)bytes)[index]);
    case HEDDLE_I32: return ((const int32_t *)bytes)[index];
    case HEDDLE_I64: return (double)((const int64_t *)bytes)[index];
    case HEDDLE_U8: return ((const uint8_t *)bytes)[index];
    case HEDDLE_I8: return ((const int8_t *)bytes)[index];
    case HEDDLE_F8_E4M3: return heddle_e4m3_decode(((const uint8_t *)bytes)[index]);
    case HEDDLE_F16_PAIR: return decode_pair(bytes, columns, index);
    }
    return NAN;
}

double heddle_values_round(heddle_dtype dtype, double value)
{
    uint16_t hi, lo;
    switch (dtype) {
    case HEDDLE_F32: return (float)value;
    case HEDDLE_F16: return heddle_f16_decode(heddle_f16_encode(value));
    case HEDDLE_BF16: return heddle_bf16_decode(heddle_bf16_encode((float)value));
    case HEDDLE_F8_E4M3: return heddle_e4m3_decode(heddle_e4m3_encode(value));
    case HEDDLE_F16_PAIR: heddle_f16_pair_encode(value, &hi, &lo); return heddle_f16_pair_decode(hi, lo);
    default: return value;
    }
}

double heddle_values_byte(double normal)
{
    const double deviation = 40, most = 127;
    return fmax(-most, fmin(most, rint(deviation * normal)));
}

// --- drawing ---------------------------------------------------------------------------------------------------------

typedef struct drawing {
    const heddle_operand *operand;
    heddle_dtype dtype;
    uint64_t seed, sequence;
    uint32_t limit;   // of labels
    uint32_t largest; // of whole numbers, either side of 0; 0: others are drawn
    double *values;
} drawing;

enum { WORDS = 4 }; // that one call of Philox gives

static void draw_words(const drawing *job, uint64_t block, uint32_t words[WORDS])
{
    const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)job->sequence,
                                 (uint32_t)(job->sequence >> 32)};
    const uint32_t key[2] = {(uint32_t)job->seed, (uint32_t)(job->seed >> 32)};
    heddle_philox(counter, key, words);
}

// Box-Muller, both of each pair.
static void draw_normal(const uint32_t words[WORDS], double values[WORDS])
{
    for (int i = 0; i < WORDS; i += 2) {
        double radius = sqrt(-2 * log((words[i] + 1.0) * 0x1p-32)); // (0, 1]: no log of 0
        double angle = two_pi * (words[i + 1] * 0x1p-32);
        values[i] = radius * cos(angle);
        values[i + 1] = radius * sin(angle);
    }
}

static void draw_piece(void *context, size_t first, size_t last)
{
    const drawing *job = context;
    for (size_t i = first; i < last; i += WORDS) {
        uint32_t words[WORDS];
        double values[WORDS] = {0};
        draw_words(job, i / WORDS, words);
        if (job->operand->values == HEDDLE_VALUES_NORMAL && !job->largest)
            draw_normal(words, values);
        for (int w = 0; w < WORDS; w++) {
            if (job->largest)
                values[w] = (double)((uint64_t)words[w] * (2 * job->largest + 1) >> 32) - job->largest;
            else if (job->operand->values == HEDDLE_VALUES_POSITIVE)
                values[w] = 0.5 + words[w] * 0x1p-32;
            else if (job->operand->values == HEDDLE_VALUES_LABELS)
                values[w] = (double)((uint64_t)words[w] * job->limit >> 32);
            else if (job->operand->values == HEDDLE_VALUES_BYTES)
                values[w] = words[w] >> 24;
            else if (job->dtype == HEDDLE_I8)
                values[w] = heddle_values_byte(values[w]);
            if (i + (size_t)w < last)
                job->values[i + (size_t)w] = heddle_values_round(job->dtype, values[w]);
        }
    }
}

typedef struct rounding {
    heddle_dtype dtype;
    const double *from;
    double *to;
} rounding;

static void round_piece(void *context, size_t first, size_t last)
{
    const rounding *job = context;
    for (size_t i = first; i < last; i++)
        job->to[i] = heddle_values_round(job->dtype, job->from[i]);
}

static void round_values(rounding job, heddle_pool *pool, size_t count)
{
    heddle_values_pieces(pool, count, round_piece, &job);
}

// By the operand's name, so that operands of the same name agree between an operator and its gradients.
static uint64_t sequence_of(const char *name)
{
    uint64_t hash = 1469598103934665603u; // FNV-1a
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

// How large integers may be: a sum of n of them, or of any part of them, grows to about largest * sqrt(n / 3), which
// this keeps at a 27th of 2^24, where float32 begins to lose units.
static uint32_t largest_whole(size_t elements)
{
    double largest = 0x1p20 / sqrt((double)elements + 1);
    return largest > 1 ? (uint32_t)largest : 1;
}

static void draw_all(heddle_operand_values *values, heddle_pool *pool, uint64_t seed)
{
    for (int i = 0; i < values->op->operand_count; i++) {
        const heddle_operand *operand = &values->op->operands[i];
        const heddle_dtype dtype = heddle_operand_dtype(values->op, i, values->shape);
        if (operand->role == HEDDLE_OUTPUT || operand->values == HEDDLE_VALUES_SAVED)
            continue;
        if (operand->values == HEDDLE_VALUES_OWN) {
            values->op->fill(values->shape, i, seed, values->operand[i]);
            round_values((rounding){dtype, values->operand[i], values->operand[i]}, pool, values->elements[i]);
            continue;
        }
        drawing job = {operand, dtype, seed, sequence_of(operand->name), 0, 0, values->operand[i]};
        if (values->whole && operand->values == HEDDLE_VALUES_NORMAL)
            job.largest = largest_whole(values->elements[i]);
        if (operand->values == HEDDLE_VALUES_LABELS)
            job.limit = (uint32_t)operand->limit(values->shape);
        heddle_values_pieces(pool, values->elements[i], draw_piece, &job);
    }
}

const heddle_op *heddle_operand_values_forward(const heddle_op *op)
{
    bool saved = false;
    for (int i = 0; i < op->operand_count; i++)
        saved |= op->operands[i].role != HEDDLE_OUTPUT && op->operands[i].values == HEDDLE_VALUES_SAVED;
    for (int i = 0; saved && i < heddle_op_count(); i++) {
        const heddle_op *candidate = heddle_op_at(i);
        for (int g = 0; candidate->gradients && candidate->gradients[g]; g++)
            if (strcmp(candidate->gradients[g]->name, op->name) == 0) // a test's copy of an operator counts too
                return candidate;
    }
    return NULL;
}

static heddle_status by_host(void *context, heddle_operand_values *values)
{
    (void)context;
    heddle_operand_values_reference(values);
    return HEDDLE_OK;
}

heddle_status heddle_operand_values_draw(heddle_operand_values *values, heddle_pool *pool, uint64_t seed)
{
    return heddle_operand_values_draw_by(values, pool, seed, by_host, NULL);
}

heddle_status heddle_operand_values_draw_by(heddle_operand_values *values, heddle_pool *pool, uint64_t seed,
                                            heddle_operand_values_by *reference, void *context)
{
    draw_all(values, pool, seed);
    const heddle_op *forward = heddle_operand_values_forward(values->op);
    if (!forward)
        return HEDDLE_OK;
    heddle_operand_values saved;
    HEDDLE_TRY(heddle_operand_values_create(&saved, forward, values->shape));
    draw_all(&saved, pool, seed);
    heddle_status status = reference(context, &saved);
    for (int i = 0; i < values->op->operand_count && status == HEDDLE_OK; i++) {
        int source = heddle_operand_find(forward, values->op->operands[i].name);
        if (values->op->operands[i].role == HEDDLE_INPUT && source >= 0 &&
            values->elements[i] == saved.elements[source])
            round_values((rounding){heddle_operand_dtype(values->op, i, values->shape), saved.operand[source],
                                    values->operand[i]},
                         pool, values->elements[i]);
    }
    heddle_operand_values_destroy(&saved);
    return status;
}

void heddle_operand_values_reference(heddle_operand_values *values)
{
    const double *input[HEDDLE_MAX_OPERANDS] = {NULL};
    double *output[HEDDLE_MAX_OPERANDS] = {NULL};
    for (int i = 0; i < values->op->operand_count; i++) {
        int slot;
        if (heddle_operand_slot(values->op, i, &slot))
            output[slot] = values->operand[i];
        else
            input[slot] = values->operand[i];
    }
    values->op->reference(values->shape, input, output);
}
