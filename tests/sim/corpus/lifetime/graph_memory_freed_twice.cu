// Memory of a graph, freed twice in every way: by two nodes, by a graph and the program, by the program twice, by a
// graph that runs twice. And a graph that is to free what no graph has allocated, or that runs again before it was
// freed.
#include "../corpus.h"

enum { BYTES = 256 };

static cudaStream_t stream;

static cudaGraphExec_t ready(cudaGraph_t graph, unsigned long long flags = 0)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, flags));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void *allocating(cudaGraph_t *graph, cudaGraphNode_t *node)
{
    cudaMemAllocNodeParams wanted = {};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = BYTES;
    CHECK(cudaGraphCreate(graph, 0));
    CHECK(cudaGraphAddMemAllocNode(node, *graph, NULL, 0, &wanted));
    return wanted.dptr;
}

static void by_two_nodes()
{
    cudaGraph_t graph;
    cudaGraphNode_t allocation, release, again;
    void *data = allocating(&graph, &allocation);
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &allocation, 1, data));
    SHOW(cudaGraphAddMemFreeNode(&again, graph, &release, 1, data)); // expect: invalid-free
    CHECK(cudaGraphDestroy(graph));
}

static void while_captured()
{
    cudaGraph_t graph;
    void *data, *plain;
    CHECK(cudaMallocAsync(&plain, BYTES, stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&data, BYTES, stream));
    CHECK(cudaFreeAsync(data, stream));
    SHOW(cudaFreeAsync(data, stream));  // expect: invalid-free
    SHOW(cudaFreeAsync(plain, stream)); // expect: invalid-free
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec = ready(graph);
    CHECK(cudaGraphLaunch(exec, stream));
    SHOW(cudaFreeAsync(data, stream)); // expect: invalid-free
    CHECK(cudaStreamSynchronize(stream));
    SHOW(cudaFree(data)); // expect: invalid-free
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaFree(plain));
}

static void by_the_program()
{
    cudaGraph_t graph, freeing;
    cudaGraphNode_t allocation, release;
    void *data = allocating(&graph, &allocation);
    CHECK(cudaGraphCreate(&freeing, 0));
    CHECK(cudaGraphAddMemFreeNode(&release, freeing, NULL, 0, data)); // expect: invalid-free
    cudaGraphExec_t exec = ready(graph), frees = ready(freeing);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaFreeAsync(data, stream));
    SHOW(cudaFreeAsync(data, stream)); // expect: invalid-free
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphLaunch(frees, stream));
    CHECK(cudaGraphLaunch(frees, stream)); // the second run of its node
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphLaunch(exec, stream));
    SHOW(cudaGraphLaunch(exec, stream)); // expect: bad-call
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(data));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(frees));
}

static void freed_by_its_next_launch()
{
    cudaGraph_t graph;
    cudaGraphNode_t allocation;
    void *data = allocating(&graph, &allocation);
    cudaGraphExec_t exec = ready(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
}

int main()
{
    CHECK(cudaStreamCreate(&stream));
    by_two_nodes();
    while_captured();
    by_the_program();
    freed_by_its_next_launch();
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
