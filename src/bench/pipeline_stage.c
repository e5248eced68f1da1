// One stage of one batch on a stream, and the device memory it uses.

#include "bench/pipeline_parts.h"

heddle_polynomial_shape heddle_pipeline_shape(const heddle_pipeline *pipeline, int work)
{
    // Every round goes the same part of the way to 1, and all of them together less than two thirds of it: what comes
    // out tells what went in, however many rounds. 1 - factor is exact.
    float factor = 1 - 1 / (float)(work + 1);
    return (heddle_polynomial_shape){
        .n = (int)(pipeline->options.bytes / sizeof(float)), .rounds = work, .factor = factor, .addend = 1 - factor};
}

heddle_status heddle_pipeline_queue(const heddle_pipeline *pipeline, heddle_pipeline_stage stage, heddle_stream *stream,
                                    const heddle_pipeline_host *host, int batch, int slot, int work)
{
    const struct heddle_pipeline_parts *parts = pipeline->parts;
    const size_t bytes = pipeline->options.bytes, first = (size_t)batch * (bytes / sizeof(float));
    if (stage == HEDDLE_PIPELINE_COPY_IN)
        return heddle_copy(stream, parts->input[slot], host->input + first, bytes);
    if (stage == HEDDLE_PIPELINE_COPY_OUT)
        return heddle_copy(stream, host->output + first, parts->output[slot], bytes);
    heddle_polynomial_shape shape = heddle_pipeline_shape(pipeline, work);
    heddle_call call = {.shape = &shape, .stream = stream};
    call.input[0] = parts->input[slot];
    call.output[0] = parts->output[slot];
    return heddle_launch(parts->op, parts->rung, &call);
}

heddle_status heddle_pipeline_slots(heddle_pipeline *pipeline, int streams)
{
    struct heddle_pipeline_parts *parts = pipeline->parts;
    for (int slot = 0; slot < streams; slot++) {
        if (!parts->input[slot])
            HEDDLE_TRY(heddle_alloc(pipeline->device, pipeline->options.bytes, (void **)&parts->input[slot]));
        if (!parts->output[slot])
            HEDDLE_TRY(heddle_alloc(pipeline->device, pipeline->options.bytes, (void **)&parts->output[slot]));
    }
    return HEDDLE_OK;
}
