// A maximum of floats by CAS whose first guess is a plain read: a stale guess only costs a round.
#include "../corpus.h"

__device__ void atomic_max(float *address, float value)
{
    int *bits = (int *)address;
    int guess = *bits; // expect: race(warning) a
    while (__int_as_float(guess) < value) {
        int seen = atomicCAS(bits, guess, __float_as_int(value)); // expect: race(warning) a
        if (seen == guess)
            break;
        guess = seen;
    }
}

__global__ void maximum(const float *data, float *result)
{
    atomic_max(result, data[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main()
{
    float *data = device_ramp(128, 1.0f, 0.5f), *output = device_zeros<float>(1), result[1];
    maximum<<<4, 32>>>(data, output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 1 + 127 * 0.5f);
    CHECK(cudaFree(data));
    CHECK(cudaFree(output));
    return 0;
}
