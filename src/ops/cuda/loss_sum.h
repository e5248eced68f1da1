// The loss of a batch and how many of its samples are right, added up by the kernels that compute both.
#pragma once

#include <cuda_runtime.h>

// Sums over a kernel: `loss` and `correct` are those of a warp's samples, in its first lane. Each block stores its sums
// in parts, (blocks, 2); the last block to arrive adds these, always in the same order. True in one thread of that
// block, which has both sums in `total`. arrived: NULL if there is one block.
template <int Warps>
static __device__ inline bool loss_sum(double loss, double correct, double *parts, int *arrived, double (&total)[2])
{
    __shared__ double losses[Warps], rights[Warps];
    __shared__ bool last;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
        losses[warp] = loss;
        rights[warp] = correct;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < Warps; i++) {
            losses[0] += losses[i];
            rights[0] += rights[i];
        }
        parts[2 * blockIdx.x] = losses[0];
        parts[2 * blockIdx.x + 1] = rights[0];
        __threadfence();
        last = !arrived || atomicAdd(arrived, 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return false;
    __threadfence();
    loss = correct = 0;
    for (int block = (int)threadIdx.x; block < (int)gridDim.x; block += Warps * 32) {
        loss += parts[2 * block];
        correct += parts[2 * block + 1];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        loss += __shfl_xor_sync(~0u, loss, distance);
        correct += __shfl_xor_sync(~0u, correct, distance);
    }
    if (lane == 0) {
        losses[warp] = loss;
        rights[warp] = correct;
    }
    __syncthreads();
    if (threadIdx.x > 0)
        return false;
    total[0] = total[1] = 0;
    for (int i = 0; i < Warps; i++) {
        total[0] += losses[i];
        total[1] += rights[i];
    }
    if (arrived)
        *arrived = 0; // as the next call needs it
    return true;
}
