// cuRAND's device API on the simulated GPU: Philox4_32_10, XORWOW and MRG32k3a give cuRAND's own numbers, bit for bit,
// for the same seed, sequence and offset; uniform values too. Normal values agree to rounding (sine and logarithm are
// the host's). Poisson values follow the distribution, not cuRAND's sequence. Sobol's sequences and MTGP32 are cuRAND's
// own.
#pragma once
#define CURAND_KERNEL_H_

#include <math.h>

#include <cuda_runtime.h>
#include <curand.h>

#include "sim/keywords.h"
#include "sim/math_special.h"
#include "sim/mrg32k3a.h"
#include "sim/philox.h"

extern "C" {
// Advances XORWOW's five words by n steps, or by n sequences of 2^67 steps (api/random/xorwow.c).
void sim_xorwow_skip(unsigned state[5], unsigned long long n, int sequences);
}

#define CURAND_2POW32_INV        (2.3283064e-10f)
#define CURAND_2POW32_INV_2PI    (2.3283064e-10f * 6.2831855f)
#define CURAND_2POW32_INV_DOUBLE (2.3283064365386963e-10)
#define CURAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)
#define CURAND_PI_DOUBLE         (3.1415926535897932)

// --- XORWOW ----------------------------------------------------------------------------------------------------------

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

SIM_INLINE unsigned int curand(curandStateXORWOW_t *state)
{
    unsigned int t = state->v[0] ^ (state->v[0] >> 2), last = state->v[4];
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = last;
    state->v[4] = (last ^ (last << 4)) ^ (t ^ (t << 1));
    state->d += 362437;
    return state->v[4] + state->d;
}

namespace sim
{
SIM_INLINE void xorwow_skip(curandStateXORWOW_t *state, unsigned long long n, int sequences)
{
    unsigned words[5];
    for (int i = 0; i < 5; i++)
        words[i] = state->v[i];
    sim_xorwow_skip(words, n, sequences);
    for (int i = 0; i < 5; i++)
        state->v[i] = words[i];
}
} // namespace sim

SIM_INLINE void skipahead(unsigned long long n, curandStateXORWOW_t *state)
{
    sim::xorwow_skip(state, n, 0);
    state->d += 362437 * (unsigned int)n;
}

SIM_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state)
{
    sim::xorwow_skip(state, n, 1);
}

SIM_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStateXORWOW_t *state)
{
    unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
    unsigned int high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    unsigned int words[5] = {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low};
    sim_xorwow_skip(words, sequence, 1);
    sim_xorwow_skip(words, offset, 0);
    state->d = 6615241 + high + low + 362437 * (unsigned int)offset;
    for (int i = 0; i < 5; i++)
        state->v[i] = words[i];
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// --- Philox4_32_10 ---------------------------------------------------------------------------------------------------

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE; // how many of the four numbers of `output` have been given out
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

SIM_INLINE uint4 curand_Philox4x32_10(uint4 counter, uint2 key)
{
    uint32_t words[4] = {counter.x, counter.y, counter.z, counter.w};
    sim_philox(words, key.x, key.y);
    return make_uint4(words[0], words[1], words[2], words[3]);
}

namespace sim
{
// The counter's low half counts blocks of four numbers, its high half is the sequence.
SIM_INLINE void philox_advance(curandStatePhilox4_32_10_t *state, unsigned long long blocks)
{
    unsigned long long low = ((unsigned long long)state->ctr.y << 32 | state->ctr.x) + blocks;
    unsigned long long high = (unsigned long long)state->ctr.w << 32 | state->ctr.z;
    high += low < blocks;
    state->ctr = make_uint4((unsigned)low, (unsigned)(low >> 32), (unsigned)high, (unsigned)(high >> 32));
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
} // namespace sim

SIM_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    state->STATE += (unsigned)(n & 3);
    n /= 4;
    if (state->STATE > 3) {
        n++;
        state->STATE -= 4;
    }
    sim::philox_advance(state, n);
}

SIM_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state)
{
    unsigned long long high = ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + n;
    state->ctr.z = (unsigned)high;
    state->ctr.w = (unsigned)(high >> 32);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

SIM_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStatePhilox4_32_10_t *state)
{
    state->ctr = make_uint4(0, 0, (unsigned)sequence, (unsigned)(sequence >> 32));
    state->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    state->STATE = 0;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead(offset, state);
}

SIM_INLINE unsigned int curand(curandStatePhilox4_32_10_t *state)
{
    unsigned given = state->STATE++;
    uint4 numbers = state->output;
    if (state->STATE == 4) {
        sim::philox_advance(state, 1);
        state->STATE = 0;
    }
    return given == 0 ? numbers.x : given == 1 ? numbers.y : given == 2 ? numbers.z : numbers.w;
}

SIM_INLINE uint4 curand4(curandStatePhilox4_32_10_t *state)
{
    uint4 old = state->output;
    sim::philox_advance(state, 1);
    uint4 next = state->output;
    switch (state->STATE) {
    case 1: return make_uint4(old.y, old.z, old.w, next.x);
    case 2: return make_uint4(old.z, old.w, next.x, next.y);
    case 3: return make_uint4(old.w, next.x, next.y, next.z);
    default: return old;
    }
}

// --- MRG32k3a --------------------------------------------------------------------------------------------------------

struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3]; // the oldest number first
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#define MRG32K3A_NORM      (2.3283065498378288e-10) // 1 / first modulus
#define MRG32K3A_BITS_NORM 1.000000048662           // stretches the numbers over 32 bits

// From 1 to the first modulus.
SIM_INLINE double curand_MRG32k3a(curandStateMRG32k3a_t *state)
{
    unsigned int first = sim::mrg_next(0, 0, state->s1[1], state->s1[0]);
    unsigned int second = sim::mrg_next(1, state->s2[2], 0, state->s2[0]);
    state->s1[0] = state->s1[1];
    state->s1[1] = state->s1[2];
    state->s1[2] = first;
    state->s2[0] = state->s2[1];
    state->s2[1] = state->s2[2];
    state->s2[2] = second;
    double difference = (double)first - (double)second;
    return difference <= 0 ? difference + (double)sim::mrg_modulus[0] : difference;
}

SIM_INLINE unsigned int curand(curandStateMRG32k3a_t *state)
{
    return (unsigned int)(curand_MRG32k3a(state) * MRG32K3A_BITS_NORM);
}

namespace sim
{
SIM_INLINE void mrg_skip_both(curandStateMRG32k3a_t *state, unsigned long long n, int unit)
{
    unsigned first[3], second[3];
    for (int i = 0; i < 3; i++) {
        first[i] = state->s1[i];
        second[i] = state->s2[i];
    }
    mrg_skip(first, 0, n, unit);
    mrg_skip(second, 1, n, unit);
    for (int i = 0; i < 3; i++) {
        state->s1[i] = first[i];
        state->s2[i] = second[i];
    }
}
} // namespace sim

SIM_INLINE void skipahead(unsigned long long n, curandStateMRG32k3a_t *state)
{
    sim::mrg_skip_both(state, n, 0);
}

SIM_INLINE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    sim::mrg_skip_both(state, n, sim::MRG_SUBSEQUENCE);
}

SIM_INLINE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state)
{
    sim::mrg_skip_both(state, n, sim::MRG_SEQUENCE);
}

// Seed 0 gives the published state, all six words 12345; another one multiplies them with its halves. cuRAND promises
// to take 51 bits of the subsequence; what it does with more is not known.
SIM_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStateMRG32k3a_t *state)
{
    const unsigned long long published = 12345;
    subsequence &= (1ull << (sim::MRG_SEQUENCE - sim::MRG_SUBSEQUENCE)) - 1;
    unsigned long long factor[2] = {(unsigned)seed ^ 0x55555555u, (unsigned)(seed >> 32) ^ 0xaaaaaaaau};
    if (seed == 0)
        factor[0] = factor[1] = 1;
    unsigned first[3], second[3];
    for (int i = 0; i < 3; i++) {
        first[i] = (unsigned)(factor[i % 2] * published % sim::mrg_modulus[0]);
        second[i] = (unsigned)(factor[(i + 1) % 2] * published % sim::mrg_modulus[1]);
    }
    sim::mrg_skip(first, 0, subsequence, sim::MRG_SUBSEQUENCE);
    sim::mrg_skip(second, 1, subsequence, sim::MRG_SUBSEQUENCE);
    sim::mrg_skip(first, 0, offset, 0);
    sim::mrg_skip(second, 1, offset, 0);
    for (int i = 0; i < 3; i++) {
        state->s1[i] = first[i];
        state->s2[i] = second[i];
    }
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// --- uniform ---------------------------------------------------------------------------------------------------------

// Above 0, at most 1.
SIM_INLINE float _curand_uniform(unsigned int x)
{
    return fmaf((float)x, CURAND_2POW32_INV, CURAND_2POW32_INV / 2.0f);
}

SIM_INLINE double _curand_uniform_double_hq(unsigned int x, unsigned int y)
{
    unsigned long long bits = (unsigned long long)x ^ ((unsigned long long)y << (53 - 32));
    return fma((double)bits, CURAND_2POW53_INV_DOUBLE, CURAND_2POW53_INV_DOUBLE / 2.0);
}

template <class State> SIM_INLINE float curand_uniform(State *state)
{
    return _curand_uniform(curand(state));
}

SIM_INLINE double curand_uniform_double(curandStateXORWOW_t *state)
{
    unsigned int x = curand(state), y = curand(state);
    return _curand_uniform_double_hq(x, y);
}

SIM_INLINE double curand_uniform_double(curandStatePhilox4_32_10_t *state)
{
    return fma((double)curand(state), CURAND_2POW32_INV_DOUBLE, CURAND_2POW32_INV_DOUBLE);
}

// MRG32k3a's numbers are no 32 bits: they are divided by their modulus, as published.
SIM_INLINE double curand_uniform_double(curandStateMRG32k3a_t *state)
{
    return curand_MRG32k3a(state) * MRG32K3A_NORM;
}

SIM_INLINE float curand_uniform(curandStateMRG32k3a_t *state)
{
    return (float)curand_uniform_double(state);
}

SIM_INLINE float4 curand_uniform4(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    return make_float4(_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w));
}

SIM_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    return make_double2(_curand_uniform_double_hq(x.x, x.y), _curand_uniform_double_hq(x.z, x.w));
}

SIM_INLINE double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state)
{
    double2 first = curand_uniform2_double(state), second = curand_uniform2_double(state);
    return make_double4(first.x, first.y, second.x, second.y);
}

// --- normal (Box and Muller) -----------------------------------------------------------------------------------------

SIM_INLINE float2 _curand_box_muller(unsigned int x, unsigned int y)
{
    float radius = sqrtf(-2.0f * logf(fmaf((float)x, CURAND_2POW32_INV, CURAND_2POW32_INV / 2)));
    float angle = fmaf((float)y, CURAND_2POW32_INV_2PI, CURAND_2POW32_INV_2PI / 2);
    return make_float2(radius * sinf(angle), radius * cosf(angle));
}

SIM_INLINE double2 _curand_box_muller_double(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1)
{
    unsigned long long turn = (unsigned long long)y0 ^ ((unsigned long long)y1 << (53 - 32));
    double angle = fma((double)turn, CURAND_2POW53_INV_DOUBLE * 2.0, CURAND_2POW53_INV_DOUBLE) * CURAND_PI_DOUBLE;
    double radius = sqrt(-2.0 * log(_curand_uniform_double_hq(x0, x1)));
    return make_double2(radius * sin(angle), radius * cos(angle));
}

template <class State> SIM_INLINE float2 curand_normal2(State *state)
{
    unsigned int x = curand(state), y = curand(state);
    return _curand_box_muller(x, y);
}

SIM_INLINE float2 curand_normal2(curandStateMRG32k3a_t *state)
{
    float radius = sqrtf(-2.0f * logf(curand_uniform(state))), angle = curand_uniform(state) * 6.2831855f;
    return make_float2(radius * sinf(angle), radius * cosf(angle));
}

// The second value of a pair is kept for the next call.
template <class State> SIM_INLINE float curand_normal(State *state)
{
    if (state->boxmuller_flag) {
        state->boxmuller_flag = 0;
        return state->boxmuller_extra;
    }
    float2 pair = curand_normal2(state);
    state->boxmuller_extra = pair.y;
    state->boxmuller_flag = 1;
    return pair.x;
}

SIM_INLINE float4 curand_normal4(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    float2 first = _curand_box_muller(x.x, x.y), second = _curand_box_muller(x.z, x.w);
    return make_float4(first.x, first.y, second.x, second.y);
}

SIM_INLINE double2 curand_normal2_double(curandStateXORWOW_t *state)
{
    unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state), y1 = curand(state);
    return _curand_box_muller_double(x0, x1, y0, y1);
}

SIM_INLINE double2 curand_normal2_double(curandStatePhilox4_32_10_t *state)
{
    uint4 x = curand4(state);
    return _curand_box_muller_double(x.x, x.y, x.z, x.w);
}

SIM_INLINE double2 curand_normal2_double(curandStateMRG32k3a_t *state)
{
    double radius = sqrt(-2.0 * log(curand_uniform_double(state)));
    double angle = curand_uniform_double(state) * 2.0 * CURAND_PI_DOUBLE;
    return make_double2(radius * sin(angle), radius * cos(angle));
}

SIM_INLINE double4 curand_normal4_double(curandStatePhilox4_32_10_t *state)
{
    double2 first = curand_normal2_double(state), second = curand_normal2_double(state);
    return make_double4(first.x, first.y, second.x, second.y);
}

template <class State> SIM_INLINE double curand_normal_double(State *state)
{
    if (state->boxmuller_flag_double) {
        state->boxmuller_flag_double = 0;
        return state->boxmuller_extra_double;
    }
    double2 pair = curand_normal2_double(state);
    state->boxmuller_extra_double = pair.y;
    state->boxmuller_flag_double = 1;
    return pair.x;
}

// --- made from them --------------------------------------------------------------------------------------------------

template <class State> SIM_INLINE float curand_log_normal(State *state, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(state));
}

template <class State> SIM_INLINE float2 curand_log_normal2(State *state, float mean, float deviation)
{
    float2 pair = curand_normal2(state);
    return make_float2(expf(mean + deviation * pair.x), expf(mean + deviation * pair.y));
}

SIM_INLINE float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float deviation)
{
    float4 four = curand_normal4(state);
    return make_float4(expf(mean + deviation * four.x), expf(mean + deviation * four.y),
                       expf(mean + deviation * four.z), expf(mean + deviation * four.w));
}

template <class State> SIM_INLINE double curand_log_normal_double(State *state, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(state));
}

template <class State> SIM_INLINE double2 curand_log_normal2_double(State *state, double mean, double deviation)
{
    double2 pair = curand_normal2_double(state);
    return make_double2(exp(mean + deviation * pair.x), exp(mean + deviation * pair.y));
}

// Knuth's product of uniforms, in steps small enough for exp(-step) not to vanish.
template <class State> SIM_INLINE unsigned int curand_poisson(State *state, double lambda)
{
    const double step = 500;
    double left = lambda, product = 1;
    unsigned int count = 0;
    do {
        count++;
        product *= (double)_curand_uniform(curand(state));
        while (product < 1 && left > 0) {
            double part = left < step ? left : step;
            product *= exp(part);
            left -= part;
        }
    } while (product > 1);
    return count - 1;
}

namespace sim
{
// Values of one number each, for generators whose numbers come one by one. Normal ones fall as x rises: so in cuRAND's
// device code, and the other way round in its host API.
SIM_INLINE double normal_of(unsigned long long x, unsigned long long half, double unit)
{
    double sign = 1.41421356237309504880;
    if (x > half) {
        x = 2 * half - 1 - x;
        sign = -sign;
    }
    return sign * erfcinv(2.0 * ((double)x * unit + unit / 2.0));
}
SIM_INLINE double normal_of_32(unsigned int x)
{
    return normal_of(x, 1ull << 31, CURAND_2POW32_INV_DOUBLE);
}
SIM_INLINE double normal_of_64(unsigned long long x)
{
    return normal_of(x >> 11, 1ull << 52, CURAND_2POW53_INV_DOUBLE);
}
SIM_INLINE double uniform_of_32(unsigned int x)
{
    return fma((double)x, CURAND_2POW32_INV_DOUBLE, CURAND_2POW32_INV_DOUBLE);
}
SIM_INLINE double uniform_of_64(unsigned long long x)
{
    return fma((double)(x >> 11), CURAND_2POW53_INV_DOUBLE, CURAND_2POW53_INV_DOUBLE / 2.0);
}
} // namespace sim

#include <curand_mtgp32_kernel.h>

#include "sim/sobol.h"
