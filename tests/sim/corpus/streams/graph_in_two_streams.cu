// Launches of one executable graph run one after the other, in whatever streams: two of them share its memory.
#include "../corpus.h"

__global__ void count(int *counter)
{
    *counter += 1;
}

int main()
{
    cudaStream_t a, b;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *counter = device_zeros<int>(1), *copy = device_zeros<int>(1), counted[1];
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    count<<<1, 1, 0, a>>>(counter);
    CHECK(cudaMemcpyAsync(copy, counter, sizeof *counter, cudaMemcpyDeviceToDevice, a));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphLaunch(exec, b));
    CHECK(cudaGraphLaunch(exec, a));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaDeviceSynchronize());
    fetch(counted, copy);
    REQUIRE(counted[0] == 3);
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(counter));
    CHECK(cudaFree(copy));
    return 0;
}
