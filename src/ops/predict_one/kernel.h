// A whole network's prediction of one image in one kernel. Its blocks stay from the image to the probabilities.
//
// One image gives a layer too little work to fill a GPU, and a launch per layer costs more than the layer. So the grid
// has one block per SM, and all layers are computed in turn. A layer is cut into units: 16 pixels by 8, 16 or 32
// channels of a convolution, 8 channels of a linear layer. The eight warps of a block share the columns of a unit, add
// their sums in shared memory, and apply what follows the product.
//
// Blocks do not wait for each other at barriers, but for the numbers that they read: memory for results begins as
// PREDICT_MISSING, a NaN that no result is, and a thread reads an element again until it is something else. No fence is
// needed, since an element is its own flag. There are two banks of results, used in turn: a launch that stores an
// element in one makes it missing in the other, for the next launch. A convolution does not look at each element: it
// multiplies them, and looks again only if the sums are NaN.
//
// What is short of instructions is fast here, since each runs only once per layer. So there are zeros around what a
// convolution reads, and its columns are padded to whole rounds: nothing has to be compared with an edge. Where columns
// lie is a table in shared memory, made while the image is on its way. Weights are loaded before a thread waits.
//
// A linear layer of many columns is cut along these as well. Its parts stay apart: the next layer adds them up when it
// reads them, with bias and function, which saves a wait.
//
// All blocks have to run at the same time, so the launch is cooperative.
//
// Limited by: latency: for each layer, one trip to memory to see that a result is there, and one to read the others.
#pragma once

#include "ops/predict_one/conv.h"
#include "ops/predict_one/launch.h"
#include "ops/predict_one/linear.h"

// --- the image -------------------------------------------------------------------------------------------------------

// The image as the first steps read it. It may be in host memory, which is far: so each byte is read once, and the
// first warps of all blocks read before the second ones. An item is the bytes of a pixel's channels, or, for a linear
// layer, four of the row of all bytes.
struct predict_image {
    int item, items, step;
    uint8_t bytes[4];

    __device__ predict_image(const predict_job &job)
    {
        items = job.image_c ? job.image_pixels : (job.image_pixels + 3) / 4;
        step = PREDICT_THREADS * (int)gridDim.x;
        item = ((int)(threadIdx.x / 32 * gridDim.x) + (int)blockIdx.x) * 32 + (int)threadIdx.x % 32;
        read(job);
    }

    __device__ void read(const predict_job &job)
    {
        const int count = item >= items ? 0 : job.image_c ? job.image_c : min(4, job.image_pixels - item * 4);
        const int first = job.image_c ? item : item * 4, apart = job.image_c ? job.image_pixels : 1;
#pragma unroll
        for (int c = 0; c < 4; c++)
            bytes[c] = c < count ? job.image[first + c * apart] : 0;
    }

    __device__ void leave(const predict_job &job, const predict_scene &scene)
    {
        for (; item < items; item += step, read(job)) {
            const int line = job.image_c ? predict_quotient(item, job.per_image_w) : 0;
            const int at = job.image_in + (line * (job.image_wide - job.image_w) + item) * 4;
#pragma unroll
            for (int c = 0; c < 4; c++)
                predict_leave(scene, at + c, (float)bytes[c] * (1.0f / 255));
        }
    }
};

// --- the kernel ------------------------------------------------------------------------------------------------------

__device__ static void predict_copy_work(const predict_job &job, predict_room &room)
{
    enum { WORDS = sizeof(predict_work) / sizeof(int) };
    for (int i = threadIdx.x; i < job.steps * WORDS; i += PREDICT_THREADS)
        ((int *)room.work)[i] = ((const int *)job.work)[i];
}

__device__ static void predict_make_tables(const predict_job &job, predict_room &room)
{
    for (int table = 0; table < job.tables; table++) {
        const predict_work &work = room.work[job.table_of[table]];
        for (int i = threadIdx.x; i < work.rounds * (PREDICT_THREADS / 8); i += PREDICT_THREADS)
            room.taps[work.taps + i] = predict_tap(work, i);
    }
}

template <typename Math>
__global__ void __launch_bounds__(PREDICT_THREADS, 1) predict_one(const __grid_constant__ predict_job job)
{
    __shared__ predict_room room;
    predict_image image(job);
    if (threadIdx.x == 0) // each block counts its launches; all have had as many
        room.turn = job.state[blockIdx.x];
    predict_copy_work(job, room);
    __syncthreads();
    float *const banks = (float *)(job.state + HEDDLE_PREDICT_TURNS);
    const predict_scene scene = {job.weights, banks + (room.turn ? job.bank : 0), room.turn ? -job.bank : job.bank};
    predict_make_tables(job, room);
    image.leave(job, scene);
    __syncthreads();
    if (threadIdx.x == 0)
        job.state[blockIdx.x] = 1 - room.turn;
    for (int s = 0; s < job.steps; s++) {
        const predict_work &work = room.work[s];
        const int4 share = *(const int4 *)&work; // units, first, way
        int unit = (int)blockIdx.x - share.y;
        for (unit += unit < 0 ? (int)gridDim.x : 0; unit < share.x; unit += (int)gridDim.x)
            switch (share.z) {
            case PREDICT_1_BY_1: predict_conv<Math, 1, 1>(scene, work, unit, room); break;
            case PREDICT_1_BY_3: predict_conv<Math, 1, 3>(scene, work, unit, room); break;
            case PREDICT_1_BY_5: predict_conv<Math, 1, 5>(scene, work, unit, room); break;
            case PREDICT_1_BY_9: predict_conv<Math, 1, 9>(scene, work, unit, room); break;
            case PREDICT_2_BY_1: predict_conv<Math, 2, 1>(scene, work, unit, room); break;
            case PREDICT_2_BY_3: predict_conv<Math, 2, 3>(scene, work, unit, room); break;
            case PREDICT_2_BY_5: predict_conv<Math, 2, 5>(scene, work, unit, room); break;
            case PREDICT_2_BY_9: predict_conv<Math, 2, 9>(scene, work, unit, room); break;
            case PREDICT_4_BY_1: predict_conv<Math, 4, 1>(scene, work, unit, room); break;
            case PREDICT_4_BY_3: predict_conv<Math, 4, 3>(scene, work, unit, room); break;
            case PREDICT_4_BY_5: predict_conv<Math, 4, 5>(scene, work, unit, room); break;
            case PREDICT_LINEAR: predict_linear(scene, work, unit, room); break;
            default: predict_classify(job, scene, work, room);
            }
    }
}
