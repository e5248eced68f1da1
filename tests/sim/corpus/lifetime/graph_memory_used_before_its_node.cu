// Memory of a graph has an address when its node is made, but a kernel may use it only behind that node.
#include "../corpus.h"

enum { N = 64 };

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: use-after-free
}

int main()
{
    cudaGraph_t graph;
    cudaGraphNode_t allocation;
    cudaMemAllocNodeParams wanted = {};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = N * sizeof(int);
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&allocation, graph, NULL, 0, &wanted));
    fill<<<1, N>>>((int *)wanted.dptr);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGraphDestroy(graph));
    return 0;
}
