// Host memory of copies that run later is kept, grown in place, or replaced in the graph by what is there; and freed
// memory was the source of copies that had taken it at the call.
#include "../corpus.h"

#include <vector>

enum { N = 64, BYTES = N * sizeof(int) };

int main()
{
    int *device = device_zeros<int>(N);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    {
        std::vector<int> source(N, 7);
        CHECK(cudaMemcpyAsync(device, source.data(), BYTES, cudaMemcpyHostToDevice, stream));
    }
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    std::vector<int> target;
    target.reserve(4 * N);
    target.resize(N);
    int *block = (int *)calloc(N, sizeof(int));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, target.data(), device, BYTES, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, device, block, BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(target[N - 1] == 7);
    target.resize(3 * N);
    int *larger = (int *)malloc(2 * BYTES);
    for (int i = 0; i < N; i++)
        larger[i] = i;
    free(block);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, device, larger, BYTES, cudaMemcpyHostToDevice));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(target[N - 1] == N - 1);
    free(larger);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    return 0;
}
