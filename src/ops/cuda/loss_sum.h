// The loss of a batch and how many of its samples are right, added up by the kernels that compute both.
#pragma once

#include <cuda/atomic>
#include <cuda_runtime.h>

// Whether a warp is of the last block to arrive, which may then read what the others stored before.
static __device__ inline bool last_to_arrive(int *arrived)
{
    bool last = false;
    __syncwarp();
    if (threadIdx.x % 32 == 0)
        last = cuda::atomic_ref<int, cuda::thread_scope_device>(*arrived).fetch_add(1, cuda::memory_order_acq_rel) ==
               (int)gridDim.x - 1;
    last = __shfl_sync(~0u, (int)last, 0);
    __syncwarp(); // a shuffle does not order accesses
    return last;
}

// Sums over a kernel, by one warp of each block, whose lanes all have the block's sums. Each block stores them in
// parts, (blocks, 2); the last block to arrive adds these, always in the same order, and its whole warp returns true.
// The first lane has both sums in `total`. arrived: NULL if there is one block.
static __device__ inline bool loss_sum_blocks(double loss, double correct, double *parts, int *arrived,
                                              double (&total)[2])
{
    const int lane = threadIdx.x % 32;
    if (arrived) {
        if (lane == 0) {
            parts[2 * blockIdx.x] = loss;
            parts[2 * blockIdx.x + 1] = correct;
        }
        if (!last_to_arrive(arrived))
            return false;
        loss = correct = 0;
        for (int block = lane; block < (int)gridDim.x; block += 32) {
            loss += parts[2 * block];
            correct += parts[2 * block + 1];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            loss += __shfl_xor_sync(~0u, loss, distance);
            correct += __shfl_xor_sync(~0u, correct, distance);
        }
        if (lane == 0)
            *arrived = 0; // as the next call needs it
    }
    total[0] = loss;
    total[1] = correct;
    return true;
}

// The same by all warps of a block: `loss` and `correct` are those of a warp's samples, in its first lane. True in one
// thread, which has both sums.
template <int Warps>
static __device__ inline bool loss_sum(double loss, double correct, double *parts, int *arrived, double (&total)[2])
{
    __shared__ double losses[Warps], rights[Warps];
    if (threadIdx.x % 32 == 0) {
        losses[threadIdx.x / 32] = loss;
        rights[threadIdx.x / 32] = correct;
    }
    __syncthreads();
    if (threadIdx.x >= 32)
        return false;
    loss = correct = 0;
    for (int i = 0; i < Warps; i++) {
        loss += losses[i];
        correct += rights[i];
    }
    return loss_sum_blocks(loss, correct, parts, arrived, total) && threadIdx.x == 0;
}
