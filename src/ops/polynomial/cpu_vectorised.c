// polynomial, second rung: a block of elements goes through the rounds together, on all threads.
//
// The first rung waited for each round. Here a round is computed for a block of elements in registers: there is always
// one that is ready.
//
// Limited by: the multiply-add units; with few rounds, memory bandwidth.

#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/polynomial/polynomial.h"

enum { BLOCK = 64 }; // floats: half of the sixteen registers of AVX2, and more of them than a result takes cycles

typedef struct polynomial_work {
    const heddle_polynomial_shape *shape;
    const float *input;
    float *output;
} polynomial_work;

HEDDLE_CLONES static void block_rounds(int rounds, float factor, float addend, const float *restrict input,
                                       float *restrict output)
{
    float values[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        values[i] = input[i];
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < BLOCK; i++)
            values[i] = values[i] * factor + addend;
    for (int i = 0; i < BLOCK; i++)
        output[i] = values[i];
}

static void piece(void *context, size_t begin, size_t end, int number, int worker)
{
    (void)number, (void)worker;
    const polynomial_work *work = context;
    const heddle_polynomial_shape *shape = work->shape;
    size_t i = begin;
    for (; i + BLOCK <= end; i += BLOCK)
        block_rounds(shape->rounds, shape->factor, shape->addend, work->input + i, work->output + i);
    for (; i < end; i++) {
        float value = work->input[i];
        for (int round = 0; round < shape->rounds; round++)
            value = value * shape->factor + shape->addend;
        work->output[i] = value;
    }
}

heddle_status heddle_polynomial_cpu_vectorised(const heddle_call *call)
{
    polynomial_work work = {.shape = call->shape, .input = call->input[0], .output = call->output[0]};
    heddle_pieces_run(call->pool, (size_t)work.shape->n, HEDDLE_PIECE_ELEMENTS, piece, &work);
    return HEDDLE_OK;
}
