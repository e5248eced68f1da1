// Copies in, products and copies out on three streams: what rungs 2 and 3 of matmul_host share (02_streams.cu explains
// how it works).
#pragma once

#include <stdlib.h>

#include "device/cuda/cuda.h"
#include "ops/cuda/handles.h"
#include "ops/matmul_host/tiles.h"

enum { SETS = 2 };

// What a thread keeps per GPU, beside the call's own stream. Events: a set's panels are in, and read; a set's tile is
// complete, and out.
typedef struct copy_streams {
    cudaStream_t in, out;
    cudaEvent_t start, full[SETS], read[SETS], complete[SETS], stored[SETS];
} copy_streams;

static heddle_status make_event(cudaEvent_t *event)
{
    return HEDDLE_CUDA_CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
}

static heddle_status make_parts(copy_streams *made)
{
    HEDDLE_CUDA_TRY(cudaStreamCreateWithFlags(&made->in, cudaStreamNonBlocking));
    HEDDLE_CUDA_TRY(cudaStreamCreateWithFlags(&made->out, cudaStreamNonBlocking));
    HEDDLE_TRY(make_event(&made->start));
    for (int set = 0; set < SETS; set++) {
        HEDDLE_TRY(make_event(&made->full[set]));
        HEDDLE_TRY(make_event(&made->read[set]));
        HEDDLE_TRY(make_event(&made->complete[set]));
        HEDDLE_TRY(make_event(&made->stored[set]));
    }
    return HEDDLE_OK;
}

// They stay until the program ends, like a library's handles.
static heddle_status make(void **handle)
{
    copy_streams *made = (copy_streams *)calloc(1, sizeof *made);
    if (!made)
        return heddle_cuda_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the streams of matmul_host");
    *handle = made;
    return make_parts(made);
}

// `after` continues when everything queued on `before` so far is done.
static heddle_status follow(cudaStream_t after, cudaStream_t before, cudaEvent_t event)
{
    HEDDLE_CUDA_TRY(cudaEventRecord(event, before));
    return HEDDLE_CUDA_CHECK(cudaStreamWaitEvent(after, event, 0));
}

// What is in flight: two sets of buffers, and the number of steps queued.
typedef struct host_run {
    const host_product *product;
    const copy_streams *streams;
    cudaStream_t stream; // the call's stream, for products
    host_buffers buffers[SETS];
    int steps;
} host_run;

// Copies a step's panels in, as soon as the set they go to has been read.
static heddle_status bring(host_run *run, const host_step *step, int set)
{
    const copy_streams *streams = run->streams;
    if (run->steps >= SETS)
        HEDDLE_CUDA_TRY(cudaStreamWaitEvent(streams->in, streams->read[set], 0));
    HEDDLE_TRY(host_load(run->product, step, &run->buffers[set], streams->in));
    return follow(run->stream, streams->in, streams->full[set]);
}

// Copies rows of a finished tile out, after their product.
static heddle_status take_out(host_run *run, const host_step *step, const float *output, int row, int rows)
{
    const copy_streams *streams = run->streams;
    HEDDLE_TRY(follow(streams->out, run->stream, streams->complete[step->tile % SETS]));
    return host_store(run->product, step, output, row, rows, streams->out);
}

// One step: panels in, product, and out if it is the last of its tile.
static heddle_status run_step(host_run *run, const host_step *step, float *output)
{
    int set = run->steps % SETS, at_once = heddle_matmul_host_rows_at_once(&run->product->plan, step);
    HEDDLE_TRY(bring(run, step, set));
    for (int row = 0; row < step->rows; row += at_once) {
        int rows = heddle_matmul_host_part(step->rows, row, at_once);
        HEDDLE_TRY(host_multiply(run->product, step, &run->buffers[set], output, row, rows));
        if (step->last)
            HEDDLE_TRY(take_out(run, step, output, row, rows));
    }
    run->steps++;
    return HEDDLE_CUDA_CHECK(cudaEventRecord(run->streams->read[set], run->stream));
}

static heddle_status run_tile(host_run *run, int tile)
{
    const host_product *product = run->product;
    int set = tile % SETS;
    float *output = run->buffers[set].output;
    if (tile >= SETS)
        HEDDLE_CUDA_TRY(cudaStreamWaitEvent(run->stream, run->streams->stored[set], 0));
    host_step step = heddle_matmul_host_begin(&product->shape, &product->plan, tile);
    for (;; step = heddle_matmul_host_next(&product->shape, &product->plan, step)) {
        HEDDLE_TRY(run_step(run, &step, output));
        if (step.last)
            break;
    }
    return HEDDLE_CUDA_CHECK(cudaEventRecord(run->streams->stored[set], run->streams->out));
}

static heddle_status run_tiles(const host_product *product, const copy_streams *streams, cudaStream_t stream)
{
    host_run run = {};
    run.product = product;
    run.streams = streams;
    run.stream = stream;
    for (int set = 0; set < SETS; set++)
        run.buffers[set] = host_buffers_of(product, set);
    HEDDLE_TRY(follow(streams->in, stream, streams->start)); // inputs and buffers belong to the call from there on
    HEDDLE_TRY(follow(streams->out, stream, streams->start));
    for (int tile = 0; tile < product->plan.tiles_m * product->plan.tiles_n; tile++)
        HEDDLE_TRY(run_tile(&run, tile));
    // The call is done when its last tile is out; every product has waited for `in`.
    return follow(stream, streams->out, streams->start);
}

// The call on three streams, with tiles multiplied by `multiply`.
static heddle_status host_run_streams(const heddle_call *call, host_multiplier *multiply)
{
    void *handle;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    HEDDLE_TRY(heddle_cuda_handle(call, make, &handle));
    const copy_streams *streams = (const copy_streams *)handle;
    host_product product = host_product_of(call, SETS, multiply);
    if (product.plan.tiles_m * product.plan.tiles_n == 0)
        return HEDDLE_OK;
    heddle_status status = run_tiles(&product, streams, stream);
    if (status != HEDDLE_OK) { // nothing is left running that the caller does not know of; the first failure is
                               // reported
        (void)cudaStreamSynchronize(streams->in);
        (void)cudaStreamSynchronize(streams->out);
        (void)cudaGetLastError();
    }
    return status;
}
