// Generators whose tables only cuRAND's own library has come from there; here installed_curand.c stands for it, whose
// numbers are type * 1000000 + seed * 1000 + dimensions * 100 + position.
#include <cstdio>
#include <cuda_runtime.h>
#include <curand.h>

static int failures;

static void expect(const char *what, double got, double wanted)
{
    if (got != wanted && failures++ < 10)
        printf("%s: %.17g, not %.17g\n", what, got, wanted);
}

template <class T> static T fetched(const T *device, int index)
{
    T value;
    expect("cudaMemcpy", cudaMemcpy(&value, device + index, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
}

static void mersenne_twister(unsigned *bits, float *values)
{
    curandGenerator_t generator;
    expect("create", curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_MTGP32), CURAND_STATUS_SUCCESS);
    expect("seed", curandSetPseudoRandomGeneratorSeed(generator, 7), CURAND_STATUS_SUCCESS);
    expect("offset", curandSetGeneratorOffset(generator, 5), CURAND_STATUS_TYPE_ERROR);
    expect("generate", curandGenerate(generator, bits, 8), CURAND_STATUS_SUCCESS);
    expect("number", fetched(bits, 7), 141007007);
    expect("an odd count", curandGenerateNormal(generator, values, 3, 1, 2), CURAND_STATUS_SUCCESS);
    expect("normal", fetched(values, 2), (double)(1 + 2 * (float)141007010));
    expect("seed again", curandSetPseudoRandomGeneratorSeed(generator, 8), CURAND_STATUS_SUCCESS);
    expect("generate", curandGenerate(generator, bits, 8), CURAND_STATUS_SUCCESS);
    expect("from the start", fetched(bits, 0), 141008000);
    expect("destroy", curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

static void scrambled_sobol(unsigned *bits)
{
    curandGenerator_t generator;
    unsigned on_host[4];
    expect("create", curandCreateGeneratorHost(&generator, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32), CURAND_STATUS_SUCCESS);
    expect("dimensions", curandSetQuasiRandomGeneratorDimensions(generator, 2), CURAND_STATUS_SUCCESS);
    expect("offset", curandSetGeneratorOffset(generator, 3), CURAND_STATUS_SUCCESS);
    expect("generate", curandGenerate(generator, on_host, 4), CURAND_STATUS_SUCCESS);
    expect("number", on_host[3], 202000209);
    expect("seed", curandSetPseudoRandomGeneratorSeed(generator, 7), CURAND_STATUS_TYPE_ERROR);
    expect("destroy", curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
    expect("create", curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32), CURAND_STATUS_SUCCESS);
    expect("own numbers", curandGenerate(generator, bits, 4), CURAND_STATUS_SUCCESS);
    expect("number", fetched(bits, 1), 0x80000000);
    expect("more dimensions", curandSetQuasiRandomGeneratorDimensions(generator, 200), CURAND_STATUS_SUCCESS);
    expect("generate", curandGenerate(generator, bits, 200), CURAND_STATUS_SUCCESS);
    expect("number", fetched(bits, 0), 201020000 + 4 * 200);
    expect("too many", curandSetQuasiRandomGeneratorDimensions(generator, 20001), CURAND_STATUS_OUT_OF_RANGE);
    expect("destroy", curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
}

int main()
{
    unsigned *bits, *constant;
    float *values;
    unsigned long long *wide_constant;
    curandDirectionVectors32_t *vectors;
    curandDirectionVectors64_t *wide_vectors;
    cudaMalloc(&bits, 200 * sizeof *bits);
    cudaMalloc(&values, 8 * sizeof *values);
    mersenne_twister(bits, values);
    scrambled_sobol(bits);
    curandGetDirectionVectors32(&vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
    curandGetDirectionVectors64(&wide_vectors, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
    curandGetScrambleConstants32(&constant);
    curandGetScrambleConstants64(&wide_constant);
    expect("vectors", vectors[0][0] + 1000.0 * (double)wide_vectors[0][0], 104102);
    expect("constants", constant[0] + 1000.0 * (double)wide_constant[0], 64032);
    cudaFree(bits);
    cudaFree(values);
    return failures > 0;
}
