// Capture: streams that write down what they are asked to do as a graph instead of queueing it.
#pragma once

#include "api/stream.h"

struct sim_capture {
    struct sim_capture *next; // of those that are open
    unsigned long long id;
    cudaGraph_t graph;
    struct CUstream_st *origin;
    enum cudaStreamCaptureMode mode;
    bool invalid;
    bool owns_graph; // false: captures into a graph of the program's
};

cudaError_t sim_capture_add(struct CUstream_st *stream, sim_work *work);
// Memory allocated by the stream while it captures: the graph's.
cudaError_t sim_capture_allocation(struct CUstream_st *stream, void *memory, size_t bytes);
bool sim_capture_global(void); // some stream captures in a mode that forbids unsafe calls
void sim_capture_invalidate_all(void);
// A wait for, or a query of, a stream that captures is an error and spoils the capture.
cudaError_t sim_capture_refuse(struct CUstream_st *stream);
// The stream is no longer part of its capture. False: the capture began in it, or it has not been joined again.
bool sim_capture_leave(struct CUstream_st *stream);
void sim_capture_record(struct CUstream_st *stream, cudaEvent_t event);
cudaError_t sim_capture_wait(struct CUstream_st *stream, cudaEvent_t event);
