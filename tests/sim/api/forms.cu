// Calls that CUDA 12 and CUDA 13 write differently work in both forms.
#include "check.h"

int main()
{
    int *managed;
    cudaStream_t stream;
    cudaMemLocation card = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};
    WORKS(cudaStreamCreate(&stream));
    WORKS(cudaMallocManaged(&managed, COUNT * sizeof(int)));
    WORKS(cudaMemPrefetchAsync(managed, COUNT * sizeof(int), 0));
    WORKS(cudaMemPrefetchAsync(managed, COUNT * sizeof(int), cudaCpuDeviceId, stream));
    WORKS(cudaMemPrefetchAsync(managed, COUNT * sizeof(int), card, 0, stream));
    WORKS(cudaMemPrefetchAsync(managed, COUNT * sizeof(int), cpu, 0));
    WORKS(cudaMemAdvise(managed, COUNT * sizeof(int), cudaMemAdviseSetReadMostly, 0));
    WORKS(cudaMemAdvise(managed, COUNT * sizeof(int), cudaMemAdviseSetPreferredLocation, card));
    WORKS(cudaMemAdvise(managed, COUNT * sizeof(int), cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    GIVES(cudaErrorInvalidDevice, cudaMemPrefetchAsync(managed, COUNT * sizeof(int), 3));
    (void)cudaGetLastError();

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, nodes[4];
    const cudaGraphNode_t *dependencies;
    cudaStreamCaptureStatus status;
    cudaGraphExecUpdateResult result;
    unsigned long long id;
    size_t count = 4;
    WORKS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    set_all<<<BLOCKS, BLOCK, 0, stream>>>(managed, COUNT, 2);
    add_one<<<BLOCKS, BLOCK, 0, stream>>>(managed, COUNT);
    WORKS(cudaStreamGetCaptureInfo(stream, &status, &id));
    HOLDS(status == cudaStreamCaptureStatusActive);
    WORKS(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &dependencies, &count));
    HOLDS(count == 1);
    WORKS(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, NULL, &count));
    HOLDS(count == 1);
    WORKS(cudaStreamEndCapture(stream, &graph));
    count = 4;
    WORKS(cudaGraphGetEdges(graph, nodes, nodes + 2, &count));
    HOLDS(count == 1);
    WORKS(cudaGraphGetEdges(graph, nodes, nodes + 2, NULL, &count));
    WORKS(cudaGraphInstantiate(&exec, graph, &node, NULL, 0));
    WORKS(cudaGraphExecUpdate(exec, graph, &node, &result));
    HOLDS(result == cudaGraphExecUpdateSuccess);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphInstantiate(&exec, graph));
    WORKS(cudaGraphLaunch(exec, stream));
    WORKS(cudaStreamSynchronize(stream));
    HOLDS(all_are(managed, 3));
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
    WORKS(cudaThreadSynchronize());
    cudaDeviceProp card_properties;
    WORKS(cudaGetDeviceProperties(&card_properties, 0));
    HOLDS(card_properties.clockRate > 0 && card_properties.memoryClockRate > 0 && card_properties.deviceOverlap == 1);
    WORKS(cudaFree(managed));
    WORKS(cudaStreamDestroy(stream));
    return 0;
}
