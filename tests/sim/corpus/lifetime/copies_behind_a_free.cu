// Copies and fills that are queued behind the free of their memory; the calls themselves come before it has run. Memory
// of a graph may be freed when the call is made and there again when the copy runs.
#include "../corpus.h"

enum { N = 64, BYTES = N * sizeof(int) };

__global__ void fill(int *data)
{
    data[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    static int host[N];
    cudaStream_t stream;
    int *data = NULL, *other = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&other, BYTES));
    CHECK(cudaMallocAsync((void **)&data, BYTES, stream));
    fill<<<1, N, 0, stream>>>(data);
    CHECK(cudaFreeAsync(data, stream));
    SHOW(cudaMemcpyAsync(other, data, BYTES, cudaMemcpyDeviceToDevice, stream)); // expect: use-after-free
    SHOW(cudaMemsetAsync(data, 0, BYTES, stream));                               // expect: use-after-free
    SHOW(cudaFreeAsync(data, stream));                                           // expect: invalid-free
    CHECK(cudaStreamSynchronize(stream));

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync((void **)&data, BYTES, stream));
    fill<<<1, N, 0, stream>>>(data);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(other, data, BYTES, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaFreeAsync(data, stream));
    }
    SHOW(cudaMemcpyAsync(data, other, BYTES, cudaMemcpyDeviceToDevice, stream)); // expect: use-after-free
    CHECK(cudaStreamSynchronize(stream));
    SHOW(cudaMemset(data, 0, BYTES)); // expect: use-after-free
    CHECK(cudaMemcpy(host, other, BYTES, cudaMemcpyDeviceToHost));
    REQUIRE(host[N - 1] == N - 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(other));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
