// A plan: a model compiled for one device, batch size and purpose. Every operator call of a step with its rung and
// buffers, laid out once; running it allocates nothing.
#pragma once

#include "dist/dist.h"
#include "nn/feed.h"
#include "nn/lower.h"
#include "nn/probe.h"
#include "nn/state.h"

// Most steps in a plan's graphs of several: between two graphs a GPU is idle for some microseconds, between two kernels
// of one it is not. With an operator for whole steps the first of a graph has work besides that the others find done,
// and there are few kernels: such a plan has a long graph, too. Else longer graphs would take longer to make than they
// ever save.
enum { HEDDLE_PLAN_STEPS = 8, HEDDLE_PLAN_WHOLE_STEPS = 64 };

// As many steps for the longest graph, at most `most` and HEDDLE_PLAN_WHOLE_STEPS, as leave the fewest of `steps` over.
int heddle_plan_steps_for(int steps, int most);

typedef struct heddle_plan_graph {
    heddle_graph *graph;
    int steps; // 0: there is none
} heddle_plan_graph;

typedef struct heddle_plan_options {
    int batch;
    bool training; // with gradients and the optimiser's update, else inference with running statistics
    heddle_tier kernels;
    heddle_arithmetic arithmetic; // of products; parameters and sums stay float32
    bool deterministic;           // no rung that adds in any order
    heddle_optimizer optimizer;
    const heddle_feed *feed; // batches come from here, one a step, and the tally goes there; NULL: the host brings them
    const struct heddle_ranges *ranges; // for int8: what to scale by; NULL: as for calibrating, in 16 bits
    bool predicts;                      // of the feed's first images, without a loss; its cursor stays where it is
    float *probabilities;               // where they go; NULL: memory of the plan's own
    int several;                        // have graphs of so many steps, or fewer, too; needs a feed. 0 or 1: not
    heddle_dist *dist;                  // gradients are added up over these ranks before the update; NULL: alone
    size_t bucket;                      // so many bytes of them at a time; 0: all at once
    bool keep_gradients; // in the state, for who reads them; else an operator may use them up where it makes them
    double share;        // with ranks: the part that this one's samples are of the whole batch
    heddle_probe *probe; // watches its calls; NULL: nobody does
} heddle_plan_options;

// A stretch of the gradients' bank that ranks add up in one exchange.
typedef struct heddle_bucket {
    size_t first, floats;
    int after; // the call that writes the last of them
} heddle_bucket;

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
    int update_call;            // the one that updates the parameters; training only
    bool whole_steps;           // the only call is cnn_train's, which takes several steps at a time
    int prepared;               // leading calls that heddle_plan_prepare runs; a step leaves them out
    int once;                   // leading calls that several steps need only before the first; their graphs have none
    struct heddle_rows *rows;   // of a plan over rows of bf16; else NULL, or without groups
    bool by_rows;               // an evaluation over rows
    struct heddle_alone *alone; // of a single image's prediction by one kernel; else NULL, or without memory
    // With ranks: what they exchange, on a stream beside the calls'; `exchanges` is NULL where it is their own.
    heddle_bucket *buckets;
    int bucket_count;
    float *gradients;
    heddle_stream *exchanges;
    heddle_event *ready, *summed;
    // For nodes that run aside; NULL where there are none.
    heddle_stream *side;
    heddle_event *forked, *joined;
    int join_call;                    // the first that waits for them
    void *arena;                      // all values that live only inside a step
    size_t arena_bytes, values_bytes; // values_bytes: what they would take without reuse
    void *workspace;
    size_t workspace_bytes;
    void *fixed; // what is read and written from outside, below
    size_t fixed_bytes;
    heddle_graph *graph;
    heddle_plan_graph several[2]; // the longest first
    // Device memory. In: images (batch, c, h, w) and labels. Out: loss, correct, probabilities (batch, classes). Where
    // one operator is the whole step, only loss and correct are used.
    float *images;
    int32_t *labels;
    float *loss;
    int32_t *correct;
    float *probabilities;
    int64_t *random; // HEDDLE_RANDOM_WORDS for each dropout layer; written before a training step
    float *seed;     // gradient of the loss: 1
} heddle_plan;

// `state` and the feed must outlive the plan; training needs a state made for training with the same optimiser.
heddle_status heddle_plan_create(heddle_state *state, heddle_stream *stream, const heddle_plan_options *options,
                                 heddle_plan **plan);
void heddle_plan_destroy(heddle_plan *plan);

// What its products are computed in: the coarsest of its calls. Finer than what was asked for where the device or the
// tier has no such kernels.
heddle_arithmetic heddle_plan_arithmetic(const heddle_plan *plan);

// Queues what has to be done before the first step, and once more where parameters have changed.
heddle_status heddle_plan_prepare(heddle_plan *plan, heddle_stream *stream);
// Queues one step on the stream.
heddle_status heddle_plan_run(heddle_plan *plan, heddle_stream *stream);
// Queues `steps` of them, in as few launches as there are graphs for.
heddle_status heddle_plan_run_steps(heddle_plan *plan, heddle_stream *stream, int steps);

// --- plan_place.c ---------------------------------------------------------------------------------------------------

// How many processes share a batch.
int heddle_plan_ranks(const heddle_plan *plan);
// Adds a value in memory that is already there to the trace.
heddle_status heddle_plan_value(heddle_plan *plan, const char *name, heddle_dtype dtype, int rank, const int *dims,
                                void *memory, heddle_value *value);

// An operand of an operator, and the memory it is in.
typedef struct heddle_placed {
    const char *operand;
    void *memory;
} heddle_placed;

// Adds values with these places to the trace, each as the operator's table has it, and binds the operands to them.
heddle_status heddle_plan_place(heddle_plan *plan, const heddle_op *op, const void *shape, const heddle_placed *placed,
                                int count, heddle_binding *bound);

// --- plan_trace.c ---------------------------------------------------------------------------------------------------

// The operators of a step. `parameters` gets a value for each parameter spec of the model.
heddle_status heddle_plan_trace(heddle_plan *plan, heddle_state *state, heddle_stream *stream,
                                heddle_value *parameters);

// --- plan_reduce.c: gradients over ranks ----------------------------------------------------------------------------

// Cuts the gradients into buckets, those that the backward pass gives first in front.
heddle_status heddle_plan_cut(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters);
// Queues what is due before call `call`, and behind it.
heddle_status heddle_plan_reduce_before(heddle_plan *plan, heddle_stream *stream, int call);
heddle_status heddle_plan_reduce_behind(heddle_plan *plan, heddle_stream *stream, int call);
void heddle_plan_reduce_destroy(heddle_plan *plan);

// --- spread.c: batch statistics over ranks on a GPU -----------------------------------------------------------------

heddle_status heddle_plan_spread(heddle_plan *plan);
// The operand of `op` that ranks add up before what follows it may run; NULL: there is none.
const char *heddle_plan_summed_operand(const heddle_op *op);

// --- fuse.c ---------------------------------------------------------------------------------------------------------

// Where the model is the course's network and a rung of cnn_train can do it with this device and arithmetic: appends
// that one operator for whole steps, and sets *fused.
heddle_status heddle_plan_fuse_steps(heddle_plan *plan, const heddle_state *state, bool *fused);
// Where the model is the course's network and a rung of cnn_step can do it with this device and arithmetic: appends
// that one operator for loss and gradients, batch included, and sets *fused.
heddle_status heddle_plan_fuse(heddle_plan *plan, const heddle_state *state, const heddle_value *parameters,
                               bool *fused);
