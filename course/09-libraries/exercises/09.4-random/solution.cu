// Fills out with n random numbers, uniform between 0 and 1, chunk numbers at a time.
//
// The generator's state is what moves on from one number to the next, so one generator has to live as long as the
// sequence. A new seed per chunk, such as seed + 1, would only move the repetition: the next experiment, with the next
// seed, would draw the same chunks.

#include <curand.h>

void fill_uniform(float *out, int n, int chunk, unsigned long long seed)
{
    curandGenerator_t generator;

    curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    curandSetPseudoRandomGeneratorSeed(generator, seed);
    for (int first = 0; first < n; first += chunk) {
        int count = n - first < chunk ? n - first : chunk;
        curandGenerateUniform(generator, out + first, count);
    }
    curandDestroyGenerator(generator);
}
