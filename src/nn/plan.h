// A plan: a model compiled for one device, batch size and purpose. Every operator call of a step with its rung and
// buffers, laid out once; running it allocates nothing.
#ifndef HEDDLE_NN_PLAN_H
#define HEDDLE_NN_PLAN_H

#include "nn/lower.h"
#include "nn/state.h"

typedef struct heddle_plan_options {
    int batch;
    bool training; // with gradients and the optimiser's update, else inference with running statistics
    heddle_tier kernels;
    heddle_arithmetic arithmetic; // of products; parameters and sums stay float32
    heddle_optimizer optimizer;
} heddle_plan_options;

typedef struct heddle_planned_call {
    const heddle_op *op;
    const heddle_rung *rung;
    heddle_call call;
} heddle_planned_call;

typedef struct heddle_plan {
    heddle_device *device;
    heddle_plan_options options;
    heddle_trace trace;
    heddle_lowering lowering;
    heddle_planned_call *calls;
    int call_count;
    void *arena;                      // all values that live only inside a step
    size_t arena_bytes, values_bytes; // values_bytes: what they would take without reuse
    void *workspace;
    size_t workspace_bytes;
    void *fixed; // what the host reads and writes, below
    heddle_graph *graph;
    // Device memory. In: images (batch, c, h, w) and labels. Out: loss, correct, probabilities (batch, classes).
    float *images;
    int32_t *labels;
    float *loss;
    int32_t *correct;
    float *probabilities;
    int64_t *random; // HEDDLE_RANDOM_WORDS for each dropout layer; the host writes them before a training step
    float *seed;     // gradient of the loss: 1
} heddle_plan;

// `state` must outlive the plan; training needs one made for training with the same optimiser.
heddle_status heddle_plan_create(heddle_state *state, heddle_stream *stream, const heddle_plan_options *options,
                                 heddle_plan **plan);
void heddle_plan_destroy(heddle_plan *plan);

// Queues one step on the stream.
heddle_status heddle_plan_run(heddle_plan *plan, heddle_stream *stream);

#endif
