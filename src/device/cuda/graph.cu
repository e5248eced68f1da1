// Graphs: work recorded from streams, and run again as one.

#include <stdlib.h>

#include "device/cuda/cuda.h"

heddle_status heddle_cuda_capture_begin(heddle_stream *stream)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    HEDDLE_CUDA_TRY(cudaStreamBeginCapture(heddle_cuda_raw(stream), cudaStreamCaptureModeThreadLocal));
    ((heddle_cuda_stream *)stream)->capturing = true;
    return HEDDLE_OK;
}

static heddle_status instantiate(heddle_device *device, cudaGraph_t recorded, heddle_graph **graph)
{
    heddle_cuda_graph *made = (heddle_cuda_graph *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a graph");
    heddle_status status = HEDDLE_CUDA_CHECK(cudaGraphInstantiate(&made->executable, recorded, 0));
    if (status != HEDDLE_OK) {
        free(made);
        return status;
    }
    made->base.device = device;
    *graph = &made->base;
    return HEDDLE_OK;
}

heddle_status heddle_cuda_capture_end(heddle_stream *stream, heddle_graph **graph)
{
    HEDDLE_TRY(heddle_cuda_select(stream->device));
    if (!((heddle_cuda_stream *)stream)->capturing)
        return heddle_cuda_fail(HEDDLE_INVALID, "the stream is not recording a graph: begin a capture first");
    ((heddle_cuda_stream *)stream)->capturing = false;
    cudaGraph_t recorded = NULL;
    cudaError_t error = cudaStreamEndCapture(heddle_cuda_raw(stream), &recorded);
    if (error != cudaSuccess || !recorded) {
        cudaGetLastError();
        return heddle_cuda_fail(HEDDLE_INVALID, "the capture was lost: %s", cudaGetErrorString(error));
    }
    heddle_status status = instantiate(stream->device, recorded, graph);
    cudaGraphDestroy(recorded);
    return status;
}

heddle_status heddle_cuda_graph_launch(heddle_graph *graph, heddle_stream *stream)
{
    HEDDLE_TRY(heddle_cuda_select(graph->device));
    HEDDLE_CUDA_TRY(cudaGraphLaunch(((heddle_cuda_graph *)graph)->executable, heddle_cuda_raw(stream)));
    return HEDDLE_OK;
}

heddle_status heddle_cuda_graph_destroy(heddle_graph *graph)
{
    HEDDLE_TRY(heddle_cuda_select(graph->device));
    heddle_status status = HEDDLE_CUDA_CHECK(cudaGraphExecDestroy(((heddle_cuda_graph *)graph)->executable));
    free(graph);
    return status;
}
