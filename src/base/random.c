// Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11), and the numbers
// drawn from it. Word `position` of a stream is output[position % 4] of the block with
//     key     = {low, high half of seed}
//     counter = {low, high half of position / 4, low, high half of sequence}
// on every device: kernels compute the same numbers from the same three values.

#include "heddle/random.h"

#include <math.h>
#include <stdbool.h>

enum {
    ROUNDS = 10,
    WORDS_A_BLOCK = 4,
    WORD_BITS = 32,
    UNIFORM_BITS = 24, // a float's significand: every value is exact, and 1 cannot come out by rounding
};

static const uint32_t multiplier0 = 0xD2511F53;
static const uint32_t multiplier1 = 0xCD9E8D57;
static const uint32_t key_step0 = 0x9E3779B9; // golden ratio
static const uint32_t key_step1 = 0xBB67AE85; // sqrt(3) - 1

static const double two_pi = 6.283185307179586476925286766559;

void heddle_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t output[4])
{
    uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
    uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t product0 = (uint64_t)multiplier0 * x0;
        uint64_t product1 = (uint64_t)multiplier1 * x2;
        x0 = (uint32_t)(product1 >> WORD_BITS) ^ x1 ^ key0;
        x2 = (uint32_t)(product0 >> WORD_BITS) ^ x3 ^ key1;
        x1 = (uint32_t)product1;
        x3 = (uint32_t)product0;
        key0 += key_step0;
        key1 += key_step1;
    }
    output[0] = x0;
    output[1] = x1;
    output[2] = x2;
    output[3] = x3;
}

heddle_random heddle_random_make(uint64_t seed, uint64_t sequence)
{
    return (heddle_random){.seed = seed, .sequence = sequence, .position = 0};
}

// The words of one block, so that a caller that needs many computes each block once.
typedef struct drawn_block {
    bool is_there;
    uint64_t number;
    uint32_t words[WORDS_A_BLOCK];
} drawn_block;

static uint32_t draw(heddle_random *random, drawn_block *drawn)
{
    uint64_t number = random->position / WORDS_A_BLOCK;
    if (!drawn->is_there || drawn->number != number) {
        const uint32_t counter[4] = {(uint32_t)number, (uint32_t)(number >> WORD_BITS), (uint32_t)random->sequence,
                                     (uint32_t)(random->sequence >> WORD_BITS)};
        const uint32_t key[2] = {(uint32_t)random->seed, (uint32_t)(random->seed >> WORD_BITS)};
        heddle_philox(counter, key, drawn->words);
        drawn->is_there = true;
        drawn->number = number;
    }
    return drawn->words[random->position++ % WORDS_A_BLOCK];
}

uint32_t heddle_random_u32(heddle_random *random)
{
    drawn_block drawn = {.is_there = false};
    return draw(random, &drawn);
}

// Lemire's way: the high half of word * bound is uniform once the few words that would favour some results are redrawn.
static uint32_t draw_below(heddle_random *random, drawn_block *drawn, uint32_t bound)
{
    uint32_t unfair = -bound % bound;
    uint64_t product;
    do
        product = (uint64_t)draw(random, drawn) * bound;
    while ((uint32_t)product < unfair);
    return (uint32_t)(product >> WORD_BITS);
}

uint32_t heddle_random_below(heddle_random *random, uint32_t bound)
{
    drawn_block drawn = {.is_there = false};
    return bound == 0 ? 0 : draw_below(random, &drawn, bound);
}

float heddle_random_uniform(heddle_random *random)
{
    return (float)(heddle_random_u32(random) >> (WORD_BITS - UNIFORM_BITS)) * 0x1p-24f;
}

// In double and rounded once at the end, so that the last bit of a machine's log or cos does not show.
float heddle_random_normal(heddle_random *random)
{
    double radius_word = heddle_random_u32(random);
    double angle_word = heddle_random_u32(random);
    double radius = sqrt(-2.0 * log((radius_word + 1.0) * 0x1p-32)); // (0, 1]: no log of 0
    return (float)(radius * cos(two_pi * (angle_word * 0x1p-32)));
}

void heddle_random_permutation(heddle_random *random, uint32_t *order, uint32_t count)
{
    drawn_block drawn = {.is_there = false};
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = draw_below(random, &drawn, i);
        uint32_t moved = order[i - 1];
        order[i - 1] = order[other];
        order[other] = moved;
    }
}
