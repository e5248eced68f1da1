// conv2d's gradient of the input, rung 6: stride 2 over at most 4 channels, as in the first layer of many networks. A
// thread owns adjacent patches of 2 by 2 pixels, with all channels in registers.
//
// Rung 4 gives a block 64 filters, which here are the input's channels: with 3 of them, 61 columns of its tile are
// zeros. Only one in four of the taps that a pixel asks for has an element; the others fall between the positions of
// the filter and multiply by zero. A patch of 2 by 2 meets each tap of the filter exactly once: its pixel with even row
// and column meets the even taps, and so on. So no multiplication is wasted, and which tap belongs to which pixel is
// known at compile time. PATCHES of them share the weights, which come from shared memory, the same for all threads of
// the warp: one load of 16 bytes for 16 multiplications.
//
// Limited by: issuing multiplications if the filter is large. With 3 by 3 taps and one channel there are 6 loads of
// grad_output per patch for every 9 of them, and the loads are the limit.

#include "ops/conv2d/conv2d.h"
#include "ops/cuda/rung.h"
#include "ops/cuda/vector.h"

enum {
    STEP = 2,
    PATCHES = 4,  // per thread
    FILTERS = 16, // filters whose weights are in shared memory at a time: up to 12.25 KiB
    THREADS = 128,
};

// Weights of a filter in shared memory: rows of all channels one after another, each padded to whole vectors.
template <int TAPS, int CHANNELS> struct filter {
    enum {
        ROW = (CHANNELS * TAPS + HEDDLE_VECTOR - 1) / HEDDLE_VECTOR * HEDDLE_VECTOR,
        SIZE = TAPS * ROW,
        REACH = (TAPS + STEP - 1) / STEP, // positions of the filter, along each axis, that see a patch
    };
};

// weight: (k, CHANNELS, TAPS, TAPS), shared: (FILTERS, TAPS, ROW)
template <int TAPS, int CHANNELS>
__device__ static void load_filters(int first, int count, const float *weight, float *shared)
{
    typedef filter<TAPS, CHANNELS> F;
    for (int i = threadIdx.x; i < count * F::SIZE; i += THREADS) {
        int k = first + i / F::SIZE, row = i % F::SIZE / F::ROW, within = i % F::ROW;
        int channel = within / TAPS, column = within % TAPS;
        shared[i] = channel < CHANNELS ? weight[(((size_t)k * CHANNELS + channel) * TAPS + row) * TAPS + column] : 0.0f;
    }
}

// What one row of grad_output adds to the patches. Its element j belongs to a position j - (REACH - 1) right of the
// first patch. `above` rows above the patches it meets taps STEP * above and, if there is one, the next.
template <int TAPS, int CHANNELS>
__device__ static void add_row(const float *weights, int above, const float gradient[],
                               float sum[][STEP][PATCHES][STEP])
{
    typedef filter<TAPS, CHANNELS> F;
#pragma unroll
    for (int a = 0; a < STEP; a++) {
        if (above * STEP + a >= TAPS)
            continue;
        float __align__(16) row[F::ROW];
#pragma unroll
        for (int i = 0; i < F::ROW; i += HEDDLE_VECTOR)
            *(float4 *)&row[i] = *(const float4 *)&weights[(above * STEP + a) * F::ROW + i];
#pragma unroll
        for (int c = 0; c < CHANNELS; c++)
#pragma unroll
            for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
                for (int p = 0; p < PATCHES; p++)
                    sum[c][a][p][tap % STEP] += gradient[p + F::REACH - 1 - tap / STEP] * row[c * TAPS + tap];
    }
}

// Patches are numbered from the first that has a pixel of the input: pixel (y, x) is in patch (y + padding) / STEP.
typedef struct patches {
    int first, down, across; // rows of patches; threads in a row
    int height, width;       // of grad_output
} patches;

// weight: (k, CHANNELS, TAPS, TAPS), grad_output: (n, k, height, width), grad_input: (n, CHANNELS, h, w)
template <int TAPS, int CHANNELS>
__global__ void __launch_bounds__(THREADS) conv2d_patches(heddle_conv2d_shape shape, patches grid, const float *weight,
                                                          const float *grad_output, float *grad_input)
{
    typedef filter<TAPS, CHANNELS> F;
    __shared__ __align__(16) float weights[FILTERS * F::SIZE];
    const int columns = PATCHES + F::REACH - 1; // of grad_output, that a thread's patches see
    const long long index = (long long)blockIdx.x * THREADS + threadIdx.x;
    const int v = grid.first + (int)(index % grid.across) * PATCHES;
    const int u = grid.first + (int)(index / grid.across % grid.down);
    const long long n = index / grid.across / grid.down;
    const int from = v - (F::REACH - 1); // the first of these columns
    const size_t plane = (size_t)grid.height * grid.width;
    float sum[CHANNELS][STEP][PATCHES][STEP] = {};
    for (int first = 0; first < shape.k; first += FILTERS) {
        int count = min((int)FILTERS, shape.k - first);
        __syncthreads();
        load_filters<TAPS, CHANNELS>(first, count, weight, weights);
        __syncthreads();
        for (int k = 0; n < shape.n && k < count; k++) {
            const float *image = grad_output + (n * shape.k + first + k) * plane;
#pragma unroll
            for (int above = 0; above < F::REACH; above++) {
                float gradient[columns];
                bool inside = u >= above && u - above < grid.height;
                const float *row = image + (long long)(u - above) * grid.width + from;
#pragma unroll
                for (int j = 0; j < columns; j++)
                    gradient[j] = inside && (unsigned)(from + j) < (unsigned)grid.width ? row[j] : 0.0f;
                add_row<TAPS, CHANNELS>(weights + k * F::SIZE, above, gradient, sum);
            }
        }
    }
    for (int c = 0; n < shape.n && c < CHANNELS; c++)
#pragma unroll
        for (int a = 0; a < STEP; a++)
#pragma unroll
            for (int i = 0; i < PATCHES * STEP; i++) {
                int y = u * STEP + a - shape.padding, x = v * STEP + i - shape.padding;
                if (y >= 0 && y < shape.h && x >= 0 && x < shape.w)
                    grad_input[((n * CHANNELS + c) * shape.h + y) * shape.w + x] = sum[c][a][i / STEP][i % STEP];
            }
}

static int patches_along(const heddle_conv2d_shape *shape, int extent)
{
    return (extent - 1 + shape->padding) / STEP - shape->padding / STEP + 1;
}

template <int TAPS, int CHANNELS> static void launch_filter(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    patches grid = {shape->padding / STEP, patches_along(shape, shape->h),
                    (int)heddle_ceil_div(patches_along(shape, shape->w), PATCHES),
                    heddle_conv2d_extent(shape, shape->h, shape->r), heddle_conv2d_extent(shape, shape->w, shape->s)};
    unsigned blocks = heddle_ceil_div((long long)shape->n * grid.down * grid.across, THREADS);
    conv2d_patches<TAPS, CHANNELS><<<blocks, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        *shape, grid, (const float *)call->input[0], (const float *)call->input[1], (float *)call->output[0]);
}

template <int TAPS> static void launch_taps(const heddle_call *call)
{
    int channels = ((const heddle_conv2d_shape *)call->shape)->c;
    if (channels == 1)
        launch_filter<TAPS, 1>(call);
    else if (channels == 2)
        launch_filter<TAPS, 2>(call);
    else if (channels == 3)
        launch_filter<TAPS, 3>(call);
    else
        launch_filter<TAPS, 4>(call);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    if (shape->n == 0)
        return HEDDLE_OK;
    if (shape->r == 3)
        launch_taps<3>(call);
    else if (shape->r == 5)
        launch_taps<5>(call);
    else
        launch_taps<7>(call);
    return heddle_cuda_launched("06_patches");
}

HEDDLE_CUDA_RUNG("conv2d_backward_data", "06_patches", launch)
