// Addresses in a device variable that the host may have: a kernel handed them out in a large copy, a range has an end.
#include "../corpus.h"

enum { NODES = 1024 };
__device__ float pool[NODES], spare[NODES], *head = spare;

__global__ void hand_out(float **nodes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    nodes[i] = &pool[i];
}

__global__ void set(float *begin, float *end)
{
    for (float *at = begin; at < end; at++)
        *at = 3;
}

struct __attribute__((packed)) range {
    int count;
    float *begin;
};

__global__ void describe(range *output)
{
    output->count = 1;
    output->begin = pool;
}

int main()
{
    static float *host[NODES];
    float **nodes = device_zeros<float *>(NODES), *first, value;
    hand_out<<<4, 256>>>(nodes);
    fetch(host, nodes);
    set<<<1, 1>>>(host[0], host[5]);
    CHECK(cudaMemset(host[0], 0, 4 * sizeof(float)));
    CHECK(cudaMemcpy(&value, host[4], sizeof value, cudaMemcpyDeviceToHost));
    REQUIRE(value == 3);
    CHECK(cudaMemcpyFromSymbol(&first, head, sizeof first));
    set<<<1, 1>>>(first, first + NODES);
    range *described = NULL, back;
    CHECK(cudaMalloc(&described, sizeof back));
    describe<<<1, 1>>>(described);
    CHECK(cudaMemcpy(&back, described, sizeof back, cudaMemcpyDeviceToHost));
    set<<<1, 1>>>(back.begin, back.begin + back.count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(described));
    CHECK(cudaFree(nodes));
    return 0;
}
