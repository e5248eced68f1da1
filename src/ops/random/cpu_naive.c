// random, first rung: one number after another, one thread, each from its own Philox block.
//
// Limited by: wasted words: three of a block's four are discarded. cpu_vectorised uses all four, several blocks at a
// time.

#include <math.h>

#include "heddle/random.h"
#include "ops/random/random.h"

typedef struct source {
    uint64_t seed, sequence, position;
    int sequences_log2;
} source;

static source source_of(const heddle_call *call)
{
    const int64_t *state = call->input[0];
    const heddle_random_bits_shape *shape = call->shape; // the three shapes begin alike
    return (source){(uint64_t)state[HEDDLE_RANDOM_SEED], (uint64_t)state[HEDDLE_RANDOM_SEQUENCE],
                    (uint64_t)state[HEDDLE_RANDOM_POSITION], heddle_random_log2(shape->sequences)};
}

static uint32_t word_at(const source *from, uint64_t p)
{
    uint64_t block = p / HEDDLE_RANDOM_WORDS, in_turn = ((uint64_t)1 << from->sequences_log2) - 1;
    heddle_random random = {.seed = from->seed,
                            .sequence = from->sequence + (block & in_turn),
                            .position =
                                (block >> from->sequences_log2) * HEDDLE_RANDOM_WORDS + p % HEDDLE_RANDOM_WORDS};
    return heddle_random_u32(&random);
}

static float uniform_of(uint32_t word)
{
    return (float)word * HEDDLE_RANDOM_STEP + HEDDLE_RANDOM_STEP / 2; // the product is exact
}

heddle_status heddle_random_bits_cpu_naive(const heddle_call *call)
{
    const heddle_random_bits_shape *shape = call->shape;
    const source from = source_of(call);
    uint32_t *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = word_at(&from, from.position + (uint64_t)i);
    return HEDDLE_OK;
}

heddle_status heddle_random_uniform_cpu_naive(const heddle_call *call)
{
    const heddle_random_uniform_shape *shape = call->shape;
    const source from = source_of(call);
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        output[i] = shape->low + (shape->high - shape->low) * uniform_of(word_at(&from, from.position + (uint64_t)i));
    return HEDDLE_OK;
}

heddle_status heddle_random_normal_cpu_naive(const heddle_call *call)
{
    const heddle_random_normal_shape *shape = call->shape;
    const source from = source_of(call);
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++) {
        uint64_t p = from.position + (uint64_t)i;
        float radius = sqrtf(-2.0f * logf(uniform_of(word_at(&from, p & ~(uint64_t)1))));
        float angle = fmaf((float)word_at(&from, p | 1), HEDDLE_RANDOM_ANGLE, HEDDLE_RANDOM_ANGLE / 2);
        output[i] = shape->mean + shape->deviation * radius * (p % 2 == 0 ? sinf(angle) : cosf(angle));
    }
    return HEDDLE_OK;
}
