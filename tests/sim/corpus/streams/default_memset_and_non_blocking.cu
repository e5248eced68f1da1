// cudaMemset in the default stream does not make a non-blocking stream wait. That is the mistake, not that the kernel
// finds memory that the fill has not reached yet.
#include "../corpus.h"

__global__ void add(float *sum)
{
    atomicAdd(sum, 1.0f); // expect: missing-wait a; allow: uninitialised
}

int main()
{
    cudaStream_t stream;
    float *sum, result;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&sum, sizeof *sum));
    CHECK(cudaMemset(sum, 0, sizeof *sum)); // expect: missing-wait a
    add<<<1, 32, 0, stream>>>(sum);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(sum));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
