// What the body of a conditional node writes, another stream reads without waiting for the graph.
#include "../corpus.h"

__global__ void fill(int *to)
{
    to[threadIdx.x] = 1; // expect: missing-wait a
}

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x]; // expect: missing-wait a
}

int main()
{
    cudaStream_t a, b;
    cudaGraph_t graph;
    cudaGraphNode_t node, inner;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle handle;
    int *memory = device_zeros<int>(32), *other = device_zeros<int>(32);
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional}, body = {cudaGraphNodeTypeKernel};
    choice.conditional.handle = handle;
    choice.conditional.type = cudaGraphCondTypeIf;
    choice.conditional.size = 1;
    CHECK(cudaGraphAddNode(&node, graph, NULL, NULL, 0, &choice));
    void *arguments[] = {&memory};
    body.kernel.func = (void *)fill;
    body.kernel.gridDim = dim3(1);
    body.kernel.blockDim = dim3(32);
    body.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(&inner, choice.conditional.phGraph_out[0], NULL, NULL, 0, &body));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    copy<<<1, 32, 0, b>>>(other, memory);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(memory));
    CHECK(cudaFree(other));
    return 0;
}
