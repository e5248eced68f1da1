// Skipping ahead in XORWOW, as curand_init does. A step is linear over bits, so n steps are a 160 by 160 matrix of
// bits; the matrices for 1, 2, 4, ... steps are made once by squaring, and a skip multiplies those that n asks for.
#include <pthread.h>
#include <stdint.h>
#include <string.h>

enum { WORDS = 5, WORD_BITS = 32, BITS = WORDS * WORD_BITS, SEQUENCE_POWER = 67, POWERS = SEQUENCE_POWER + 64 };

typedef struct vector {
    uint32_t word[WORDS];
} vector;

typedef struct matrix {
    vector image[BITS]; // of each bit alone
} matrix;

static matrix powers[POWERS]; // powers[i]: 2^i steps

void sim_xorwow_skip(unsigned state[WORDS], unsigned long long n, int sequences);

static vector apply(const matrix *map, const vector *from)
{
    vector to = {{0}};
    for (int w = 0; w < WORDS; w++)
        for (uint32_t left = from->word[w]; left != 0; left &= left - 1) {
            const vector *image = &map->image[w * WORD_BITS + __builtin_ctz(left)];
            for (int i = 0; i < WORDS; i++)
                to.word[i] ^= image->word[i];
        }
    return to;
}

static vector one_step(const vector *from)
{
    uint32_t t = from->word[0] ^ (from->word[0] >> 2), last = from->word[4];
    return (vector){{from->word[1], from->word[2], from->word[3], last, (last ^ (last << 4)) ^ (t ^ (t << 1))}};
}

static void make_powers(void)
{
    for (int bit = 0; bit < BITS; bit++) {
        vector alone = {{0}};
        alone.word[bit / WORD_BITS] = 1u << bit % WORD_BITS;
        powers[0].image[bit] = one_step(&alone);
    }
    for (int i = 1; i < POWERS; i++)
        for (int bit = 0; bit < BITS; bit++)
            powers[i].image[bit] = apply(&powers[i - 1], &powers[i - 1].image[bit]);
}

void sim_xorwow_skip(unsigned state[WORDS], unsigned long long n, int sequences)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (n == 0)
        return;
    pthread_once(&once, make_powers);
    vector now;
    memcpy(now.word, state, sizeof now.word);
    for (int i = sequences ? SEQUENCE_POWER : 0; n != 0; n >>= 1, i++)
        if (n & 1)
            now = apply(&powers[i], &now);
    memcpy(state, now.word, sizeof now.word);
}
