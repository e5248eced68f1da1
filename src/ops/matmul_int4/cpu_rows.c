// matmul_int4, second rung: rows of weights over the threads. A row is unpacked to float32 once, and multiplied by all
// rows of the input, which became float32 before; several sums at a time go along each.
//
// Limited by: unpacking, for one row of the input; for many, by the multiplications.

#include <string.h>

#include "base/float16.h"
#include "ops/clones.h"
#include "ops/lanes.h"
#include "ops/matmul_int4/matmul_int4.h"
#include "ops/matmul_int4/weights.h"
#include "ops/pieces.h"

// The input of a call as float32, and behind it a row of weights per worker.
static float *input_of(const heddle_call *call)
{
    return call->workspace;
}

static float *row_of(const heddle_call *call, int worker)
{
    const heddle_matmul_int4_shape *shape = call->shape;
    return input_of(call) + ((size_t)shape->m + (size_t)worker) * (size_t)shape->k;
}

// One chunk, of which `count` weights are wanted. A weight, its zero point and its scale have 20 bits together: the
// product is exact.
HEDDLE_CLONES static void unpack_chunk(const uint8_t *chunk, int count, float scale, int zero, float *restrict row)
{
    float whole[HEDDLE_INT4_CHUNK];
    for (int index = 0; index < HEDDLE_INT4_WORDS; index++, chunk += 4) {
        const uint32_t word = chunk[0] | (uint32_t)chunk[1] << 8 | (uint32_t)chunk[2] << 16 | (uint32_t)chunk[3] << 24;
        for (int p = 0; p < HEDDLE_INT4_WORD; p++)
            whole[HEDDLE_INT4_WORD * index + p] = scale * (float)((int)(word >> heddle_int4_bit(p) & 15) - zero);
    }
    memcpy(row, whole, (size_t)count * sizeof *row);
}

static void unpack_row(const heddle_call *call, size_t j, float *row)
{
    const heddle_matmul_int4_shape *shape = call->shape;
    const size_t groups = (size_t)heddle_int4_groups(shape);
    const uint8_t *weight = (const uint8_t *)call->input[1] + j * (size_t)heddle_int4_row_bytes(shape->k);
    const uint16_t *scale = (const uint16_t *)call->input[2] + j * groups;
    const uint8_t *zero = (const uint8_t *)call->input[3] + j * groups;
    for (int p = 0; p < shape->k; p += HEDDLE_INT4_CHUNK, weight += HEDDLE_INT4_CHUNK_BYTES) {
        const int left = shape->k - p, group = p / shape->group;
        unpack_chunk(weight, left < HEDDLE_INT4_CHUNK ? left : HEDDLE_INT4_CHUNK,
                     (float)heddle_f16_decode(scale[group]), zero[group], row + p);
    }
}

HEDDLE_CLONES static double dot(const float *row, const float *input, size_t count)
{
    return heddle_sum_products_from(row, 0, input, count);
}

static void multiply_rows(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece;
    const heddle_call *call = context;
    const heddle_matmul_int4_shape *shape = call->shape;
    const size_t n = (size_t)shape->n, k = (size_t)shape->k;
    float *row = row_of(call, worker), *output = call->output[0];
    for (size_t j = begin; j < end; j++) {
        unpack_row(call, j, row);
        for (size_t i = 0; i < (size_t)shape->m; i++)
            output[i * n + j] = (float)dot(row, input_of(call) + i * k, k);
    }
}

static void decode_input(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    for (size_t at = begin; at < end; at++)
        input_of(call)[at] = (float)heddle_f16_decode(((const uint16_t *)call->input[0])[at]);
}

heddle_status heddle_matmul_int4_cpu_rows(const heddle_call *call)
{
    const heddle_matmul_int4_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->m * (size_t)shape->k, HEDDLE_PIECE_ELEMENTS, decode_input,
                      (void *)call);
    heddle_pieces_run(call->pool, (size_t)shape->n, heddle_piece_rows((size_t)shape->k), multiply_rows, (void *)call);
    return HEDDLE_OK;
}
