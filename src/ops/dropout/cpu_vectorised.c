// dropout, second rung: Philox by vectors, pieces over the threads.
//
// Philox is a function of a counter, so any piece can start anywhere: element i has word position + i whoever computes
// it. A run of blocks is computed lane by lane, its words laid out in order, then compared with a threshold.
//
// Limited by: Philox's ten rounds of two wide multiplications for four words.

#include <math.h>

#include "ops/clones.h"
#include "ops/dropout/dropout.h"
#include "ops/pieces.h"

enum {
    ROUNDS = 10,
    BLOCK_WORDS = 4,
    LANES = 16,                          // blocks computed together
    LANE_WORDS = LANES * BLOCK_WORDS,    // words they give
    BATCH_WORDS = 8 * LANE_WORDS,        // words kept at a time: 2 KiB of the stack
    UNIFORM_SHIFT = 8,                   // 24 bits of a word make a uniform number, as in heddle_random_uniform
};

typedef struct generator {
    uint64_t seed, sequence, position;
} generator;

// words (LANES, BLOCK_WORDS): the blocks from number `block` on, as heddle_philox gives them one by one.
static inline void philox_lanes(const generator *random, uint64_t block, uint32_t *restrict words)
{
    uint32_t x0[LANES], x1[LANES], x2[LANES], x3[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        x0[lane] = (uint32_t)(block + (uint64_t)lane);
        x1[lane] = (uint32_t)((block + (uint64_t)lane) >> 32);
        x2[lane] = (uint32_t)random->sequence;
        x3[lane] = (uint32_t)(random->sequence >> 32);
    }
    uint32_t key0 = (uint32_t)random->seed, key1 = (uint32_t)(random->seed >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t product0 = (uint64_t)0xD2511F53u * x0[lane], product1 = (uint64_t)0xCD9E8D57u * x2[lane];
            x0[lane] = (uint32_t)(product1 >> 32) ^ x1[lane] ^ key0;
            x2[lane] = (uint32_t)(product0 >> 32) ^ x3[lane] ^ key1;
            x1[lane] = (uint32_t)product1;
            x3[lane] = (uint32_t)product0;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    for (int lane = 0; lane < LANES; lane++) {
        words[lane * BLOCK_WORDS + 0] = x0[lane];
        words[lane * BLOCK_WORDS + 1] = x1[lane];
        words[lane * BLOCK_WORDS + 2] = x2[lane];
        words[lane * BLOCK_WORDS + 3] = x3[lane];
    }
}

// Elements whose random words start at random->position.
HEDDLE_CLONES static void drop(const generator *random, uint32_t threshold, float scale, const float *restrict input,
                               size_t count, float *restrict output, uint8_t *restrict mask)
{
    uint64_t block = random->position / BLOCK_WORDS;
    size_t skip = random->position % BLOCK_WORDS; // words of the first block that belong to earlier elements
    for (size_t done = 0; done < count; skip = 0) {
        uint32_t words[BATCH_WORDS];
        for (size_t at = 0; at < BATCH_WORDS; at += LANE_WORDS, block += LANES)
            philox_lanes(random, block, words + at);
        size_t ready = BATCH_WORDS - skip < count - done ? BATCH_WORDS - skip : count - done;
        for (size_t i = 0; i < ready; i++) {
            bool stays = words[skip + i] >> UNIFORM_SHIFT >= threshold;
            mask[done + i] = stays;
            output[done + i] = stays ? input[done + i] * scale : 0.0f;
        }
        done += ready;
    }
}

static void forward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    const heddle_dropout_shape *shape = call->shape;
    const int64_t *state = call->input[1];
    generator random = {(uint64_t)state[0], (uint64_t)state[1], (uint64_t)state[2] + begin};
    // uniform >= probability, in the integers that the uniform number is made of.
    uint32_t threshold = (uint32_t)ceil((double)shape->probability * 0x1p24);
    drop(&random, threshold, heddle_dropout_scale(shape), (const float *)call->input[0] + begin, end - begin,
         (float *)call->output[0] + begin, (uint8_t *)call->output[1] + begin);
}

heddle_status heddle_dropout_forward_cpu_vectorised(const heddle_call *call)
{
    const heddle_dropout_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, forward_piece, (void *)call);
    return HEDDLE_OK;
}

HEDDLE_CLONES static void scale_kept(const uint8_t *restrict mask, const float *restrict grad_output, float scale,
                                     size_t count, float *restrict grad_input)
{
    for (size_t i = 0; i < count; i++)
        grad_input[i] = mask[i] ? grad_output[i] * scale : 0.0f;
}

static void backward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const heddle_call *call = context;
    scale_kept((const uint8_t *)call->input[0] + begin, (const float *)call->input[1] + begin,
               heddle_dropout_scale(call->shape), end - begin, (float *)call->output[0] + begin);
}

heddle_status heddle_dropout_backward_cpu_vectorised(const heddle_call *call)
{
    const heddle_dropout_shape *shape = call->shape;
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, backward_piece, (void *)call);
    return HEDDLE_OK;
}
