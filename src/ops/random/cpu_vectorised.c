// random, second rung: Philox by vectors, pieces over the threads.
//
// Philox is a function of a counter, so a piece can start anywhere. A batch of blocks is computed lane by lane, and its
// words are stored in order and converted to numbers, all in loops without branches; logarithm, sine and cosine are
// polynomials, so that they become vector code too. A batch is always computed whole, and the part that belongs to the
// piece is copied: a number has the same bits whatever is computed beside it.
//
// Limited by: Philox's ten rounds of two wide multiplications for four words; normal numbers by a division, a square
// root and three polynomials per pair.

#include <math.h>
#include <string.h>

#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/random/random.h"
#include "ops/vector_math.h"

enum {
    ROUNDS = 10,
    BATCH_BLOCKS = 128, // computed at a time: 2 KiB of words on the stack
    BATCH_WORDS = BATCH_BLOCKS * HEDDLE_RANDOM_WORDS,
};

typedef struct source {
    uint64_t seed, sequence, position;
    int sequences_log2;
} source;

// words (BATCH_BLOCKS, HEDDLE_RANDOM_WORDS): the blocks from number `block` on. The ten rounds are unrolled, so that
// only one loop over blocks is left, which becomes vector code.
static inline void philox_blocks(const source *from, uint64_t block, uint32_t *restrict words)
{
    const uint32_t seed_low = (uint32_t)from->seed, seed_high = (uint32_t)(from->seed >> 32);
    const uint64_t in_turn = ((uint64_t)1 << from->sequences_log2) - 1, start = from->sequence;
    const int shift = from->sequences_log2;
    for (uint64_t i = 0; i < BATCH_BLOCKS; i++) {
        uint64_t number = (block + i) >> shift, sequence = start + ((block + i) & in_turn);
        uint32_t x0 = (uint32_t)number, x1 = (uint32_t)(number >> 32);
        uint32_t x2 = (uint32_t)sequence, x3 = (uint32_t)(sequence >> 32);
#pragma GCC unroll 10
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint64_t product0 = (uint64_t)0xD2511F53u * x0, product1 = (uint64_t)0xCD9E8D57u * x2;
            x0 = (uint32_t)(product1 >> 32) ^ x1 ^ (seed_low + round * 0x9E3779B9u);
            x2 = (uint32_t)(product0 >> 32) ^ x3 ^ (seed_high + round * 0xBB67AE85u);
            x1 = (uint32_t)product1;
            x3 = (uint32_t)product0;
        }
        words[i * HEDDLE_RANDOM_WORDS + 0] = x0;
        words[i * HEDDLE_RANDOM_WORDS + 1] = x1;
        words[i * HEDDLE_RANDOM_WORDS + 2] = x2;
        words[i * HEDDLE_RANDOM_WORDS + 3] = x3;
    }
}

static inline float uniform_of(uint32_t word)
{
    return (float)word * HEDDLE_RANDOM_STEP + HEDDLE_RANDOM_STEP / 2; // the product is exact
}

// log u for u in (0, 1], not denormal: u = 2^e m with m in [sqrt(1/2), sqrt(2)), and log m = 2 artanh((m - 1) / (m +
// 1)).
static inline float log_unit(float u)
{
    const uint32_t half_root = 0x3f3504f3; // sqrt(1/2): adding 1 - sqrt(1/2) carries into e from there on
    uint32_t bits = heddle_float_bits(u) + (0x3f800000u - half_root);
    float e = (float)((int32_t)(bits >> 23) - 127);
    float m = heddle_bits_float((bits & 0x7fffffu) + half_root);
    float s = (m - 1) / (m + 1), t = s * s;
    float series = ((2.0f / 9 * t + 2.0f / 7) * t + 2.0f / 5) * t + 2.0f / 3;
    return (series * t * s + 2 * s + e * -2.12194440e-4f) + e * 0.693359375f; // ln 2 in two parts, the larger exact
}

// sin and cos of an angle in [0, 2 pi]: of the rest from the nearest quarter turn, by Taylor series, then swapped and
// signed by the quarter.
static inline void sine_cosine(float angle, float *sine, float *cosine)
{
    const float high = 1.5703125f, low = 4.83826794897e-4f; // pi / 2, the first part exact times 0 to 4
    int32_t quarter = (int32_t)(angle * 0.636619772f + 0.5f);
    float r = (angle - (float)quarter * high) - (float)quarter * low, t = r * r;
    float s = ((1.0f / 362880 * t - 1.0f / 5040) * t + 1.0f / 120) * t - 1.0f / 6;
    float c = (((-1.0f / 3628800 * t + 1.0f / 40320) * t - 1.0f / 720) * t + 1.0f / 24) * t - 0.5f;
    s = s * t * r + r;
    c = c * t + 1;
    uint32_t odd = 0u - ((uint32_t)quarter & 1u), s_bits = heddle_float_bits(s), c_bits = heddle_float_bits(c);
    uint32_t sine_bits = (s_bits & ~odd) | (c_bits & odd), cosine_bits = (c_bits & ~odd) | (s_bits & odd);
    *sine = heddle_bits_float(sine_bits ^ ((uint32_t)quarter & 2u) << 30);
    *cosine = heddle_bits_float(cosine_bits ^ ((uint32_t)(quarter + 1) & 2u) << 30);
}

HEDDLE_CLONES static void draw_bits(const source *from, uint64_t block, uint32_t *restrict words)
{
    philox_blocks(from, block, words);
}

HEDDLE_CLONES static void draw_uniform(const source *from, uint64_t block, float low, float range,
                                       float *restrict numbers)
{
    uint32_t words[BATCH_WORDS];
    philox_blocks(from, block, words);
    for (int i = 0; i < BATCH_WORDS; i++)
        numbers[i] = low + range * uniform_of(words[i]);
}

HEDDLE_CLONES static void draw_normal(const source *from, uint64_t block, float mean, float deviation,
                                      float *restrict numbers)
{
    uint32_t words[BATCH_WORDS];
    philox_blocks(from, block, words);
    for (int i = 0; i < BATCH_WORDS; i += 2) {
        float sine, cosine, radius = deviation * sqrtf(-2 * log_unit(uniform_of(words[i])));
        double angle = (double)(float)words[i + 1] * HEDDLE_RANDOM_ANGLE + HEDDLE_RANDOM_ANGLE / 2;
        sine_cosine((float)angle, &sine, &cosine);
        numbers[i] = mean + radius * sine;
        numbers[i + 1] = mean + radius * cosine;
    }
}

typedef enum number_kind { BITS, UNIFORM, NORMAL } number_kind;

typedef struct drawing {
    source from;
    number_kind kind;
    float first, second; // low and range, or mean and deviation
    uint32_t *output;    // words, or floats in their place
} drawing;

typedef union batch {
    uint32_t words[BATCH_WORDS];
    float numbers[BATCH_WORDS];
} batch;

static void draw(const drawing *job, uint64_t block, batch *drawn)
{
    switch (job->kind) {
    case BITS: draw_bits(&job->from, block, drawn->words); break;
    case UNIFORM: draw_uniform(&job->from, block, job->first, job->second, drawn->numbers); break;
    case NORMAL: draw_normal(&job->from, block, job->first, job->second, drawn->numbers); break;
    }
}

static void draw_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const drawing *job = context;
    uint64_t p = job->from.position + begin;
    size_t skip = p % HEDDLE_RANDOM_WORDS; // words of the first block that belong to earlier elements
    for (uint64_t block = p / HEDDLE_RANDOM_WORDS; begin < end; block += BATCH_BLOCKS, skip = 0) {
        batch drawn;
        draw(job, block, &drawn);
        size_t ready = BATCH_WORDS - skip < end - begin ? BATCH_WORDS - skip : end - begin;
        memcpy(job->output + begin, drawn.words + skip, ready * sizeof(uint32_t));
        begin += ready;
    }
}

static heddle_status run(const heddle_call *call, number_kind kind, float first, float second)
{
    const heddle_random_bits_shape *shape = call->shape; // the three shapes begin alike
    const int64_t *state = call->input[0];
    drawing job = {.from = {(uint64_t)state[HEDDLE_RANDOM_SEED], (uint64_t)state[HEDDLE_RANDOM_SEQUENCE],
                            (uint64_t)state[HEDDLE_RANDOM_POSITION], heddle_random_log2(shape->sequences)},
                   .kind = kind,
                   .first = first,
                   .second = second,
                   .output = call->output[0]};
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, draw_piece, &job);
    return HEDDLE_OK;
}

heddle_status heddle_random_bits_cpu_vectorised(const heddle_call *call)
{
    return run(call, BITS, 0, 0);
}

heddle_status heddle_random_uniform_cpu_vectorised(const heddle_call *call)
{
    const heddle_random_uniform_shape *shape = call->shape;
    return run(call, UNIFORM, shape->low, shape->high - shape->low);
}

heddle_status heddle_random_normal_cpu_vectorised(const heddle_call *call)
{
    const heddle_random_normal_shape *shape = call->shape;
    return run(call, NORMAL, shape->mean, shape->deviation);
}
