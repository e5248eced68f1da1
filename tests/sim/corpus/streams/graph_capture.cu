// A stream captured into a graph, launched several times, updated with other arguments.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

static cudaGraph_t capture(cudaStream_t stream, int *data, int value)
{
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 64, 0, stream>>>(data, value);
    add<<<1, 64, 0, stream>>>(data, 10 * value);
    CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

int main()
{
    cudaStream_t stream;
    cudaGraphExec_t exec;
    int *data = device_zeros<int>(64), result[64];
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph = capture(stream, data, 1);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    cudaGraph_t other = capture(stream, data, 2);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, other, &info));
    REQUIRE(info.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    fetch(result, data);
    for (int i = 0; i < 64; i++)
        REQUIRE(result[i] == 33 + 22);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(other));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return 0;
}
