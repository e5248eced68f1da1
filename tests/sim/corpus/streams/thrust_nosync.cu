// Thrust algorithms that do not wait: their results are used too early, by the host and by another stream.
#include "../corpus.h"
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/functional.h>
#include <thrust/transform.h>

const int N = 256;

__global__ void twice(float *data)
{
    data[threadIdx.x] *= 2; // expect: missing-wait b
}

int main()
{
    float *data = device_ramp<float>(N, 1, 1), *shared = NULL;
    cudaStream_t stream, other;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMallocManaged(&shared, N * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    auto nosync = thrust::cuda::par_nosync.on(stream);
    thrust::transform(nosync, data, data + N, shared, thrust::negate<float>()); // expect: missing-wait a
    float early = shared[0];                                                    // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    thrust::fill(nosync, data, data + N, 3.0f); // expect: missing-wait b
    twice<<<1, N, 0, other>>>(data);
    CHECK(cudaDeviceSynchronize());
    printf("%g\n", early);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaFree(shared));
    CHECK(cudaFree(data));
    return 0;
}
