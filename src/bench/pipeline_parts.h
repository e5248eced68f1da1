// What the files of the pipeline share: its memory, its events and its operator.
#pragma once

#include "base/threads.h"
#include "bench/pipeline.h"
#include "heddle/ops.h"

// Host memory of all batches: what goes in, and what comes out.
typedef struct heddle_pipeline_host {
    float *input, *output;
} heddle_pipeline_host;

// When a stage of a batch begins and when it is done.
typedef struct heddle_pipeline_events {
    heddle_event *begin[HEDDLE_PIPELINE_STAGES], *done[HEDDLE_PIPELINE_STAGES];
} heddle_pipeline_events;

struct heddle_pipeline_parts {
    const heddle_op *op;
    const heddle_rung *rung;
    heddle_pool *pool; // fills and checks host memory
    heddle_pipeline_host pinned, pageable;
    float *input[HEDDLE_PIPELINE_MOST_STREAMS],
        *output[HEDDLE_PIPELINE_MOST_STREAMS]; // on the device, one slot per stream
    void *word;                                // what default_work clears
    heddle_pipeline_events *events;            // (batches)
};

// --- pipeline_stage.c -----------------------------------------------------------------------------------------------

// The shape of the operator that a batch goes through, with `work` rounds.
heddle_polynomial_shape heddle_pipeline_shape(const heddle_pipeline *pipeline, int work);
// Queues one stage of a batch; `slot` is the device memory it uses.
heddle_status heddle_pipeline_queue(const heddle_pipeline *pipeline, heddle_pipeline_stage stage, heddle_stream *stream,
                                    const heddle_pipeline_host *host, int batch, int slot, int work);
// Device memory of the first `streams` slots.
heddle_status heddle_pipeline_slots(heddle_pipeline *pipeline, int streams);

// --- pipeline_data.c ------------------------------------------------------------------------------------------------

// Gets host memory and puts the batches into it, once.
heddle_status heddle_pipeline_host_make(heddle_pipeline *pipeline, bool pageable);
void heddle_pipeline_host_free(heddle_pipeline *pipeline);
// Makes all outputs NaN, so that no output of an earlier round is taken for this one's.
void heddle_pipeline_poison(const heddle_pipeline *pipeline, const heddle_pipeline_host *host);
heddle_status heddle_pipeline_check(const heddle_pipeline *pipeline, const heddle_pipeline_host *host, int work);

// --- pipeline_alone.c -----------------------------------------------------------------------------------------------

heddle_status heddle_pipeline_measure_alone(heddle_pipeline *pipeline, int work, heddle_pipeline_alone *alone);
// Enough rounds that compute takes a little longer than the copies beside it.
heddle_status heddle_pipeline_balance(heddle_pipeline *pipeline, int *work);
