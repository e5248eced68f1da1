// forward.h for Hopper: conv2 by wgmma, products of four warps together that read both operands from shared memory.
// Only these use a multiprocessor's tensor cores at their full rate, and no thread waits for fragments.
//
// Reads and writes what forward.h does; conv1 is the same (forward_stem.h).
//
// A product is 64 channels by 112 pixels, 7 rows of 16 of which two are unused, by 32 bytes of input channels. Both its
// operands lie in shared memory in chunks of 16 bytes along K: chunk k of a matrix, for all its rows, then chunk k + 1.
// Of the pooled image a row is a pixel, so a tap is another start address. Half an image is 18 products (36 of float
// operands), issued at once.
//
// The accumulators have pixels side by side in a thread, memory wants channels: movmatrix turns 8 by 8 of them, and the
// order of the weight's rows (prepare.h) is such that a thread then has four channels to store.
//
// Work: as in forward.h, a block a multiprocessor. Two parts make pooled images, even and odd ones, in a few tiles by
// turns; two multiply them and store the result, one the upper half of every image and one the lower: while one stores,
// the tensor cores work for the other. Tiles are handed over by barriers at which only the one who needs a tile waits.
// Limited by: the tensor cores, and shared memory, from which a product reads 5.5 KB in the time of 7.
#ifndef HEDDLE_OPS_CNN_STEP_FORWARD_WGMMA_H
#define HEDDLE_OPS_CNN_STEP_FORWARD_WGMMA_H

#include "ops/cnn_step/arithmetic.h"
#include "ops/cnn_step/forward_statistics.h"
#include "ops/cnn_step/forward_stem.h"
#include "ops/cnn_step/layout.h"
#include "ops/cnn_step/prepare.h"
#include "ops/cuda/dependent.h"
#include "ops/cuda/hopper.h"

enum {
    CNN_WGMMA_PIXELS = CNN_SIDE1 / 2 * CNN_TILE_SIDE, // of a product
    CNN_WGMMA_SUMS = CNN_CHANNELS2 * CNN_WGMMA_PIXELS / HOPPER_WARPGROUP,
    CNN_WGMMA_CHUNK = 16, // bytes
};

// What the products take; how many tiles a block has, and parts that make images, and of how many threads. The
// registers that these give to those who multiply.
template <typename Arithmetic> struct cnn_wgmma_kind {
    typedef typename Arithmetic::operand element;
    static const int parts = 1, tiles = sizeof(element) == 4 ? 3 : 4, makers = 2, maker_threads = HOPPER_WARPGROUP;
    static const int threads = 2 * HOPPER_WARPGROUP + makers * maker_threads;
    static const int maker_registers = 0, multiplier_registers = 0; // as they are
    static __device__ __forceinline__ int channel(int row)
    {
        return cnn_conv2_channel(row);
    }
};
// Nearly fp32: three bfloat16 are a float, and the six largest of their nine products. The tensor cores take turns
// between the warps, and conv1 has three small products for a turn of conv2's: so twice the warps make an image.
template <> struct cnn_wgmma_kind<cnn_tf32x3> {
    typedef __nv_bfloat16 element;
    static const int parts = 3, tiles = 2, makers = 1, maker_threads = 2 * HOPPER_WARPGROUP;
    static const int threads = 2 * HOPPER_WARPGROUP + makers * maker_threads;
    static const int maker_registers = 88, multiplier_registers = 168; // of 128
    static __device__ __forceinline__ int channel(int row)
    {
        return row;
    }
};

template <typename Arithmetic> struct cnn_wgmma_shared {
    typedef cnn_wgmma_kind<Arithmetic> kind;
    typedef typename kind::element operand;
    operand weight[kind::parts * CNN_CHANNELS2 * CNN_PATCH]; // as in conv2_forward
    operand tile[kind::tiles][kind::parts * cnn_tile<operand>::size];
    uint32_t stem[kind::makers * 2 * CNN_STEM_WORDS]; // of each part that makes, two images
    float4 sums[2][2 * HOPPER_WARPGROUP];             // scratch, and at the end the blocks' sums
    double moments[CNN_MOMENTS];
    uint64_t loaded, made[kind::tiles], read[kind::tiles]; // barriers of the weight and of the tiles
    float stem_weight[CNN_CHANNELS1][CNN_TAPS], stem_scale[CNN_CHANNELS1], stem_bias[CNN_CHANNELS1]; // as in forward.h
    bool last;
};

// --- the product -----------------------------------------------------------------------------------------------------

#define CNN_WGMMA_NAMES                                                                                                \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "   \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55}, %56, %57, add, 1, 1"
#define CNN_WGMMA(type, instruction, transposed)                                                                       \
    CNN_DEVICE void cnn_wgmma(type, float(&d)[CNN_WGMMA_SUMS], uint64_t a, uint64_t b, int add)                        \
    {                                                                                                                  \
        asm volatile("{\n\t"                                                                                           \
                     ".reg .pred add;\n\t"                                                                             \
                     "setp.ne.b32 add, %58, 0;\n\t"                                                                    \
                     "wgmma.mma_async.sync.aligned." instruction " " CNN_WGMMA_NAMES transposed ";\n\t"                \
                     "}"                                                                                               \
                     : HOPPER_D32(d, 0), HOPPER_D16(d, 32), HOPPER_D4(d, 48), HOPPER_D4(d, 52)                         \
                     : "l"(a), "l"(b), "r"(add));                                                                      \
    }
// d = a (64 channels, 32 bytes) * b (32 bytes, 112 pixels) + (add ? d : 0)
CNN_WGMMA(cnn_tf32, "m64n112k8.f32.tf32.tf32", "")
CNN_WGMMA(cnn_fp16, "m64n112k16.f32.f16.f16", ", 0, 0")
CNN_WGMMA(cnn_bf16, "m64n112k16.f32.bf16.bf16", ", 0, 0")
#undef CNN_WGMMA
#undef CNN_WGMMA_NAMES

// Where an operand in chunks lies: `distance` bytes from a chunk to the next, eight rows of one side by side.
CNN_DEVICE uint64_t cnn_wgmma_descriptor(const void *shared, unsigned distance)
{
    const uint64_t address = (hopper_shared(shared) & 0x3ffff) >> 4, eight_rows = 8 * CNN_WGMMA_CHUNK;
    return address | (uint64_t)(distance >> 4) << 16 | eight_rows >> 4 << 32;
}

// The compiler takes a product's sums to be there when it is issued. After the wait for it, this keeps what reads them
// from being moved before the wait; and before the next product, what reads them from being moved after it.
CNN_DEVICE void cnn_wgmma_settle(float (&sum)[CNN_WGMMA_SUMS])
{
#pragma unroll
    for (int i = 0; i < CNN_WGMMA_SUMS; i++)
        asm volatile("" : "+f"(sum[i])::"memory");
}

// Issues the products of one half of an image and of taps first ... first + taps - 1; the sums so far are kept if
// `add`.
template <typename Product, typename Element>
CNN_DEVICE void cnn_wgmma_issue(float (&sum)[CNN_WGMMA_SUMS], const Element *weight, const Element *tile, int half,
                                int first, int taps, bool add)
{
    typedef cnn_tile<Element> Tile;
    const unsigned weight_distance = CNN_CHANNELS2 * CNN_WGMMA_CHUNK, tile_distance = Tile::plane * CNN_WGMMA_CHUNK;
    const uint64_t a = cnn_wgmma_descriptor(weight, weight_distance);
    const uint64_t b = cnn_wgmma_descriptor(tile + half * CNN_WGMMA_PIXELS * Tile::chunk, tile_distance);
    const int steps = CNN_CHANNELS1 / Tile::chunk / 2; // of a tap
#pragma unroll
    for (int tap = first; tap < first + taps; tap++)
#pragma unroll
        for (int step = 0; step < steps; step++) {
            const unsigned shift = (tap / 3 * CNN_TILE_SIDE + tap % 3) * CNN_WGMMA_CHUNK + 2 * step * tile_distance;
            cnn_wgmma(Product(), sum, wgmma_descriptor_at(a, 2 * (tap * steps + step) * weight_distance),
                      wgmma_descriptor_at(b, shift), add || tap > first || step > 0);
        }
}

// One half of an image.
template <typename Arithmetic, typename Element>
CNN_DEVICE void cnn_wgmma_half(Arithmetic, float (&sum)[CNN_WGMMA_SUMS], const Element *weight, const Element *tile,
                               int half)
{
    cnn_wgmma_settle(sum);
    wgmma_fence();
    cnn_wgmma_issue<Arithmetic>(sum, weight, tile, half, 0, CNN_TAPS, false);
    wgmma_commit();
    wgmma_wait<0>();
    cnn_wgmma_settle(sum);
}

// The same of three parts, the small products first. Tensor cores cut sums off where float would round them, so that
// long sums are too small: three taps at a time are added up outside.
CNN_DEVICE void cnn_wgmma_half(cnn_tf32x3, float (&sum)[CNN_WGMMA_SUMS], const __nv_bfloat16 *weight,
                               const __nv_bfloat16 *tile, int half)
{
    enum { PRODUCTS = 6 };
    const int weight_part[PRODUCTS] = {2, 0, 1, 1, 0, 0}, tile_part[PRODUCTS] = {0, 2, 1, 0, 1, 0};
#pragma unroll
    for (int i = 0; i < CNN_WGMMA_SUMS; i++)
        sum[i] = 0;
#pragma unroll
    for (int first = 0; first < CNN_TAPS; first += 3) {
        float part[CNN_WGMMA_SUMS];
        cnn_wgmma_settle(part);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < PRODUCTS; i++)
            cnn_wgmma_issue<cnn_bf16>(part, weight + weight_part[i] * (CNN_CHANNELS2 * CNN_PATCH),
                                      tile + tile_part[i] * cnn_tile<__nv_bfloat16>::size, half, first, 3, i > 0);
        wgmma_commit();
        wgmma_wait<0>();
        cnn_wgmma_settle(part);
#pragma unroll
        for (int i = 0; i < CNN_WGMMA_SUMS; i++)
            sum[i] += part[i];
    }
}

// Where the weight lies in global memory.
template <typename Operand, typename Convolution>
CNN_DEVICE const void *cnn_wgmma_weight(const cnn_arguments<Operand, Convolution> &arguments, int parts)
{
    return parts == 1 ? (const void *)arguments.workspace.conv2_forward : arguments.workspace.conv2_parts;
}

// The copy engine brings the weight; `loaded` counts the bytes.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_load_weight(const Arguments &arguments, Shared *shared)
{
    const unsigned bytes = sizeof shared->weight;
    mbarrier_arrive_expect(&shared->loaded, bytes);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     hopper_shared(shared->weight)),
                 "l"(cnn_wgmma_weight(arguments, Shared::kind::parts)), "r"(bytes), "r"(hopper_shared(&shared->loaded))
                 : "memory");
}

// --- the output ------------------------------------------------------------------------------------------------------

// Two of conv2's outputs as they are kept (see cnn_keep).
CNN_DEVICE uint32_t cnn_keep_pair(__half, float first, float second)
{
    const __half2 most = __float2half2_rn(65504.0f);
    const __half2 two = __hmax2_nan(__hmin2_nan(__floats2half2_rn(first, second), most), __hneg2(most));
    return *(const uint32_t *)&two;
}
CNN_DEVICE uint32_t cnn_keep_pair(__nv_bfloat16, float first, float second)
{
    return cnn_pair(__nv_bfloat16(), first, second);
}

// 8 by 8 elements of 16 bits, a lane's two of row lane / 4 before and after.
CNN_DEVICE uint32_t cnn_turn(uint32_t matrix)
{
    uint32_t turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(matrix));
    return turned;
}

// The first of 8 pixels of conv2's output: half an image's, of 16 channels.
template <typename Operand, typename Convolution>
CNN_DEVICE Convolution *cnn_wgmma_output(const cnn_arguments<Operand, Convolution> &arguments, int image, int half)
{
    const size_t first = ((size_t)image * 2 + half) * (CNN_PIXELS1 / 2); // pixel
    return arguments.workspace.convolution2 + first * CNN_CHANNELS2 + threadIdx.x / 32 % 4 * 16;
}

// Eight pixels by 16 channels of conv2's output, of which a thread has two of two, `four` = [channel][pixel]; `pixels`
// of them are inside. The thread stores four channels of pixel lane / 4.
template <typename Convolution> CNN_DEVICE void cnn_wgmma_store(Convolution *to, const float four[4], int pixels)
{
    const int lane = threadIdx.x % 32;
    const uint2 turned = make_uint2(cnn_turn(cnn_keep_pair(Convolution(), four[0], four[1])),
                                    cnn_turn(cnn_keep_pair(Convolution(), four[2], four[3])));
    if (lane / 4 < pixels)
        *(uint2 *)(to + lane / 4 * CNN_CHANNELS2 + lane % 4 * 4) = turned;
}
// Floats are stored as they lie: the eight lanes that have the same pixels fill a sector.
CNN_DEVICE void cnn_wgmma_store(float *to, const float four[4], int pixels)
{
    const int lane = threadIdx.x % 32, pixel = lane % 4 * 2;
    if (pixel < pixels)
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[(pixel + i % 2) * CNN_CHANNELS2 + i / 2 * 8 + lane / 4] = four[i];
}

// Adds a thread's outputs to the sums and sums of squares of its two channels.
CNN_DEVICE void cnn_wgmma_add(float sums[2], float squares[2], const float four[4], int pixels)
{
    const bool inside = threadIdx.x % 4 * 2 < pixels;
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const float left = inside ? four[2 * j] : 0, right = inside ? four[2 * j + 1] : 0;
        sums[j] += left + right;
        squares[j] = fmaf(left, left, fmaf(right, right, squares[j]));
    }
}

// The sums of the two parts that multiply, added in a fixed order.
template <typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_statistics(const Arguments &arguments, Shared *shared, int half, float sums[2],
                                     float squares[2])
{
    float(*totals)[2 * CNN_CHANNELS2] = (float(*)[2 * CNN_CHANNELS2]) shared->sums; // [half][kind, channel]
    const int row = threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int distance = 1; distance < 4; distance *= 2) { // the four lanes that have the same channels
            sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], distance);
            squares[i] += __shfl_xor_sync(0xffffffffu, squares[i], distance);
        }
        if (threadIdx.x % 4 == 0) {
            totals[half][Shared::kind::channel(row + 8 * i)] = sums[i];
            totals[half][CNN_CHANNELS2 + Shared::kind::channel(row + 8 * i)] = squares[i];
        }
    }
    cnn_statistics_meet<2 * HOPPER_WARPGROUP>();
    const int column = threadIdx.x % (2 * CNN_CHANNELS2);
    cnn_statistics_reduce<2 * HOPPER_WARPGROUP>(arguments, totals[0][column] + totals[1][column],
                                                (float4 *)shared->tile, &shared->last);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

// Where image i of the block lies for conv1: each part that makes images has two places.
template <typename Shared> CNN_DEVICE uint32_t *cnn_wgmma_stem(Shared *shared, int i)
{
    typedef typename Shared::kind kind;
    return shared->stem + (i % kind::makers * 2 + i / kind::makers % 2) * CNN_STEM_WORDS;
}

// Part `maker` of those that make pooled images: every so many of the block's images, but the first two are made by
// all. An image's bytes are read and unpacked while the image before is made.
template <typename Arithmetic, typename Arguments, typename Shared, int Parts>
CNN_DEVICE void cnn_wgmma_make(const Arguments &arguments, Shared *shared, const cnn_stem_weight<Parts> &weight,
                               int maker, int count)
{
    typedef typename Shared::kind kind;
    enum { FIRST_NAME = 1, THREADS = kind::maker_threads, WORDS = (CNN_IMAGE_WORDS + THREADS - 1) / THREADS };
    const int thread = threadIdx.x % THREADS;
    for (int i = maker; i < count; i += kind::makers) {
        const int tile = i % kind::tiles, use = i / kind::tiles, next = i + kind::makers;
        uint32_t *stem_now = cnn_wgmma_stem(shared, i), *stem_next = cnn_wgmma_stem(shared, next);
        const bool unpack = next >= 2 && next < count;
        uint32_t bytes[WORDS] = {0};
        if (unpack) {
            const uint8_t *pixels = cnn_own_pixels(arguments, next, count);
#pragma unroll
            for (int word = 0; word < WORDS; word++)
                if (word * THREADS + thread < CNN_IMAGE_WORDS)
                    bytes[word] = cnn_pixels4(pixels + (word * THREADS + thread) * 4);
        }
        if (i >= 2) {
            if (use > 0)
                mbarrier_wait(&shared->read[tile], (use - 1) & 1);
            cnn_stem_forward<Arithmetic, THREADS / 32>(arguments, blockIdx.x + i * gridDim.x, stem_now,
                                                       shared->tile[tile], weight, thread / 32);
            tma_fence_written();
            mbarrier_arrive(&shared->made[tile]);
        }
        if (unpack)
#pragma unroll
            for (int word = 0; word < WORDS; word++)
                if (word * THREADS + thread < CNN_IMAGE_WORDS)
                    cnn_stem_unpack(stem_next, word * THREADS + thread, bytes[word]);
        __barrier_sync_count(FIRST_NAME + maker, THREADS);
    }
}

// The part that multiplies the upper (0) or lower (1) halves.
template <typename Arithmetic, typename Arguments, typename Shared>
CNN_DEVICE void cnn_wgmma_multiply(const Arguments &arguments, Shared *shared, int half, int count)
{
    typedef typename Shared::kind kind;
    float sums[2] = {0, 0}, squares[2] = {0, 0};
    mbarrier_wait(&shared->loaded, 0);
    for (int i = 0; i < count; i++) {
        const int tile = i % kind::tiles, use = i / kind::tiles;
        float sum[CNN_WGMMA_SUMS];
        if (i >= 2) // the first two were made before the parts went their ways: that was no phase of the barrier
            mbarrier_wait(&shared->made[tile], (use - (tile < 2)) & 1);
        cnn_wgmma_half(Arithmetic(), sum, shared->weight, shared->tile[tile], half);
        mbarrier_arrive(&shared->read[tile]);
        auto *to = cnn_wgmma_output(arguments, blockIdx.x + i * gridDim.x, half);
#pragma unroll
        for (int j = 0; j < CNN_WGMMA_PIXELS / 8; j++) {
            const int y = j / 2, x = j % 2 * 8, pixels = j % 2 ? CNN_SIDE1 - 8 : 8;
            cnn_wgmma_store(to + (y * CNN_SIDE1 + x) * CNN_CHANNELS2, sum + 4 * j, pixels);
            cnn_wgmma_add(sums, squares, sum + 4 * j, pixels);
        }
    }
    cnn_wgmma_statistics(arguments, shared, half, sums, squares);
}

template <typename Arithmetic>
static __global__ void __launch_bounds__(cnn_wgmma_kind<Arithmetic>::threads, 1)
    cnn_forward_wgmma(cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> arguments)
{
    extern __shared__ uint4 cnn_forward_memory[];
    typedef cnn_wgmma_shared<Arithmetic> shared_type;
    typedef cnn_wgmma_kind<Arithmetic> kind;
    shared_type *shared = (shared_type *)cnn_forward_memory;
    const int count = (arguments.n - 1 - (int)blockIdx.x) / (int)gridDim.x + 1;
    cnn_tile_clear(shared->tile[0], kind::tiles * kind::parts, kind::threads);
    cnn_stem_clear(shared->stem, kind::makers * 2, kind::threads);
    if (threadIdx.x == 0) {
        mbarrier_init(&shared->loaded, 1);
        for (int i = 0; i < kind::tiles; i++) {
            mbarrier_init(&shared->made[i], kind::maker_threads);
            mbarrier_init(&shared->read[i], 2 * HOPPER_WARPGROUP);
        }
        mbarrier_init_fence();
    }
    const double inverse = 1 / ((double)arguments.n * CNN_PIXELS);
    __syncthreads();
    // prepare.h released this launch after its own wait, so that what is older than it is there: images, parameters.
    enum { ADDING = kind::threads - CNN_UNPACK_THREADS };
    const int adding = (int)threadIdx.x - CNN_UNPACK_THREADS;
    if (adding >= 0)
        cnn_stem_load_parameters(arguments, shared, adding, ADDING);
    else
        cnn_stem_first_images(arguments, cnn_wgmma_stem(shared, 0), cnn_wgmma_stem(shared, 1), count);
    heddle_wait_for_previous();
    heddle_release_next();

    if (threadIdx.x == 0)
        cnn_wgmma_load_weight(arguments, shared);
    if (adding >= 0)
        cnn_stem_add_moments<ADDING>(arguments, shared, adding);
    __syncthreads();
    cnn_stem_end_moments<ADDING>(arguments, shared);
    __syncthreads();
    cnn_stem_fold(arguments, shared, inverse);
    __syncthreads();
    cnn_stem_weight<cnn_stem_parts<Arithmetic>::count> weight;
    cnn_stem_load(&weight, shared);
    for (int i = 0; i < 2 && i < count; i++)
        cnn_stem_forward<Arithmetic, kind::threads / 32>(arguments, blockIdx.x + i * gridDim.x,
                                                         cnn_wgmma_stem(shared, i), shared->tile[i], weight,
                                                         threadIdx.x / 32);
    tma_fence_written();
    __syncthreads();

    const int part = threadIdx.x / HOPPER_WARPGROUP;
    if (part < 2) {
        if constexpr (kind::multiplier_registers > 0)
            registers_take<kind::multiplier_registers>();
        cnn_wgmma_multiply<Arithmetic>(arguments, shared, part, count);
    } else {
        if constexpr (kind::maker_registers > 0)
            registers_give_back<kind::maker_registers>();
        cnn_wgmma_make<Arithmetic>(arguments, shared, weight, (part - 2) * HOPPER_WARPGROUP / kind::maker_threads,
                                   count);
    }
}

template <typename Arithmetic>
static cudaError_t
cnn_launch_forward_wgmma(const cnn_arguments<typename Arithmetic::operand, typename Arithmetic::convolution> &arguments,
                         cudaStream_t stream)
{
    const int bytes = sizeof(cnn_wgmma_shared<Arithmetic>);
    static_assert(sizeof(cnn_wgmma_shared<Arithmetic>) <= 227 * 1024, "more than a block can have");
    const cudaError_t error =
        cudaFuncSetAttribute(cnn_forward_wgmma<Arithmetic>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess)
        return error;
    return heddle_cuda_launch_dependent(cnn_forward_wgmma<Arithmetic>, arguments.forward_blocks,
                                        cnn_wgmma_kind<Arithmetic>::threads, bytes, stream, arguments);
}

#endif
