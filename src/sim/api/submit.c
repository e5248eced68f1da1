// Work for a stream: queued, or added to the graph that the stream captures into.
#include "api/submit.h"

#include "api/call.h"
#include "api/capture.h"
#include "api/host_access.h"
#include "api/run.h"

cudaError_t sim_stream_submit(struct CUstream_st *stream, sim_work *work)
{
    if (stream->capture != NULL)
        return sim_capture_add(stream, work);
    if (stream == sim_stream_legacy() && sim_capture_global()) {
        sim_work_release(work);
        sim_capture_invalidate_all();
        return sim_fail(cudaErrorStreamCaptureImplicit,
                        "the legacy default stream waits for all blocking streams, one of which is capturing a graph; "
                        "create that stream with cudaStreamNonBlocking or use another stream here");
    }
    sim_host_access_start();
    sim_run_queued_later();
    return sim_stream_push(stream, work) != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}
