// Conditional nodes: a choice of two, a loop that its body ends, a switch, a loop within a choice. What a body writes
// is there for what comes after the node, and each launch starts with the default value where that was asked for.
#include "../corpus.h"

__global__ void choose(const int *from, cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, (unsigned)*from);
}

__global__ void add(int *to, int value)
{
    *to += value;
}

__global__ void count_down(int *left, int *sum, cudaGraphConditionalHandle handle)
{
    *sum += *left;
    cudaGraphSetConditional(handle, --*left > 0);
}

static cudaGraph_t *conditional(cudaGraphNode_t *node, cudaGraph_t graph, cudaGraphNode_t after,
                                cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = size;
    CHECK(cudaGraphAddNode(node, graph, after ? &after : NULL, NULL, after ? 1 : 0, &parameters));
    return parameters.conditional.phGraph_out;
}

template <class... Arguments>
static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void *function, Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    cudaGraphNodeParams parameters = {cudaGraphNodeTypeKernel};
    parameters.kernel.func = function;
    parameters.kernel.gridDim = parameters.kernel.blockDim = dim3(1, 1, 1);
    parameters.kernel.kernelParams = pointers;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, after ? &after : NULL, NULL, after ? 1 : 0, &parameters));
    return node;
}

static void run(cudaGraphExec_t exec, int *input, int value, int *output, int expected)
{
    int got;
    CHECK(cudaMemcpy(input, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(output, 0, sizeof *output));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(&got, output, sizeof got, cudaMemcpyDeviceToHost));
    REQUIRE(got == expected);
}

static void choices(int *input, int *output, cudaGraphConditionalNodeType type, unsigned size, const int *expected)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle handle;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph));
    cudaGraphNode_t first = kernel(graph, NULL, (void *)choose, input, handle);
    cudaGraph_t *bodies = conditional(&node, graph, first, handle, type, size);
    for (unsigned i = 0; i < size; i++)
        kernel(bodies[i], NULL, (void *)add, output, 10 << i);
    kernel(graph, node, (void *)add, output, 1);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int value = 0; value < 4; value++)
        run(exec, input, value, output, expected[value]);
    CHECK(cudaGraphExecDestroy(exec));
}

// The outer choice has a loop in its body, whose steps a stream captures.
static void loop_in_a_choice(int *input, int *left, int *output)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle outer, inner;
    cudaGraphNode_t node, loop;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&outer, graph));
    CHECK(cudaGraphConditionalHandleCreate(&inner, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t first = kernel(graph, NULL, (void *)choose, input, outer);
    cudaGraph_t body = conditional(&node, graph, first, outer, cudaGraphCondTypeIf, 1)[0];
    cudaGraph_t repeated = conditional(&loop, body, NULL, inner, cudaGraphCondTypeWhile, 1)[0];
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCaptureToGraph(stream, repeated, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(output, 100);
    count_down<<<1, 1, 0, stream>>>(left, output, inner);
    CHECK(cudaStreamEndCapture(stream, NULL));
    kernel(body, loop, (void *)add, output, 1000);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int launch = 0; launch < 2; launch++) {
        const int rounds = 3;
        CHECK(cudaMemcpy(left, &rounds, sizeof rounds, cudaMemcpyHostToDevice));
        run(exec, input, 1, output, 1000 + 3 * 100 + 3 + 2 + 1);
        run(exec, input, 0, output, 0);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    int *input = device_ramp(1, 0, 1), *output = device_ramp(1, 0, 1), *left = device_ramp(1, 0, 1);
    const int either[] = {21, 11, 11, 11}, one_of_three[] = {11, 21, 41, 1};
    choices(input, output, cudaGraphCondTypeIf, 2, either);
    choices(input, output, cudaGraphCondTypeSwitch, 3, one_of_three);
    loop_in_a_choice(input, left, output);
    for (int *memory : {input, output, left})
        CHECK(cudaFree(memory));
    return 0;
}
