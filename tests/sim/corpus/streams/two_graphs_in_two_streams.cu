// Two executable graphs made from one graph do not wait for each other in two streams, and fill the same memory.
#include "../corpus.h"

int main()
{
    cudaStream_t a, b;
    cudaGraph_t graph;
    cudaGraphExec_t one, other;
    int *memory = device_zeros<int>(64);
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(memory, 0, 64 * sizeof *memory, a)); // expect: missing-wait
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&one, graph, 0));
    CHECK(cudaGraphInstantiate(&other, graph, 0));
    CHECK(cudaGraphLaunch(one, a));
    CHECK(cudaGraphLaunch(other, b));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(one));
    CHECK(cudaGraphExecDestroy(other));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(memory));
    return 0;
}
