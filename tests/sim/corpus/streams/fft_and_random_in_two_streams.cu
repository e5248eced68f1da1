// Random numbers drawn in one stream and transformed in another, with nothing between the two; then with an event.
#include "../corpus.h"
#include <cufft.h>
#include <curand.h>

const int N = 64;

int main()
{
    float *signal = device_zeros<float>(N);
    cufftComplex *spectrum = NULL;
    cudaStream_t first, second;
    cudaEvent_t drawn;
    curandGenerator_t generator;
    cufftHandle plan;
    CHECK(cudaMalloc(&spectrum, N * sizeof *spectrum));
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaEventCreate(&drawn));
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandSetStream(generator, first) == CURAND_STATUS_SUCCESS);
    REQUIRE(cufftPlan1d(&plan, N, CUFFT_R2C, 1) == CUFFT_SUCCESS);
    REQUIRE(cufftSetStream(plan, second) == CUFFT_SUCCESS);
    REQUIRE(curandGenerateUniform(generator, signal, N) == CURAND_STATUS_SUCCESS); // expect: missing-wait a
    REQUIRE(cufftExecR2C(plan, signal, spectrum) == CUFFT_SUCCESS);                // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    REQUIRE(curandGenerateUniform(generator, signal, N) == CURAND_STATUS_SUCCESS);
    CHECK(cudaEventRecord(drawn, first));
    CHECK(cudaStreamWaitEvent(second, drawn, 0));
    REQUIRE(cufftExecR2C(plan, signal, spectrum) == CUFFT_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    cufftDestroy(plan);
    curandDestroyGenerator(generator);
    CHECK(cudaEventDestroy(drawn));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(signal));
    CHECK(cudaFree(spectrum));
    return 0;
}
