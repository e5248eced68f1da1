// Memory that a captured graph allocates and frees, used by a later kernel of the same stream.
#include "../corpus.h"

enum { N = 64 };

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: use-after-free
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *data = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync((void **)&data, N * sizeof *data, stream));
    fill<<<1, N, 0, stream>>>(data);
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream)); // takes the memory again
    CHECK(cudaStreamSynchronize(stream));
    fill<<<1, N, 0, stream>>>(data);
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(graph));
    SHOW(cudaStreamDestroy(stream));
    return 0;
}
