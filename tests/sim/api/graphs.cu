// Graphs: captured from streams or built node by node, changed, cloned, launched again and again.
#include "check.h"

static int *device;
static int host[COUNT];
static cudaStream_t first, second;
static cudaEvent_t fork_event, join_event;

static int after_launches(cudaGraphExec_t exec, int launches)
{
    for (int i = 0; i < launches; i++)
        WORKS(cudaGraphLaunch(exec, first));
    WORKS(cudaStreamSynchronize(first));
    WORKS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, host[0]));
    return host[0];
}

static cudaGraph_t captured(int value)
{
    cudaGraph_t graph;
    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    set_all<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT, value);
    WORKS(cudaEventRecord(fork_event, first));
    WORKS(cudaStreamWaitEvent(second, fork_event, 0));
    add_one<<<BLOCKS, BLOCK, 0, second>>>(device, COUNT);
    WORKS(cudaEventRecord(join_event, second));
    WORKS(cudaStreamWaitEvent(first, join_event, 0));
    add_one<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT);
    WORKS(cudaStreamEndCapture(first, &graph));
    return graph;
}

static void streams_are_captured_with_their_forks()
{
    WORKS(cudaMemset(device, 0, sizeof host));
    WORKS(cudaDeviceSynchronize());
    cudaGraph_t graph = captured(5);
    cudaStreamCaptureStatus status;
    WORKS(cudaStreamIsCapturing(second, &status));
    HOLDS(status == cudaStreamCaptureStatusNone);
    WORKS(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, 0)); // nothing ran while it was captured
    size_t nodes = 0, roots = 0;
    WORKS(cudaGraphGetNodes(graph, NULL, &nodes));
    WORKS(cudaGraphGetRootNodes(graph, NULL, &roots));
    HOLDS(nodes == 3 && roots == 1);
    cudaGraphExec_t exec;
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphDestroy(graph));
    HOLDS(after_launches(exec, 3) == 7);
    WORKS(cudaGraphExecDestroy(exec));
}

static void updates_change_values_but_not_shapes()
{
    cudaGraph_t one = captured(1), two = captured(20), other;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    WORKS(cudaGraphInstantiate(&exec, one, 0));
    HOLDS(after_launches(exec, 1) == 3);
    WORKS(cudaGraphExecUpdate(exec, two, &info));
    HOLDS(info.result == cudaGraphExecUpdateSuccess && after_launches(exec, 1) == 22);
    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    add_one<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT);
    WORKS(cudaStreamEndCapture(first, &other));
    GIVES(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    HOLDS(info.result == cudaGraphExecUpdateErrorTopologyChanged && after_launches(exec, 1) == 22);
    WORKS(cudaGraphDestroy(other));
    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
    set_all<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT, 1);
    WORKS(cudaMemsetAsync(device, 0, sizeof host, first));
    add_one<<<BLOCKS, BLOCK, 0, first>>>(device, COUNT);
    WORKS(cudaStreamEndCapture(first, &other));
    GIVES(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, other, &info));
    cudaGraphNodeType changed;
    WORKS(cudaGraphNodeGetType(info.errorNode, &changed));
    HOLDS(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && changed == cudaGraphNodeTypeMemset);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(one));
    WORKS(cudaGraphDestroy(two));
    WORKS(cudaGraphDestroy(other));
    (void)cudaGetLastError();
}

static void captures_that_go_wrong()
{
    cudaGraph_t graph = NULL;
    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add_one<<<1, 1, 0, first>>>(device, 1);
    WORKS(cudaEventRecord(fork_event, first));
    WORKS(cudaStreamWaitEvent(second, fork_event, 0));
    add_one<<<1, 1, 0, second>>>(device, 1);
    GIVES(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
    HOLDS(graph == NULL);

    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(first));
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));

    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add_one<<<1, 1>>>(device, 1);
    HOLDS(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));

    cudaStream_t third;
    WORKS(cudaStreamCreate(&third));
    WORKS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    add_one<<<1, 1, 0, first>>>(device, 1);
    WORKS(cudaEventRecord(fork_event, first));
    WORKS(cudaStreamWaitEvent(third, fork_event, 0));
    add_one<<<1, 1, 0, third>>>(device, 1);
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamDestroy(third)); // it has not joined
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
    WORKS(cudaStreamBeginCapture(third, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamDestroy(third)); // the capture is its own
    GIVES(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(third, &graph));
    WORKS(cudaStreamDestroy(third));

    GIVES(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    GIVES(cudaErrorIllegalState, cudaStreamEndCapture(first, &graph));
    WORKS(cudaDeviceSynchronize());
    (void)cudaGetLastError();
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void graphs_can_be_built_by_hand()
{
    cudaGraph_t graph, child, clone;
    cudaGraphNode_t fill, kernel, nested, call, empty, copy, found, list[8];
    cudaGraphExec_t exec;
    int count = COUNT, calls = 0;
    WORKS(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill_parameters = {};
    fill_parameters.dst = device;
    fill_parameters.value = 40;
    fill_parameters.elementSize = sizeof(int);
    fill_parameters.width = COUNT;
    fill_parameters.height = 1;
    WORKS(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &fill_parameters));
    void *arguments[] = {&device, &count};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)add_one;
    parameters.gridDim = dim3(BLOCKS);
    parameters.blockDim = dim3(BLOCK);
    parameters.kernelParams = arguments;
    WORKS(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &parameters));
    WORKS(cudaGraphCreate(&child, 0));
    WORKS(cudaGraphAddKernelNode(&nested, child, NULL, 0, &parameters));
    WORKS(cudaGraphAddChildGraphNode(&nested, graph, &kernel, 1, child));
    WORKS(cudaGraphDestroy(child));
    cudaHostNodeParams host_parameters = {count_call, &calls};
    WORKS(cudaGraphAddHostNode(&call, graph, &kernel, 1, &host_parameters));
    cudaGraphNode_t both[] = {nested, call};
    WORKS(cudaGraphAddEmptyNode(&empty, graph, both, 2));
    WORKS(cudaGraphAddMemcpyNode1D(&copy, graph, &empty, 1, host, device, sizeof host, cudaMemcpyDeviceToHost));

    size_t nodes = 8;
    cudaGraphNodeType type;
    WORKS(cudaGraphGetNodes(graph, list, &nodes));
    HOLDS(nodes == 6 && list[0] == fill && list[5] == copy && list[6] == NULL && list[7] == NULL);
    nodes = 2;
    list[2] = NULL;
    WORKS(cudaGraphGetNodes(graph, list, &nodes));
    HOLDS(nodes == 2 && list[1] == kernel && list[2] == NULL);
    WORKS(cudaGraphNodeGetType(nested, &type));
    HOLDS(type == cudaGraphNodeTypeGraph);
    WORKS(cudaGraphClone(&clone, graph));
    WORKS(cudaGraphNodeFindInClone(&found, kernel, clone));
    HOLDS(found != kernel);

    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphLaunch(exec, 0));
    WORKS(cudaDeviceSynchronize());
    HOLDS(all_are(host, 42) && calls == 1);

    int half = COUNT / 2;
    void *fewer[] = {&device, &half};
    parameters.kernelParams = fewer;
    WORKS(cudaGraphExecKernelNodeSetParams(exec, kernel, &parameters));
    fill_parameters.value = 10;
    WORKS(cudaGraphExecMemsetNodeSetParams(exec, fill, &fill_parameters));
    WORKS(cudaGraphLaunch(exec, 0));
    WORKS(cudaDeviceSynchronize());
    HOLDS(host[0] == 12 && host[COUNT - 1] == 11 && calls == 2);
    GIVES(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, call, 0));
    WORKS(cudaGraphNodeSetEnabled(exec, kernel, 0));
    WORKS(cudaGraphLaunch(exec, 0));
    WORKS(cudaDeviceSynchronize());
    HOLDS(all_are(host, 11) && calls == 3);
    WORKS(cudaGraphExecDestroy(exec));

    WORKS(cudaGraphInstantiate(&exec, clone, 0));
    WORKS(cudaGraphLaunch(exec, first));
    WORKS(cudaStreamSynchronize(first));
    HOLDS(all_are(host, 42) && calls == 4);
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(clone));
    WORKS(cudaGraphDestroy(graph));
    GIVES(cudaErrorInvalidValue, cudaGraphDestroy(graph));
    (void)cudaGetLastError();
}

static void events_and_memory_in_graphs()
{
    cudaGraph_t graph;
    cudaGraphNode_t allocate, kernel, record, release;
    cudaGraphExec_t exec;
    int count = COUNT, value = 3;
    WORKS(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = sizeof host;
    WORKS(cudaGraphAddMemAllocNode(&allocate, graph, NULL, 0, &memory));
    HOLDS(memory.dptr != NULL);
    void *arguments[] = {&memory.dptr, &count, &value};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)set_all;
    parameters.gridDim = dim3(BLOCKS);
    parameters.blockDim = dim3(BLOCK);
    parameters.kernelParams = arguments;
    WORKS(cudaGraphAddKernelNode(&kernel, graph, &allocate, 1, &parameters));
    WORKS(cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, join_event));
    WORKS(cudaGraphAddMemFreeNode(&release, graph, &record, 1, memory.dptr));
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        WORKS(cudaGraphLaunch(exec, first));
        WORKS(cudaEventSynchronize(join_event));
    }
    WORKS(cudaStreamSynchronize(first));
    WORKS(cudaGraphExecDestroy(exec));
}

static void circles_are_refused()
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b;
    cudaGraphExec_t exec;
    WORKS(cudaGraphCreate(&graph, 0));
    WORKS(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    WORKS(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    WORKS(cudaGraphAddDependencies(graph, &b, &a, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    GIVES(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &b, &a, NULL, 1)); // it is gone
    size_t count = 0;
    cudaGraphNode_t before, none = NULL;
    GIVES(cudaErrorInvalidValue, cudaGraphRemoveDependencies(graph, &b, &none, NULL, 1));
    WORKS(cudaGraphNodeGetDependencies(b, NULL, NULL, &count));
    HOLDS(count == 1);
    WORKS(cudaGraphNodeGetDependencies(b, &before, NULL, &count));
    HOLDS(count == 1 && before == a);
    GIVES(cudaErrorInvalidValue, cudaGraphNodeGetDependencies(b, NULL, NULL, NULL));
    WORKS(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphExecDestroy(exec));
    WORKS(cudaGraphDestroy(graph));
    (void)cudaGetLastError();
}

int main()
{
    WORKS(cudaMalloc(&device, sizeof host));
    WORKS(cudaStreamCreate(&first));
    WORKS(cudaStreamCreate(&second));
    WORKS(cudaEventCreate(&fork_event));
    WORKS(cudaEventCreate(&join_event));
    streams_are_captured_with_their_forks();
    updates_change_values_but_not_shapes();
    captures_that_go_wrong();
    graphs_can_be_built_by_hand();
    events_and_memory_in_graphs();
    circles_are_refused();
    WORKS(cudaEventDestroy(fork_event));
    WORKS(cudaEventDestroy(join_event));
    WORKS(cudaStreamDestroy(first));
    WORKS(cudaStreamDestroy(second));
    WORKS(cudaFree(device));
    return 0;
}
