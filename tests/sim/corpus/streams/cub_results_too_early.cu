// What a CUB algorithm writes is used before its stream was waited for: by the host, by a kernel of another stream, and
// by a copy.
#include "../corpus.h"
#include <cub/cub.cuh>

const int N = 1024;

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2; // expect: missing-wait b
}

int main()
{
    int *in = device_ramp<int>(N, 1, 0), *out = device_zeros<int>(N), *sum = NULL, host[N];
    void *room = NULL;
    size_t bytes = 0, most = 0;
    cudaStream_t stream, other;
    CHECK(cudaMallocManaged(&sum, sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cub::DeviceReduce::Sum(NULL, bytes, in, sum, N));
    CHECK(cub::DeviceScan::InclusiveSum(NULL, most, in, out, N));
    bytes = bytes > most ? bytes : most;
    CHECK(cudaMalloc(&room, bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cub::DeviceReduce::Sum(room, bytes, in, sum, N, stream)); // expect: missing-wait a
    int early = *sum;                                               // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    CHECK(cub::DeviceScan::InclusiveSum(room, bytes, in, out, N, stream)); // expect: missing-wait b
    twice<<<1, 64, 0, other>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cub::DeviceScan::ExclusiveSum(room, bytes, in, out, N, stream));         // expect: missing-wait c
    CHECK(cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, other)); // expect: missing-wait c
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", early);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaFree(room));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sum));
    return 0;
}
