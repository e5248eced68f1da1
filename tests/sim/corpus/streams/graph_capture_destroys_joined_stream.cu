// A stream that was drawn into a capture and joined again is destroyed before the capture ends.
#include "../corpus.h"

__global__ void increment(int *values)
{
    values[threadIdx.x]++;
}

int main()
{
    int *values = device_zeros<int>(64), result[64];
    cudaStream_t origin, branch;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreate(&origin));
    CHECK(cudaStreamCreate(&branch));
    CHECK(cudaEventCreate(&forked));
    CHECK(cudaEventCreate(&joined));
    CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    increment<<<1, 32, 0, origin>>>(values);
    CHECK(cudaEventRecord(forked, origin));
    CHECK(cudaStreamWaitEvent(branch, forked, 0));
    increment<<<1, 32, 0, branch>>>(values + 32);
    CHECK(cudaEventRecord(joined, branch));
    CHECK(cudaStreamWaitEvent(origin, joined, 0));
    CHECK(cudaStreamDestroy(branch));
    CHECK(cudaStreamEndCapture(origin, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, origin));
    CHECK(cudaStreamSynchronize(origin));
    fetch(result, values);
    REQUIRE(result[0] == 1 && result[63] == 1);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(forked));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(origin));
    CHECK(cudaFree(values));
    return 0;
}
