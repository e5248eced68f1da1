// Host memory is freed before copies run that use it: of graphs that are launched later, and one under way in a stream.
#include "../corpus.h"

#include <vector>

enum { N = 64, BYTES = N * sizeof(int) };

static cudaGraphExec_t captured(cudaStream_t stream, int *device)
{
    std::vector<int> source(N, 7);
    int *target = new int[N];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(device, source.data(), BYTES, cudaMemcpyHostToDevice, stream)); // expect: use-after-free
    CHECK(cudaMemcpyAsync(target, device, BYTES, cudaMemcpyDeviceToHost, stream));        // expect: use-after-free a
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    delete[] target; // expect: use-after-free a
    return exec;
}

static cudaGraphExec_t of_nodes(int *device)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    int *block = (int *)calloc(N, sizeof(int));
    CHECK(cudaGraphCreate(&graph, 0));
    const cudaMemcpyKind kind = cudaMemcpyHostToDevice;
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, device, block + 8, 64, kind)); // expect: use-after-free b
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    free(block); // expect: use-after-free b
    return exec;
}

int main()
{
    int *device = device_zeros<int>(N);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t first = captured(stream, device), second = of_nodes(device);
    CHECK(cudaGraphLaunch(first, stream));
    CHECK(cudaGraphLaunch(second, stream));
    CHECK(cudaStreamSynchronize(stream));

    int *pinned = (int *)malloc(BYTES);
    CHECK(cudaHostRegister(pinned, BYTES, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream)); // expect: use-after-free c
    free(pinned);                                                                  // expect: use-after-free c
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(first));
    CHECK(cudaGraphExecDestroy(second));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    return 0;
}
