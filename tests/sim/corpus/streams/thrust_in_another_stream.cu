// A Thrust algorithm in one stream reads what a kernel of another stream writes.
#include "../corpus.h"
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/device_ptr.h>

const int N = 256;

__global__ void twice(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = 2 * data[i]; // expect: missing-wait a
}

int main()
{
    float *data = device_ramp<float>(N, 1, 0);
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    twice<<<N / 64, 64, 0, first>>>(data);
    CHECK(cudaGetLastError());
    thrust::device_ptr<float> begin(data);
    float sum = thrust::reduce(thrust::cuda::par.on(second), begin, begin + N); // expect: missing-wait a
    REQUIRE(sum == 2 * N || sum == N);
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(data));
    return 0;
}
