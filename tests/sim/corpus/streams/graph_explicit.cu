// A graph built node by node: memset, two kernels, a copy, a host function.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

static void note(void *data)
{
    *(int *)data += 1;
}

int main()
{
    int *data = device_ramp(64, 5, 0), *result = NULL, notes = 0, value = 7;
    CHECK(cudaMallocHost(&result, 64 * sizeof(int)));
    cudaGraph_t graph;
    cudaGraphNode_t clear, first, second, copy, host;
    CHECK(cudaGraphCreate(&graph, 0));

    cudaMemsetParams set = {};
    set.dst = data;
    set.elementSize = 4;
    set.width = 64;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, NULL, 0, &set));

    void *arguments[] = {&data, &value};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(64);
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&first, graph, &clear, 1, &kernel));
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &second, 1, result, data, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {note, &notes};
    CHECK(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++)
        CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 14);
    REQUIRE(notes == 2);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFreeHost(result));
    CHECK(cudaFree(data));
    return 0;
}
