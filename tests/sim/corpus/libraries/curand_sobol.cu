// Sobol's sequences from cuRAND's host API and in kernels. The numbers are those of a real GPU and its library.
#include "../corpus.h"
#include <cassert>
#include <cmath>
#include <curand.h>
#include <curand_kernel.h>

#define DONE(call) REQUIRE((call) == CURAND_STATUS_SUCCESS)

static bool close(double got, double wanted)
{
    return std::fabs(got - wanted) < 1e-6;
}

__global__ void draw(curandDirectionVectors32_t *narrow, curandDirectionVectors64_t *wide, unsigned *bits,
                     unsigned long long *long_bits, float *values)
{
    curandStateSobol32_t state;
    curandStateSobol64_t wide_state;
    curand_init(narrow[2], threadIdx.x, &state);
    curand_init(wide[1], threadIdx.x, &wide_state);
    bits[threadIdx.x] = curand(&state);
    long_bits[threadIdx.x] = curand(&wide_state);
    // Scrambled, a number has the bits of a constant turned.
    curandStateScrambledSobol32_t scrambled;
    curandStateScrambledSobol64_t wide_scrambled;
    curand_init(narrow[2], 0x12345678u, threadIdx.x, &scrambled);
    curand_init(wide[1], 0x123456789abcdef0ull, threadIdx.x, &wide_scrambled);
    assert(curand(&scrambled) == (bits[threadIdx.x] ^ 0x12345678u));
    assert(curand(&wide_scrambled) == (long_bits[threadIdx.x] ^ 0x123456789abcdef0ull));
    skipahead(1u, &scrambled);
    assert(scrambled.i == threadIdx.x + 2);
    assert(curand_normal(&scrambled) * 0 + curand_uniform_double(&wide_scrambled) < 1);
    if (threadIdx.x == 3) {
        values[0] = curand_uniform(&state); // the number at 4
        values[1] = (float)curand_uniform_double(&wide_state);
        skipahead(1u, &state); // to the number at 6
        values[2] = curand_normal(&state);
    }
}

static void on_the_host()
{
    unsigned bits[12], *d_bits = device_zeros<unsigned>(12);
    float values[12], *d_values = device_zeros<float>(12);
    double wide[8], *d_wide = device_zeros<double>(8);
    const unsigned wanted[] = {0,          0x80000000, 0xc0000000, 0x40000000, 0,          0x80000000,
                               0x40000000, 0xc0000000, 0,          0x80000000, 0x40000000, 0xc0000000};
    const double wanted_wide[] = {0, 0.5, 0.75, 0.25, 0, 0.5, 0.25, 0.75};
    curandGenerator_t generator;
    DONE(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
    DONE(curandSetQuasiRandomGeneratorDimensions(generator, 3));
    DONE(curandGenerate(generator, d_bits, 12));
    fetch(bits, d_bits);
    for (int i = 0; i < 12; i++)
        REQUIRE(bits[i] == wanted[i]);
    DONE(curandGenerateUniform(generator, d_values, 12));
    fetch(values, d_values);
    REQUIRE(values[0] == 0.375f && values[1] == 0.875f && values[6] == 0.125f && values[8] == 0.625f);
    DONE(curandSetGeneratorOffset(generator, 2));
    DONE(curandGenerateNormal(generator, d_values, 9, 0, 1));
    fetch(values, d_values);
    REQUIRE(close(values[0], 0.674489737) && close(values[2], -0.318639368) && close(values[8], 0.318639368));
    REQUIRE(curandSetPseudoRandomGeneratorSeed(generator, 3) == CURAND_STATUS_TYPE_ERROR);
    DONE(curandDestroyGenerator(generator));
    DONE(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL64));
    DONE(curandSetQuasiRandomGeneratorDimensions(generator, 2));
    DONE(curandGenerateUniformDouble(generator, d_wide, 8));
    fetch(wide, d_wide);
    for (int i = 0; i < 8; i++)
        REQUIRE(close(wide[i], wanted_wide[i]) && wide[i] > 0);
    DONE(curandDestroyGenerator(generator));
    CHECK(cudaFree(d_bits));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_wide));
}

int main()
{
    unsigned bits[4], *d_bits = device_zeros<unsigned>(4);
    unsigned long long long_bits[4], *d_long_bits = device_zeros<unsigned long long>(4);
    float values[3], *d_values = device_zeros<float>(3);
    curandDirectionVectors32_t *narrow, *d_narrow;
    curandDirectionVectors64_t *wide, *d_wide;
    DONE(curandGetDirectionVectors32(&narrow, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    DONE(curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
    REQUIRE(narrow[3][3] == 0x50000000 && wide[2][5] == 0x5c00000000000000);
    REQUIRE(narrow[160][31] == 0x54fd003f); // of the last dimension that is simulated
    CHECK(cudaMalloc(&d_narrow, 3 * sizeof *narrow));
    CHECK(cudaMalloc(&d_wide, 2 * sizeof *wide));
    CHECK(cudaMemcpy(d_narrow, narrow, 3 * sizeof *narrow, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_wide, wide, 2 * sizeof *wide, cudaMemcpyHostToDevice));
    draw<<<1, 4>>>(d_narrow, d_wide, d_bits, d_long_bits, d_values);
    fetch(bits, d_bits);
    fetch(long_bits, d_long_bits);
    fetch(values, d_values);
    REQUIRE(bits[1] == 0x80000000 && bits[2] == 0x40000000 && bits[3] == 0xc0000000);
    REQUIRE(long_bits[2] == 0x4000000000000000 && long_bits[3] == 0xc000000000000000);
    REQUIRE(values[0] == 0.625f && close(values[1], 0.375) && close(values[2], -1.15034938));
    on_the_host();
    CHECK(cudaFree(d_bits));
    CHECK(cudaFree(d_long_bits));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_narrow));
    CHECK(cudaFree(d_wide));
    return 0;
}
