// The quasirandom part of curand_kernel.h: Sobol's sequences of 32 and 64 bits, scrambled or not. The direction vectors
// and the constants that scramble come from the host (curandGetDirectionVectors32, curandGetScrambleConstants32 and
// their kin of 64 bits); uniform and normal values are made of one number each, as cuRAND makes them.
#pragma once

#include <math.h>

#include <curand.h>

#include "sim/keywords.h"
#include "sim/math_special.h"

struct curandStateSobol32 {
    unsigned int i, x, c, direction_vectors[32];
};
struct curandStateScrambledSobol32 {
    unsigned int i, x, c, direction_vectors[32];
};
struct curandStateSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
struct curandStateScrambledSobol64 {
    unsigned long long i, x, c, direction_vectors[64];
};
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

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

template <class Number, class State>
SIM_INLINE void sobol_start(const Number *vectors, Number constant, Number offset, State *state)
{
    state->i = 0;
    state->c = constant;
    for (unsigned bit = 0; bit < 8 * sizeof(Number); bit++)
        state->direction_vectors[bit] = vectors[bit];
    sobol_skip(offset, state);
}
} // namespace sim

// cuRAND's functions of one kind of state. Of a number's bits, those above `low` make float values.
#define SIM_SOBOL(State, Number, low, uniform_double, normal_double)                                                   \
    SIM_INLINE void skipahead(Number n, State *state)                                                                  \
    {                                                                                                                  \
        sim::sobol_skip(n, state);                                                                                     \
    }                                                                                                                  \
    SIM_INLINE Number curand(State *state)                                                                             \
    {                                                                                                                  \
        return sim::sobol_next<Number>(state);                                                                         \
    }                                                                                                                  \
    SIM_INLINE float curand_uniform(State *state)                                                                      \
    {                                                                                                                  \
        return _curand_uniform((unsigned int)(curand(state) >> (low)));                                                \
    }                                                                                                                  \
    SIM_INLINE double curand_uniform_double(State *state)                                                              \
    {                                                                                                                  \
        return sim::uniform_double(curand(state));                                                                     \
    }                                                                                                                  \
    SIM_INLINE float curand_normal(State *state)                                                                       \
    {                                                                                                                  \
        return (float)sim::normal_of_32((unsigned int)(curand(state) >> (low)));                                       \
    }                                                                                                                  \
    SIM_INLINE double curand_normal_double(State *state)                                                               \
    {                                                                                                                  \
        return sim::normal_double(curand(state));                                                                      \
    }
SIM_SOBOL(curandStateSobol32_t, unsigned int, 0, uniform_of_32, normal_of_32)
SIM_SOBOL(curandStateScrambledSobol32_t, unsigned int, 0, uniform_of_32, normal_of_32)
SIM_SOBOL(curandStateSobol64_t, unsigned long long, 32, uniform_of_64, normal_of_64)
SIM_SOBOL(curandStateScrambledSobol64_t, unsigned long long, 32, uniform_of_64, normal_of_64)
#undef SIM_SOBOL

SIM_INLINE void curand_init(curandDirectionVectors32_t vectors, unsigned int offset, curandStateSobol32_t *state)
{
    sim::sobol_start(vectors, 0u, offset, state);
}

SIM_INLINE void curand_init(curandDirectionVectors32_t vectors, unsigned int scramble, unsigned int offset,
                            curandStateScrambledSobol32_t *state)
{
    sim::sobol_start(vectors, scramble, offset, state);
}

SIM_INLINE void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset, curandStateSobol64_t *state)
{
    sim::sobol_start(vectors, 0ull, offset, state);
}

SIM_INLINE void curand_init(curandDirectionVectors64_t vectors, unsigned long long scramble, unsigned long long offset,
                            curandStateScrambledSobol64_t *state)
{
    sim::sobol_start(vectors, scramble, offset, state);
}
