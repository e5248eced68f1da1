// Runs what step queues `times` times. `step` launches a few kernels in the stream that it is given.
//
// During the capture nothing runs: the graph is only a recording. Instantiating makes something of it that can be
// launched; launches in one stream run one after the other.

void repeat(void (*step)(cudaStream_t stream), cudaStream_t stream, int times)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    step(stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < times; i++)
        cudaGraphLaunch(executable, stream);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}
