// How predict_one is launched: a network's steps as the kernel needs them, shared out among blocks.
#pragma once

#include "ops/predict_one/work.h"

static inline void predict_set_conv(const heddle_predict_step *step, predict_work *work)
{
    const int per = PREDICT_ROWS / (step->window * step->window), tiles = (work->windows + per - 1) / per;
    const int all = (step->channels + 7) / 8;
    work->tiles = PREDICT_MOST_TILES;
    while (work->tiles > 1 && tiles * ((all + work->tiles - 1) / work->tiles) < PREDICT_ENOUGH_UNITS)
        work->tiles /= 2;
    work->groups = (short)((all + work->tiles - 1) / work->tiles);
    work->units = tiles * work->groups;
    // The largest round that its chunks are a multiple of, and that leaves registers for the rest.
    const int first = work->tiles == 1 ? PREDICT_1_BY_1 : work->tiles == 2 ? PREDICT_2_BY_1 : PREDICT_4_BY_1;
    work->way = first + (work->rounds % 9 == 0 && work->tiles < PREDICT_MOST_TILES ? 3
                         : work->rounds % 5 == 0                                   ? 2
                         : work->rounds % 3 == 0                                   ? 1
                                                                                   : 0);
}

// What a linear layer reads: pixels to take the mean of, or parts to add up, with that step's bias and function.
static inline void predict_set_linear(const heddle_predict_step *steps, const heddle_predict_step *step,
                                      predict_work *work)
{
    const heddle_predict_step *from = step->from < 0 ? NULL : &steps[step->from];
    work->tiles = 1;
    work->groups = (short)((step->channels + 7) / 8);
    work->units = work->groups * step->parts;
    work->way = PREDICT_LINEAR;
    work->per = (work->chunks + step->parts - 1) / step->parts;
    work->read_parts = step->kind == HEDDLE_PREDICT_MEANS ? (step->h + 2 * step->edge) * (step->w + 2 * step->edge)
                       : from                             ? from->parts
                                                          : 1;
    work->read_bias = from && from->kind != HEDDLE_PREDICT_CONV ? from->bias : -1;
    work->read_function = (short)(work->read_bias >= 0 ? from->function : 0);
}

// Where the first pixel of what step `index` leaves is, behind the zeros around it; -1: the image's.
static inline int predict_first_pixel(const heddle_predict_step *steps, int index, int border)
{
    const int wide = index < 0 ? steps[0].w : steps[index].next_w,
              channels = index < 0 ? steps[0].c : steps[index].channels;
    return (index < 0 ? 0 : steps[index].left) + border * (wide + 2 * border + 1) * heddle_predict_padded(channels);
}

static inline predict_work predict_work_of(const heddle_predict_step *steps, int index)
{
    const heddle_predict_step *step = &steps[index];
    const bool is_conv = step->kind == HEDDLE_PREDICT_CONV;
    const int padded = heddle_predict_padded(step->c), wide = step->w + 2 * step->edge;
    predict_work work = {};
    work.kind = (short)step->kind;
    work.in = predict_first_pixel(steps, step->from, step->edge);
    if (is_conv)
        work.in -= step->padding * (wide + 1) * padded;
    else
        work.in = step->from < 0 ? 0 : steps[step->from].left;
    work.vectors = (short)(padded / 4), work.wide = (short)wide;
    work.chunks = step->columns / HEDDLE_PREDICT_CHUNK, work.rounds = work.chunks / HEDDLE_PREDICT_WARPS;
    work.valid = heddle_predict_read(step);
    work.taps = step->taps;
    work.probe = step->r / 2 * step->dilation * (wide + 1) * work.vectors;
    work.r = (short)step->r, work.stride = (short)step->stride, work.dilation = (short)step->dilation;
    work.windows = step->kind == HEDDLE_PREDICT_MEANS ? step->h * step->w : step->next_h * step->next_w;
    work.next_w = (short)step->next_w;
    work.window = (short)step->window, work.average = (short)step->average, work.function = (short)step->function;
    work.channels = (short)step->channels, work.padded = (short)heddle_predict_padded(step->channels);
    work.weight = step->weight, work.bias = step->bias;
    work.left = predict_first_pixel(steps, index, step->border);
    work.left_wide = (short)(step->next_w + 2 * step->border);
    work.around = -1;
    if (step->around >= 0) {
        const heddle_predict_step *around = &steps[step->around];
        work.around = predict_first_pixel(steps, step->around, around->border);
        work.around_wide = (short)(around->next_w + 2 * around->border);
    }
    if (is_conv)
        predict_set_conv(step, &work);
    else
        predict_set_linear(steps, step, &work);
    work.per_window = 1.0f / work.window, work.per_inside = 1.0f / (work.window * work.window);
    work.per_next_w = 1.0f / work.next_w, work.per_groups = 1.0f / work.groups;
    work.per_vectors = 1.0f / work.vectors, work.per_r = 1.0f / (step->r > 0 ? step->r : 1);
    return work;
}

// Lists each table once.
static inline void predict_list_tables(const heddle_predict_step *steps, predict_job *job)
{
    for (int i = 0; i < job->steps; i++) {
        bool known = steps[i].kind != HEDDLE_PREDICT_CONV;
        for (int table = 0; table < job->tables && !known; table++)
            known = steps[job->table_of[table]].taps == steps[i].taps;
        if (!known)
            job->table_of[job->tables++] = (short)i;
    }
}

// The steps' work. Units of a phase are spread over at most `most` blocks. Returns how many have some.
static inline int predict_share(const heddle_predict_step *steps, int most, predict_job *job)
{
    int blocks = 1, before = 0;
    for (int i = 0; i < job->steps; i++) {
        predict_work *work = &job->work[i];
        *work = predict_work_of(steps, i);
        if (i == job->steps - 1)
            work->units = 1, work->way = PREDICT_LAST;
        if (i > 0 && steps[i].phase != steps[i - 1].phase)
            before = 0;
        work->first = before;
        before += work->units;
        const int busy = before < most ? before : most;
        blocks = busy > blocks ? busy : blocks;
    }
    for (int i = 0; i < job->steps; i++)
        job->work[i].first %= blocks;
    return blocks;
}

static inline heddle_status predict_launch(void (*kernel)(predict_job), const char *rung, const heddle_call *call)
{
    const heddle_predict_one_shape *shape = (const heddle_predict_one_shape *)call->shape;
    const heddle_predict_step *steps = (const heddle_predict_step *)call->input[0];
    predict_job job = {};
    job.image = (const uint8_t *)call->input[1];
    job.weights = (const float *)call->input[2];
    job.probabilities = (float *)call->output[0];
    job.state = (int *)call->output[1];
    job.bank = shape->activations;
    job.steps = shape->steps, job.classes = shape->classes;
    const bool by_pixels = steps[0].kind == HEDDLE_PREDICT_CONV;
    job.image_c = by_pixels ? shape->c : 0;
    job.image_pixels = shape->h * shape->w * (by_pixels ? 1 : shape->c);
    job.image_w = shape->w, job.image_wide = shape->w + 2 * steps[0].edge;
    job.per_image_w = 1.0f / (float)shape->w;
    job.image_in = by_pixels ? predict_first_pixel(steps, -1, steps[0].edge) : 0;
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    // Weights and state are read as vectors. Where they are not aligned, copies are.
    const size_t state_bytes = heddle_predict_state(shape) * sizeof(int);
    const bool copies_state = !heddle_aligned16(job.state);
    if (copies_state) {
        job.state = (int *)call->workspace;
        cudaMemcpyAsync(job.state, call->output[1], state_bytes, cudaMemcpyDeviceToDevice, stream);
    }
    if (!heddle_aligned16(job.weights)) {
        float *copy = (float *)call->workspace + heddle_predict_state(shape);
        cudaMemcpyAsync(copy, job.weights, shape->weights * sizeof(float), cudaMemcpyDeviceToDevice, stream);
        job.weights = copy;
    }
    predict_list_tables(steps, &job);
    const int most = heddle_cuda_multiprocessors();
    const int blocks = predict_share(steps, most < HEDDLE_PREDICT_TURNS ? most : HEDDLE_PREDICT_TURNS, &job);
    cudaLaunchAttribute together;
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(PREDICT_THREADS);
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, job);
    if (copies_state)
        cudaMemcpyAsync(call->output[1], job.state, state_bytes, cudaMemcpyDeviceToDevice, stream);
    return heddle_cuda_launched(rung);
}
