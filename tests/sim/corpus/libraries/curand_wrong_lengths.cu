// Normal values of pseudorandom generators come in pairs; numbers of Sobol's sequences, as many for each dimension.
#include "../corpus.h"
#include <curand.h>

enum { COUNT = 100, DIMENSIONS = 3 };

int main()
{
    float *numbers = device_zeros<float>(COUNT);
    curandGenerator_t generator, quasi;
    REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandCreateGenerator(&quasi, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandSetQuasiRandomGeneratorDimensions(quasi, DIMENSIONS) == CURAND_STATUS_SUCCESS);
    curandStatus_t status = curandGenerateNormal(generator, numbers, COUNT - 1, 0, 1); // expect: bad-call
    REQUIRE(status == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    status = curandGenerateUniform(quasi, numbers, COUNT); // expect: bad-call
    REQUIRE(status == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    REQUIRE(curandGenerateNormal(generator, numbers, COUNT, 0, 1) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandGenerateUniform(generator, numbers, COUNT - 1) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandGenerateNormal(quasi, numbers, COUNT - 1, 0, 1) == CURAND_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    REQUIRE(curandDestroyGenerator(quasi) == CURAND_STATUS_SUCCESS);
    CHECK(cudaFree(numbers));
    return 0;
}
