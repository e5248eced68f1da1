// The quasirandom part of curand_kernel.h: Sobol's sequences of 32 and 64 bits. The direction vectors come from the
// host (curandGetDirectionVectors32 and 64); uniform and normal values are made of one number each, as cuRAND makes
// them.
#pragma once

#include <math.h>

#include <curand.h>

#include "sim/keywords.h"
#include "sim/math_special.h"

struct curandStateSobol32 {
    unsigned int i, x, c, direction_vectors[32];
};
struct curandStateSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;

namespace sim
{
// The number at i: the vectors of the bits of i's Gray code.
template <class Number, class State> SIM_INLINE void sobol_skip(Number n, State *state)
{
    state->x = state->c;
    state->i += n;
    Number gray = state->i ^ state->i >> 1;
    for (unsigned bit = 0; bit < 8 * sizeof(Number); bit++)
        if (gray >> bit & 1)
            state->x ^= state->direction_vectors[bit];
}

// From one Gray code to the next, the lowest zero of i says which bit turns.
template <class Number, class State> SIM_INLINE Number sobol_next(State *state)
{
    Number now = state->x;
    unsigned bit = 0;
    while (bit + 1 < 8 * sizeof(Number) && (state->i >> bit & 1))
        bit++;
    state->x ^= state->direction_vectors[bit];
    state->i++;
    return now;
}
} // namespace sim

SIM_INLINE void skipahead(unsigned int n, curandStateSobol32_t *state)
{
    sim::sobol_skip(n, state);
}

SIM_INLINE void skipahead(unsigned long long n, curandStateSobol64_t *state)
{
    sim::sobol_skip(n, state);
}

SIM_INLINE void curand_init(curandDirectionVectors32_t vectors, unsigned int offset, curandStateSobol32_t *state)
{
    state->i = state->c = 0;
    for (int i = 0; i < 32; i++)
        state->direction_vectors[i] = vectors[i];
    sim::sobol_skip(offset, state);
}

SIM_INLINE void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset, curandStateSobol64_t *state)
{
    state->i = state->c = 0;
    for (int i = 0; i < 64; i++)
        state->direction_vectors[i] = vectors[i];
    sim::sobol_skip(offset, state);
}

SIM_INLINE unsigned int curand(curandStateSobol32_t *state)
{
    return sim::sobol_next<unsigned int>(state);
}

SIM_INLINE unsigned long long curand(curandStateSobol64_t *state)
{
    return sim::sobol_next<unsigned long long>(state);
}

SIM_INLINE float curand_uniform(curandStateSobol64_t *state)
{
    return _curand_uniform((unsigned int)(curand(state) >> 32));
}

SIM_INLINE double curand_uniform_double(curandStateSobol32_t *state)
{
    return fma((double)curand(state), CURAND_2POW32_INV_DOUBLE, CURAND_2POW32_INV_DOUBLE);
}

SIM_INLINE double curand_uniform_double(curandStateSobol64_t *state)
{
    return fma((double)(curand(state) >> 11), CURAND_2POW53_INV_DOUBLE, CURAND_2POW53_INV_DOUBLE / 2.0);
}

namespace sim
{
// Falls as x rises: so in cuRAND's device code, and the other way round in its host API.
SIM_INLINE double sobol_normal(unsigned long long x, unsigned long long half, double unit)
{
    double sign = 1.41421356237309504880;
    if (x > half) {
        x = 2 * half - 1 - x;
        sign = -sign;
    }
    return sign * erfcinv(2.0 * ((double)x * unit + unit / 2.0));
}
} // namespace sim

SIM_INLINE double curand_normal_double(curandStateSobol32_t *state)
{
    return sim::sobol_normal(curand(state), 1ull << 31, CURAND_2POW32_INV_DOUBLE);
}

SIM_INLINE double curand_normal_double(curandStateSobol64_t *state)
{
    return sim::sobol_normal(curand(state) >> 11, 1ull << 52, CURAND_2POW53_INV_DOUBLE);
}

SIM_INLINE float curand_normal(curandStateSobol32_t *state)
{
    return (float)curand_normal_double(state);
}

SIM_INLINE float curand_normal(curandStateSobol64_t *state)
{
    return (float)sim::sobol_normal(curand(state) >> 32, 1ull << 31, CURAND_2POW32_INV_DOUBLE);
}
