// dropout, second rung: Philox by vectors, pieces over the threads.
//
// Philox is a function of a counter, so a piece can start anywhere: element i has word position + i whichever thread
// computes it. A run of blocks is computed lane by lane, its words are stored in order, then compared with a threshold.
//
// Limited by: Philox's ten rounds of two wide multiplications for four words.

#include <math.h>

#include "ops/clones.h"
#include "ops/dropout/dropout.h"
#include "ops/pieces.h"

enum {
    ROUNDS = 10,
    BLOCK_WORDS = 4,
    BATCH_BLOCKS = 128, // computed at a time: 2 KiB of words on the stack
    BATCH_WORDS = BATCH_BLOCKS * BLOCK_WORDS,
    UNIFORM_SHIFT = 8, // 24 bits of a word make a uniform number, as in heddle_random_uniform
};

typedef struct generator {
    uint64_t seed, sequence, position;
} generator;

// words (BATCH_BLOCKS, BLOCK_WORDS): the blocks from number `block` on, as heddle_philox gives them one by one. The ten
// rounds are unrolled, so that only one loop over blocks is left, which becomes vector code.
static inline void philox_blocks(const generator *random, uint64_t block, uint32_t *restrict words)
{
    const uint32_t seed_low = (uint32_t)random->seed, seed_high = (uint32_t)(random->seed >> 32);
    const uint32_t sequence_low = (uint32_t)random->sequence, sequence_high = (uint32_t)(random->sequence >> 32);
    for (uint32_t i = 0; i < BATCH_BLOCKS; i++) {
        // The carry into the high half, by hand: there are twice as many 32-bit lanes as 64-bit ones.
        uint32_t x0 = (uint32_t)block + i, x1 = (uint32_t)(block >> 32) + (x0 < i);
        uint32_t x2 = sequence_low, x3 = sequence_high;
#pragma GCC unroll 10
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint64_t product0 = (uint64_t)0xD2511F53u * x0, product1 = (uint64_t)0xCD9E8D57u * x2;
            x0 = (uint32_t)(product1 >> 32) ^ x1 ^ (seed_low + round * 0x9E3779B9u);
            x2 = (uint32_t)(product0 >> 32) ^ x3 ^ (seed_high + round * 0xBB67AE85u);
            x1 = (uint32_t)product1;
            x3 = (uint32_t)product0;
        }
        words[i * BLOCK_WORDS + 0] = x0;
        words[i * BLOCK_WORDS + 1] = x1;
        words[i * BLOCK_WORDS + 2] = x2;
        words[i * BLOCK_WORDS + 3] = x3;
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
        philox_blocks(random, block, words);
        block += BATCH_BLOCKS;
        size_t ready = BATCH_WORDS - skip < count - done ? BATCH_WORDS - skip : count - done;
        for (size_t i = 0; i < ready; i++) {
            bool stays = words[skip + i] >> UNIFORM_SHIFT >= threshold;
            float scaled = input[done + i] * scale; // read in any case: a conditional load would not vectorise
            mask[done + i] = stays;
            output[done + i] = stays ? scaled : 0.0f;
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
    // uniform >= probability, in the integers that make the uniform number.
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
    for (size_t i = 0; i < count; i++) {
        float scaled = grad_output[i] * scale;
        grad_input[i] = mask[i] ? scaled : 0.0f;
    }
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
