// rows_norm backward in one launch, for batches that fit on the chip: both parts of the two launches (sums.h,
// backward.h), with a barrier among the blocks in between.
//
// A thread copies all that it reads of its items to shared memory, which keeps it from the sums to the gradient: global
// memory is read once. Nobody else reads a thread's copies. What is older than the kernel before is copied while that
// kernel still runs. There is at most one block per multiprocessor, so that all of them run at the same time and can
// wait for each other. Only blocks with the same channels do.
#pragma once

#include <cuda/atomic>
#include <cuda_pipeline.h>

#include "ops/rows_norm/backward.h"

enum {
    SLOT = ROWS8 * 2,     // bytes of one copy
    RESIDENT_BATCHES = 4, // of a thread's gradients: the first are added while the last are on their way
};

// The items of one thread, and where it keeps them: each has `slots` slots, which lie `blockDim.x` apart, so that the
// accesses of a warp are to one piece of memory.
struct norm_share {
    unsigned first, stride;
    int count, c, slots;
    char *kept;

    __device__ unsigned number(int i) const
    {
        return first + (unsigned)i * stride;
    }
    __device__ norm_item item(const norm_job &job, int i) const
    {
        return item_of(job, number(i), c);
    }
    __device__ char *slot(int i, int number) const
    {
        return kept + (size_t)((i * slots + number) * (int)blockDim.x) * SLOT;
    }
};

// Slots of one item: its places, the gradient, and what is around.
template <typename Element>
__host__ __device__ static inline int resident_slots(const norm_operands<Element> &on, int places)
{
    return (places + 1 + (on.add != NULL) + (on.grad_more != NULL)) * rows_layout<Element>::ELEMENTS;
}

static inline size_t resident_shared_bytes(unsigned threads, unsigned items, int slots)
{
    return sums_shared_bytes(threads) + (size_t)threads * items * slots * SLOT;
}

template <typename Element>
__device__ static norm_share share_of(const norm_job &job, const norm_operands<Element> &on, const norm_slice &slice,
                                      int places, char *shared)
{
    const unsigned row = threadIdx.x / (unsigned)slice.groups, rows = (unsigned)slice.rows;
    norm_share share;
    share.first = blockIdx.x * rows + row, share.stride = gridDim.x * rows;
    share.count = row < rows && share.first < job.items ? (int)((job.items - 1 - share.first) / share.stride) + 1 : 0;
    share.c = (slice.first + (int)threadIdx.x % slice.groups) * ROWS8;
    share.slots = resident_slots(on, places);
    share.kept = shared + sums_shared_bytes(blockDim.x) + threadIdx.x * SLOT;
    return share;
}

// Begins to copy eight values to the item's slots for `value`.
template <typename Element>
__device__ static void keep8(const norm_share &share, int i, int value,
                             const typename rows_layout<Element>::place *from, int columns)
{
    enum { ELEMENTS = rows_layout<Element>::ELEMENTS };
#pragma unroll
    for (int part = 0; part < ELEMENTS; part++)
        __pipeline_memcpy_async(share.slot(i, value * ELEMENTS + part), from + part * columns, SLOT);
}

// What the forward pass has left: the places, and what was added.
template <typename Element, int Window>
__device__ static void keep_input(const norm_job &job, const norm_operands<Element> &on, const norm_share &share, int i)
{
    norm_window<Element, true, Window> window;
    const norm_item at = share.item(job, i);
    const int w = window.PIXEL ? 1 : window_of<Window>(job.shape), places = window.places(job.shape);
    if (!window.has_input(job, at))
        return;
    window.locate_input(job.shape, on, at);
#pragma unroll
    for (int place = 0; place < places; place++)
        keep8<Element>(share, i, place, window.from + (place / w) * window.pitch + (place % w) * window.step,
                       window.columns);
    if (!on.add || !window.has_output(job, at))
        return;
    window.locate_gradient(job, on, at);
    keep8<Element>(share, i, places + 1, window.add_from, window.columns);
}

template <typename Element, int Window>
__device__ static void keep_gradient(const norm_job &job, const norm_operands<Element> &on, const norm_share &share,
                                     int i)
{
    norm_window<Element, true, Window> window;
    const norm_item at = share.item(job, i);
    const int places = window.places(job.shape);
    if (!window.has_output(job, at))
        return;
    window.locate_gradient(job, on, at);
    keep8<Element>(share, i, places, window.grad_from, window.out_columns);
    if (on.grad_more)
        keep8<Element>(share, i, places + 1 + (on.add != NULL), window.more_from, window.out_columns);
}

// A window of an item from its slots. False: it has no output.
template <typename Element, int Window>
__device__ static bool recall(const norm_job &job, const norm_operands<Element> &on, const norm_share &share, int i,
                              const norm_item &at, norm_window<Element, true, Window> &window)
{
    typedef typename rows_layout<Element>::place place;
    const bool inside = window.has_output(job, at);
    window.columns = window.out_columns = (int)blockDim.x * ROWS8;
    window.step = window.columns * rows_layout<Element>::ELEMENTS;
    window.pitch = window_of<Window>(job.shape) * window.step;
    if (!inside)
        window.fetch_nothing();
    if (window.has_input(job, at)) {
        window.from = (const place *)share.slot(i, 0);
        window.load_input();
    }
    if (inside) {
        window.grad_from = window.from + window.places(job.shape) * window.step;
        window.add_from = on.add ? window.grad_from + window.step : NULL;
        window.more_from = on.grad_more ? (on.add ? window.add_from : window.grad_from) + window.step : NULL;
        window.load_gradient(on);
    }
    return inside;
}

// Waits until all blocks of a slice are here. counters: how many have come, and how many have gone on; both are 0
// before and after the call. Returns how many had gone on, in the block's first thread.
__device__ static int meet(int *counters)
{
    typedef cuda::atomic_ref<int, cuda::thread_scope_device> counter;
    int gone = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        counter(counters[0]).fetch_add(1, cuda::memory_order_release);
        while (counter(counters[0]).load(cuda::memory_order_acquire) < (int)gridDim.x)
            ;
        gone = counter(counters[1]).fetch_add(1, cuda::memory_order_relaxed);
    }
    __syncthreads();
    return gone;
}

// At the end, so that nobody waits for the answer. Nobody but the last block looks at the counters any more.
__device__ static void reset_counters(int *counters, int gone)
{
    typedef cuda::atomic_ref<int, cuda::thread_scope_device> counter;
    if (threadIdx.x == 0 && gone == (int)gridDim.x - 1) {
        counter(counters[0]).store(0, cuda::memory_order_relaxed);
        counter(counters[1]).store(0, cuda::memory_order_relaxed);
    }
}

// The sums of a block, as its part.
template <typename Element, int Function, int Window>
__device__ static void add_share(const norm_job &job, const norm_operands<Element> &on, const norm_slice &slice,
                                 const norm_share &share, float *kept)
{
    const int each = (share.count + RESIDENT_BATCHES - 1) / RESIDENT_BATCHES;
#pragma unroll 1
    for (int i = 0; i < share.count; i++)
        keep_input<Element, Window>(job, on, share, i);
    rows8 mean;
    const norm_scale by = share_statistics(job.shape, on, slice, mean);
    heddle_wait_for_previous();
#pragma unroll 1
    for (int batch = 0; batch < RESIDENT_BATCHES; batch++) { // the input belongs to the first
#pragma unroll 1
        for (int i = batch * each; i < min((batch + 1) * each, share.count); i++)
            keep_gradient<Element, Window>(job, on, share, i);
        __pipeline_commit();
    }
    float sums[SUMS_EACH] = {};
#pragma unroll 1
    for (int batch = 0; batch < RESIDENT_BATCHES; batch++) {
        __pipeline_wait_prior(RESIDENT_BATCHES - 1 - batch);
        __syncwarp(); // else the compiler may read before the wait
#pragma unroll 1
        for (int i = batch * each; i < min((batch + 1) * each, share.count); i++) {
            norm_window<Element, true, Window> window;
            if (recall(job, on, share, i, share.item(job, i), window))
                add_window<Element, true, Function, Window>(job, on, window, by, mean, sums);
        }
    }
    float *parts = parts_of(on, slice, (int)gridDim.x);
    store_part(slice, sums, parts + blockIdx.x * SUMS_EACH * (unsigned)slice.groups, kept);
}

// Items (image, down, across); blocks (share of the items, slice of the channels). The kernel before must not write
// what the forward pass has left. Side: of the windows, 0 if it is not known; 1 is a pixel. Windows are read place by
// place, which takes few registers: shared memory is near.
template <typename Element, int Function, int Side>
__global__ void __launch_bounds__(SUMS_THREADS, 1)
    rows_norm_resident(const norm_job given, const norm_operands<Element> on)
{
    enum { WINDOW = Side == 1 ? NORM_AROUND : 0 };
    extern __shared__ uint4 shared[]; // scratch memory for sums, then slots
    norm_job job = given;
    if (Side > 1)
        job.shape.window = Side;
    const norm_slice slice = slice_of(job.shape);
    const norm_share share =
        share_of(job, on, slice, norm_window<Element, true, WINDOW>::places(job.shape), (char *)shared);
    int *counters = on.arrived + 2 * blockIdx.y;
    add_share<Element, Function, WINDOW>(job, on, slice, share, (float *)shared);
    const int gone = meet(counters);
    heddle_release_next();
    const norm_factors factors = factors_of(job, on, slice);
#pragma unroll 1
    for (int i = 0; i < share.count; i++) {
        norm_pending<Element, true, WINDOW> pending;
        pending.item = share.item(job, i);
        pending.inside = recall(job, on, share, i, pending.item, pending.window);
        pending.template store<Function>(job, on, factors, share.number(i));
    }
    if (on.grad_add && job.shape.gap)
        zero_gaps<Element, true>(job, on);
    reset_counters(counters, gone);
}
