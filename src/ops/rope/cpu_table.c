// rope, second rung: sine and cosine of every position and pair once, into a table; then tokens over the threads.
//
// Limited by: memory bandwidth.

#include "ops/clones.h"
#include "ops/define.h"
#include "ops/pieces.h"
#include "ops/rope/rope.h"

// table: (sequence, 2, size / 2), cosines, then sines
HEDDLE_SHARED_WORKSPACE(heddle_rope_table_workspace, heddle_rope_shape,
                        (size_t)shape->sequence *(size_t)shape->size * sizeof(float))

static void fill_positions(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_rope_shape *shape = call->shape;
    const size_t half = (size_t)shape->size / 2;
    for (size_t position = begin; position < end; position++) {
        float *cosines = (float *)call->workspace + position * 2 * half, *sines = cosines + half;
        for (size_t i = 0; i < half; i++) {
            double angle = heddle_rope_angle(shape, (int)position, (int)i);
            cosines[i] = (float)cos(angle);
            sines[i] = (float)sin(angle);
        }
    }
}

HEDDLE_CLONES static void turn(const float *restrict input, const float *restrict cosines, const float *restrict sines,
                               size_t half, float *restrict output)
{
    for (size_t i = 0; i < half; i++) {
        output[i] = input[i] * cosines[i] - input[half + i] * sines[i];
        output[half + i] = input[half + i] * cosines[i] + input[i] * sines[i];
    }
}

static void turn_tokens(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_rope_shape *shape = call->shape;
    const size_t half = (size_t)shape->size / 2, heads = (size_t)shape->heads;
    for (size_t token = begin; token < end; token++) {
        const float *cosines = (const float *)call->workspace + token % (size_t)shape->sequence * 2 * half;
        for (size_t head = token * heads; head < (token + 1) * heads; head++)
            turn((const float *)call->input[0] + head * 2 * half, cosines, cosines + half, half,
                 (float *)call->output[0] + head * 2 * half);
    }
}

heddle_status heddle_rope_cpu_table(const heddle_call *call)
{
    const heddle_rope_shape *shape = call->shape;
    const size_t tokens = (size_t)shape->batch * (size_t)shape->sequence;
    const size_t position_work = 64; // how many times longer an element of the table takes than one that is turned
    heddle_pieces_run(call->pool, (size_t)shape->sequence, heddle_piece_rows(position_work * (size_t)shape->size),
                      fill_positions, (void *)call);
    heddle_pieces_run(call->pool, tokens, heddle_piece_rows((size_t)shape->heads * (size_t)shape->size), turn_tokens,
                      (void *)call);
    return HEDDLE_OK;
}
