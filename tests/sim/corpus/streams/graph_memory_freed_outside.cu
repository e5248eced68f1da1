// Memory that a graph allocates and the program frees outside it: the graph's next launch allocates it again.
#include "../corpus.h"

enum { N = 256 };

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

__global__ void add(const int *p, int *total)
{
    atomicAdd(total, p[threadIdx.x]);
}

int main()
{
    int *total = NULL, *p = NULL, found, value = 3;
    cudaStream_t stream;
    CHECK(cudaMalloc(&total, sizeof *total));
    CHECK(cudaMemset(total, 0, sizeof *total));
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph, freeing;
    cudaGraphNode_t allocation, kernel, release;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams wanted = {};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = N * sizeof *p;
    CHECK(cudaGraphAddMemAllocNode(&allocation, graph, NULL, 0, &wanted));
    p = (int *)wanted.dptr;
    void *arguments[] = {&p, &value};
    cudaKernelNodeParams how = {};
    how.func = (void *)fill;
    how.gridDim = dim3(1);
    how.blockDim = dim3(N);
    how.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &allocation, 1, &how));
    CHECK(cudaGraphCreate(&freeing, 0));
    CHECK(cudaGraphAddMemFreeNode(&release, freeing, NULL, 0, p));
    cudaGraphExec_t exec, free_exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphInstantiate(&free_exec, freeing, 0));

    CHECK(cudaGraphLaunch(exec, stream));
    add<<<1, N, 0, stream>>>(p, total);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(p));
    CHECK(cudaGraphLaunch(exec, stream));
    add<<<1, N, 0, stream>>>(p, total);
    CHECK(cudaFreeAsync(p, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    add<<<1, N, 0, stream>>>(p, total);
    CHECK(cudaGraphLaunch(free_exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&found, total, sizeof found, cudaMemcpyDeviceToHost));
    REQUIRE(found == 3 * N * value);

    CHECK(cudaGraphExecDestroy(free_exec));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(freeing));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(total));
    return 0;
}
