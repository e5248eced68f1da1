// topk, rung 3: one block per row finds the last of the best by counting digits, then collects what is above it.
//
// Rung 2 sorted whenever one element was new among the best, with one warp per row. Here nothing is sorted but the
// result. A block counts the highest 11 bits of all elements in shared memory and finds the digit of the k-th largest;
// then the next 11 bits of those that share it, then the last 10. Now the k-th largest is known. A last pass collects
// the elements above it and, of those equal to it, the first ones. Each of the k finds its place by comparing with all.
//
// Limited by: four passes over the row, which come from the L2 cache if rows in flight fit there; atomics in shared
// memory while many elements have the same digit; and one block per row.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"
#include "ops/topk/key.h"
#include "ops/topk/topk.h"

enum {
    THREADS = 512,
    WARP = 32,
    WARPS = THREADS / WARP,
    BITS = 11,          // of a digit
    DIGITS = 1 << BITS, // a multiple of THREADS
    EACH = DIGITS / THREADS,
    MOST = HEDDLE_TOPK_MOST,
};

// What is known of the k-th largest: its highest bits, and how many of those that share them are among the best.
typedef struct cut {
    unsigned prefix;
    int wanted;
} cut;

// Counts the digit at `shift` of elements whose bits above it are those of `found`, and adds the digit of the k-th.
// Returns how many elements share it.
__device__ static int narrow(const float *row, int cols, int shift, int width, cut *found)
{
    __shared__ int count[DIGITS], sums[THREADS], chosen[3];
    for (int i = threadIdx.x; i < DIGITS; i += THREADS)
        count[i] = 0;
    __syncthreads();
    const unsigned known = shift + width < 32 ? ~0u << (shift + width) : 0, mask = (1u << width) - 1;
#pragma unroll 4
    for (int j = threadIdx.x; j < cols; j += THREADS) {
        unsigned bits = topk_bits(row[j]);
        if ((bits & known) == found->prefix)
            atomicAdd(&count[bits >> shift & mask], 1);
    }
    __syncthreads();
    // Thread t has the digits from EACH * t counted from the highest; before them: those of threads below t.
    int own = 0;
    for (int i = 0; i < EACH; i++)
        own += count[DIGITS - 1 - (EACH * threadIdx.x + i)];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int distance = 1; distance < THREADS; distance *= 2) {
        int more = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += more;
        __syncthreads();
    }
    int above = sums[threadIdx.x] - own;
    for (int i = 0; i < EACH; i++) {
        int digit = DIGITS - 1 - (EACH * threadIdx.x + i);
        if (above < found->wanted && above + count[digit] >= found->wanted) { // one digit of one thread
            chosen[0] = digit;
            chosen[1] = found->wanted - above;
            chosen[2] = count[digit];
        }
        above += count[digit];
    }
    __syncthreads();
    found->prefix |= (unsigned)chosen[0] << shift;
    found->wanted = chosen[1];
    return chosen[2];
}

// Sum over the threads before this one, and over all of them.
__device__ static int before(bool mine, int *total)
{
    __shared__ int of_warp[WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const unsigned mask = __ballot_sync(0xffffffffu, mine);
    if (lane == 0)
        of_warp[warp] = __popc(mask);
    __syncthreads();
    int sum = 0, all = 0;
    for (int w = 0; w < WARPS; w++) {
        sum += w < warp ? of_warp[w] : 0;
        all += of_warp[w];
    }
    __syncthreads();
    *total = all;
    return sum + __popc(mask & ((1u << lane) - 1));
}

// input: (rows, cols), values and indices: (rows, k)
__global__ void __launch_bounds__(THREADS)
    topk_radix_select(heddle_topk_shape shape, const float *input, float *values, int32_t *indices)
{
    __shared__ topk_key best[MOST];
    __shared__ int taken;
    const float *row = input + (size_t)blockIdx.x * shape.cols;
    cut found = {0, shape.k};
    narrow(row, shape.cols, 21, BITS, &found);
    narrow(row, shape.cols, 10, BITS, &found);
    const int equal = narrow(row, shape.cols, 0, 10, &found);
    const int above = shape.k - found.wanted;
    const bool all = equal == found.wanted; // then no order among the equal ones matters
    if (threadIdx.x == 0)
        taken = 0;
    __syncthreads();
#pragma unroll 4
    for (int j = threadIdx.x; j < shape.cols; j += THREADS) {
        unsigned bits = topk_bits(row[j]);
        if (bits > found.prefix || (all && bits == found.prefix))
            best[atomicAdd(&taken, 1)] = topk_key_of(row[j], j);
    }
    for (int first = 0, seen = 0, total = 0; !all && seen < found.wanted; first += THREADS, seen += total) {
        int j = first + (int)threadIdx.x;
        bool mine = j < shape.cols && topk_bits(row[j]) == found.prefix;
        int place = seen + before(mine, &total);
        if (mine && place < found.wanted)
            best[above + place] = topk_key_of(row[j], j);
    }
    __syncthreads();
    if (threadIdx.x >= shape.k)
        return;
    const topk_key key = best[threadIdx.x];
    int place = 0;
    for (int i = 0; i < shape.k; i++)
        place += best[i] > key;
    values[(size_t)blockIdx.x * shape.k + place] = row[topk_index_of(key)];
    indices[(size_t)blockIdx.x * shape.k + place] = topk_index_of(key);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_topk_shape *shape = (const heddle_topk_shape *)call->shape;
    if (shape->rows > 0)
        topk_radix_select<<<shape->rows, THREADS, 0, heddle_cuda_stream_of(call)>>>(
            *shape, (const float *)call->input[0], (float *)call->output[0], (int32_t *)call->output[1]);
    return heddle_cuda_launched("03_radix_select");
}

HEDDLE_CUDA_RUNG("topk", "03_radix_select", launch)
