// A launcher may share its name with its kernel: the arguments tell them apart. Names for the profiler change nothing.
#include "../corpus.h"

#include <nvtx3/nvToolsExtCudaRt.h>

void scale(float *values, float factor, int n, int threads);

__global__ void scale(float *values, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= factor;
}

void scale(float *values, float factor, int n, int threads)
{
    scale<<<(n + threads - 1) / threads, threads>>>(values, factor, n);
    CHECK(cudaGetLastError());
}

int main()
{
    const int n = 100;
    float host[n], *values;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    nvtxNameCudaStreamA(stream, "copies");
    nvtxNameCudaDevice(0, "the only one");
    for (int i = 0; i < n; i++)
        host[i] = (float)i;
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    scale(values, 2, n, 32);
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == 2.0f * (float)i);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(values));
}
