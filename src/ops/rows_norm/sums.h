// rows_norm backward, first part: batchnorm's two sums per channel, over all windows with an output; and how the second
// part gets its factors from them.
//
// A block has a slice of at most 64 channels, which are one cache line of a row, and a share of the rows. Its threads
// keep eight channels each. Every block stores its sums as one part. Every block of the second part adds those of its
// slice, in order: one block that adds all at the end of the first would keep everyone waiting. There is one block per
// multiprocessor, so that parts are few.
#pragma once

#include "ops/cuda/dependent.h"
#include "ops/rows_norm/window.h"

enum {
    SUMS_THREADS = 512,    // of a block, at most
    SUMS_EACH = 2 * ROWS8, // sums per thread
    SUMS_GROUPS = HEDDLE_ROWS_NORM_SLICE / ROWS8,
    SUMS_ROWS = 16,  // that one thread adds together: loads that do not wait for each other
    SUMS_PARTS = 10, // the same for parts
    SUMS_FLOATS = 5, // of them that are added as floats, like the rows of a part: conversions to double are slow
};

// Which of the job's channels a block has, in groups of eight; its threads have `rows` rows at a time.
struct norm_slice {
    int first, groups, rows;
};

__device__ static norm_slice slice_of(const norm_shape &shape)
{
    const int groups = shape.c / ROWS8, each = (groups + (int)gridDim.y - 1) / (int)gridDim.y;
    norm_slice slice;
    slice.first = (int)blockIdx.y * each;
    slice.groups = min(each, groups - slice.first);
    slice.rows = (int)blockDim.x / slice.groups;
    return slice;
}

// What a block's first threads read, one channel each, and what they make of it.
struct norm_channel {
    bool exists;
    float sum, square, gamma, beta;
};

template <typename Element>
__device__ static norm_channel fetch_channel(const norm_shape &shape, const norm_operands<Element> &on,
                                             const norm_slice &slice)
{
    const int c = slice.first * ROWS8 + (int)threadIdx.x;
    norm_channel channel = {};
    channel.exists = (int)threadIdx.x < slice.groups * ROWS8;
    if (channel.exists) {
        channel.sum = on.sums[c], channel.square = on.sums[shape.c + c];
        channel.gamma = on.gamma[c], channel.beta = on.beta[c];
    }
    return channel;
}

// z = x * scale + shift, the mean, and one over the standard deviation.
struct __align__(16) norm_found
{
    float mean, inverse, scale, shift;
};

__device__ static norm_found statistics_of(const norm_shape &shape, const norm_channel &channel)
{
    const float share = 1.0f / ((float)shape.n * shape.h * shape.w);
    norm_found found;
    found.mean = channel.sum * share;
    found.inverse = rsqrtf(fmaxf(channel.square * share - found.mean * found.mean, 0.0f) + shape.epsilon);
    found.scale = channel.gamma * found.inverse;
    found.shift = channel.beta - found.mean * found.scale;
    return found;
}

// Adds the sums of a block's threads, as many rows at a time as there are threads for, and stores them as its part.
__device__ static void store_part(const norm_slice &slice, const float (&sums)[SUMS_EACH], float *part, float *kept)
{
    const int values = SUMS_EACH * slice.groups, teams = (int)blockDim.x / values,
              pitch = (slice.rows + 1) * slice.groups;
    const int value = (int)threadIdx.x % values, team = (int)threadIdx.x / values;
    float *of_teams = kept + SUMS_EACH * pitch, sum = 0;
    if ((int)threadIdx.x < slice.rows * slice.groups) {
#pragma unroll
        for (int i = 0; i < SUMS_EACH; i++)
            kept[i * pitch + (int)threadIdx.x] = sums[i]; // (sum, row, group)
    }
    __syncthreads();
    if (team < teams) {
        const float *from = kept + value / slice.groups * pitch + value % slice.groups;
        for (int first = team; first < slice.rows; first += SUMS_ROWS * teams) {
            float some[SUMS_ROWS];
#pragma unroll
            for (int i = 0; i < SUMS_ROWS; i++)
                some[i] = first + i * teams < slice.rows ? from[(first + i * teams) * slice.groups] : 0.0f;
#pragma unroll
            for (int i = 0; i < SUMS_ROWS; i++)
                sum += some[i];
        }
        of_teams[threadIdx.x] = sum; // (team, value)
    }
    __syncthreads();
    if ((int)threadIdx.x < values) {
        sum = 0;
        for (int i = 0; i < teams; i++)
            sum += of_teams[i * values + (int)threadIdx.x];
        part[threadIdx.x] = sum;
    }
}

static inline size_t sums_shared_bytes(unsigned threads)
{
    return (SUMS_EACH * (threads + SUMS_GROUPS) + threads) * sizeof(float);
}

// The parts of a slice, (block, sum, group): each one has all sums of the slice.
template <typename Element>
__device__ static float *parts_of(const norm_operands<Element> &on, const norm_slice &slice, int blocks)
{
    return on.parts + (size_t)slice.first * SUMS_EACH * blocks;
}

// Adds what a place contributes: its gradient of z, and that times (x - mean).
template <typename Element, int Function>
__device__ static void add_place(const norm_shape &shape, const norm_scale &by, const rows8 &mean, const rows8 &x,
                                 const rows8 &grad, float (&sums)[SUMS_EACH])
{
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        const float through = through_function<Element, Function>(shape, x.v[j] * by.scale[j] + by.shift[j], grad.v[j]);
        sums[j] += through;
        sums[ROWS8 + j] += through * (x.v[j] - mean.v[j]);
    }
}

template <typename Element, bool Aligned, int Function, int Window>
__device__ static void add_window(const norm_job &job, const norm_operands<Element> &on,
                                  const norm_window<Element, Aligned, Window> &window, const norm_scale &by_batch,
                                  const rows8 &mean, float (&sums)[SUMS_EACH])
{
    const norm_shape &shape = job.shape;
    const int w = window_of<Window>(shape), places = window.places(shape);
    const norm_scale by = window.scale(on, by_batch);
    const rows8 grad = window.gradient(job, on);
    if (window.PIXEL || shape.average) {
#pragma unroll
        for (int i = 0; i < places; i++)
            add_place<Element, Function>(shape, by, mean, window.input(i, w), grad, sums);
        return;
    }
    rows8 most = {}, best = {}; // z and x of the largest, the only place with a gradient
#pragma unroll
    for (int i = 0; i < places; i++) {
        const rows8 x = window.input(i, w);
#pragma unroll
        for (int j = 0; j < ROWS8; j++) {
            const float z = x.v[j] * by.scale[j] + by.shift[j];
            if (i == 0 || z > most.v[j])
                most.v[j] = z, best.v[j] = x.v[j];
        }
    }
    add_place<Element, Function>(shape, by, mean, best, grad, sums);
}

// The statistics of one thread's channels, by all threads of a block: each channel's are computed once.
template <typename Element>
__device__ static norm_scale share_statistics(const norm_shape &shape, const norm_operands<Element> &on,
                                              const norm_slice &slice, rows8 &mean)
{
    __shared__ norm_found all[HEDDLE_ROWS_NORM_SLICE];
    const norm_channel channel = fetch_channel(shape, on, slice);
    if (channel.exists)
        all[threadIdx.x] = statistics_of(shape, channel);
    __syncthreads();
    norm_scale by;
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        const norm_found &found = all[(int)threadIdx.x % slice.groups * ROWS8 + j];
        by.scale[j] = found.scale, by.shift[j] = found.shift, mean.v[j] = found.mean;
    }
    return by;
}

// From the last item to the first: what the kernel before wrote last is still in the L2 cache, and so is what this one
// reads last when the gradient begins.
template <typename Element, bool Aligned, int Window>
__device__ static void fetch_window(const norm_job &job, const norm_operands<Element> &on, unsigned number, int c,
                                    norm_window<Element, Aligned, Window> &window)
{
    if (number < job.items) {
        const norm_item item = item_of(job, job.items - 1 - number, c);
        window.fetch_input(job.shape, on, item);
        window.fetch_gradient(job, on, item);
    } else {
        window.fetch_nothing();
    }
}

// Items (image, down, across); blocks (share of the items, slice of the channels).
template <typename Element, bool Aligned, int Function, int Window>
__global__ void __launch_bounds__(SUMS_THREADS, 1) rows_norm_sums(const norm_job job, const norm_operands<Element> on)
{
    enum { // windows of a thread on their way, as many as there are registers for
        PAIRS = rows_layout<Element>::ELEMENTS == 2,
        FLIGHT = Window == 0             ? 1
                 : Window == 1           ? (PAIRS ? 2 : 4)
                 : Window == NORM_AROUND ? (PAIRS ? 1 : 3)
                 : PAIRS                 ? 1
                                         : 2,
    };
    extern __shared__ float kept[];
    heddle_wait_for_previous();
    heddle_release_next();
    const norm_slice slice = slice_of(job.shape);
    const int row = (int)threadIdx.x / slice.groups, c = (slice.first + (int)threadIdx.x % slice.groups) * ROWS8;
    const unsigned stride = gridDim.x * (unsigned)slice.rows;
    unsigned first = row < slice.rows ? blockIdx.x * (unsigned)slice.rows + (unsigned)row : job.items;
    norm_window<Element, Aligned, Window> windows[FLIGHT];
#pragma unroll
    for (int i = 0; i < FLIGHT; i++)
        fetch_window(job, on, first + i * stride, c, windows[i]);
    rows8 mean;
    const norm_scale by = share_statistics(job.shape, on, slice, mean);
    float sums[SUMS_EACH] = {};
    for (; first < job.items; first += FLIGHT * stride)
#pragma unroll
        for (int i = 0; i < FLIGHT; i++) { // while one is added, the others are on their way
            add_window<Element, Aligned, Function, Window>(job, on, windows[i], by, mean, sums);
            fetch_window(job, on, first + (FLIGHT + i) * stride, c, windows[i]);
        }
    float *parts = parts_of(on, slice, (int)gridDim.x);
    store_part(slice, sums, parts + blockIdx.x * SUMS_EACH * (unsigned)slice.groups, kept);
}

// --- factors of the second part --------------------------------------------------------------------------------------

// Batchnorm's gradient from the gradient of z: scale * grad + x * slope + offset, where x is the input.
struct norm_factors {
    norm_scale by;
    float slope[ROWS8], offset[ROWS8];
};

static inline size_t factors_shared_bytes(unsigned threads)
{
    return threads * 4 * sizeof(double);
}

// Four sums per thread, over every n-th part; n teams of threads. kept: (team, sum, group)
template <typename Element>
__device__ static int add_parts(const norm_job &job, const norm_operands<Element> &on, const norm_slice &slice,
                                double *kept)
{
    const float *parts = parts_of(on, slice, job.parts);
    const int values = SUMS_EACH * slice.groups, fours = values / 4;
    // Few teams, whose sums are added one after another.
    const int teams = min((int)blockDim.x / fours, (job.parts + SUMS_PARTS - 1) / SUMS_PARTS);
    const int four = (int)threadIdx.x % fours, team = (int)threadIdx.x / fours;
    double sums[4] = {};
    for (int first = team; team < teams && first < job.parts; first += SUMS_PARTS * teams) {
        float4 part[SUMS_PARTS] = {};
#pragma unroll
        for (int i = 0; i < SUMS_PARTS; i++)
            if (first + i * teams < job.parts)
                part[i] = ((const float4 *)(parts + (first + i * teams) * values))[four];
#pragma unroll
        for (int i = 0; i < SUMS_PARTS; i += SUMS_FLOATS) {
            float4 some = part[i];
#pragma unroll
            for (int j = 1; j < SUMS_FLOATS; j++)
                some.x += part[i + j].x, some.y += part[i + j].y, some.z += part[i + j].z, some.w += part[i + j].w;
            sums[0] += some.x, sums[1] += some.y, sums[2] += some.z, sums[3] += some.w;
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        kept[threadIdx.x * 4 + i] = sums[i];
    return teams;
}

// The factors of one thread's channels, by all threads of a block: each channel's are computed once.
template <typename Element>
__device__ static norm_factors factors_of(const norm_job &job, const norm_operands<Element> &on,
                                          const norm_slice &slice)
{
    extern __shared__ double kept_sums[];
    __shared__ float scale[HEDDLE_ROWS_NORM_SLICE], shift[HEDDLE_ROWS_NORM_SLICE];
    __shared__ float slope[HEDDLE_ROWS_NORM_SLICE], offset[HEDDLE_ROWS_NORM_SLICE];
    const norm_shape &shape = job.shape;
    const int own = (int)threadIdx.x, c = slice.first * ROWS8 + own, values = SUMS_EACH * slice.groups;
    const norm_channel channel = fetch_channel(shape, on, slice);
    const int teams = add_parts(job, on, slice, kept_sums);
    __syncthreads();
    if (channel.exists) {
        const norm_found found = statistics_of(shape, channel);
        const float share = 1.0f / ((float)shape.n * shape.h * shape.w);
        double grad_beta = 0, grad_gamma = 0;
        for (int team = 0; team < teams; team++) {
            const double *from = kept_sums + team * values + own % ROWS8 * slice.groups + own / ROWS8;
            grad_beta += from[0], grad_gamma += from[ROWS8 * slice.groups];
        }
        grad_gamma *= found.inverse;
        scale[own] = found.scale, shift[own] = found.shift;
        slope[own] = -found.scale * found.inverse * (float)grad_gamma * share;
        offset[own] = -found.scale * (float)grad_beta * share - found.mean * slope[own];
        if (blockIdx.x == 0)
            on.grad_gamma[c] = (float)grad_gamma, on.grad_beta[c] = (float)grad_beta;
    }
    __syncthreads();
    const int group = own % slice.groups * ROWS8;
    norm_factors factors;
#pragma unroll
    for (int j = 0; j < ROWS8; j++) {
        factors.by.scale[j] = scale[group + j], factors.by.shift[j] = shift[group + j];
        factors.slope[j] = slope[group + j], factors.offset[j] = offset[group + j];
    }
    return factors;
}
