// Fills out with n random numbers, uniform between 0 and 1, chunk numbers at a time.

#include <curand.h>

void fill_uniform(float *out, int n, int chunk, unsigned long long seed)
{
    for (int first = 0; first < n; first += chunk) {
        int count = n - first < chunk ? n - first : chunk;
        curandGenerator_t generator;

        curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
        curandSetPseudoRandomGeneratorSeed(generator, seed);
        curandGenerateUniform(generator, out + first, count);
        curandDestroyGenerator(generator);
    }
}
