// conv2d's gradient of the weight, rung 5: 3x3 windows, stride 1, straight from the image. A thread holds all 9 taps of
// a channel for 8 filters, and slides its window along the row.
//
// Rung 4 gathers every element of the input once per tap. Here bands of two rows lie in shared memory unchanged. From
// one pixel to the next, a window loads 3 new numbers, and the gradients of 8 filters come with 4 loads of 8 bytes, the
// same for the whole warp: 72 multiplications. A lane is a channel, a warp 8 filters: one block has 64 filters by 32
// channels by 9 taps, 72 sums per thread. Asynchronous copies load the next band meanwhile; its border is cleared once.
//
// Limited by: issuing the multiplications. They are nine tenths of the inner loop's instructions, but many wait for
// dispatch, most likely because of register bank conflicts: 72 sums leave the compiler little choice of registers.

#include "ops/conv2d/bands.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"

enum {
    SIDE = 3, // of the window
    TAPS = 9,
    FILTERS = CONV2D_SLIDING_FILTERS,   // 64
    CHANNELS = CONV2D_SLIDING_CHANNELS, // 32: one per lane
    EACH = 8,                           // filters per thread
    THREADS = CHANNELS * FILTERS / EACH,
    ROWS = CONV2D_SLIDING_ROWS,   // of the band
    STRIP = CONV2D_SLIDING_STRIP, // 14 columns of it
    SEEN_ROWS = ROWS + SIDE - 1,
    SEEN = STRIP + SIDE - 1,                    // columns that the windows see
    CHANNEL = SEEN_ROWS * SEEN + 1,             // odd: the channels of a warp lie in different banks
    IMAGE_APART = THREADS / (SEEN_ROWS * SEEN), // a thread copies an element of every 4th channel
    GRADIENT_APART = THREADS / 32,              // and of every 8th filter: a warp copies the strips of one
    BIAS_THREADS = THREADS / FILTERS,           // that share a filter's sum
    STAGES = 2,
};
static_assert(SEEN_ROWS * SEEN * IMAGE_APART == THREADS && ROWS * STRIP <= 32, "a thread's place does not change");

typedef struct bands {
    float image[CHANNELS][CHANNEL];
    float gradient[FILTERS][ROWS * STRIP];
} bands;

// Starts the copies of a band. Whatever lies outside the image or beyond the last channel, filter or row is 0.
__device__ static void fetch(const conv2d_view &view, band_place place, const float *input, const float *grad_output,
                             bands &to)
{
    int c = threadIdx.x / (SEEN_ROWS * SEEN), within = threadIdx.x % (SEEN_ROWS * SEEN);
    int h = place.y + within / SEEN + view.origin, w = place.x + within % SEEN + view.origin;
    int channels = view.channels - blockIdx.x * CHANNELS; // that are left
    size_t plane = (size_t)view.height * view.width;
    const float *from =
        input + ((size_t)place.n * view.channels + blockIdx.x * CHANNELS + c) * plane + (long long)h * view.width + w;
    if (h < 0 || h >= view.height || w < 0 || w >= view.width)
        channels = 0;
#pragma unroll
    for (int i = 0; i < CHANNELS; i += IMAGE_APART, from += IMAGE_APART * plane)
        if (i + c < channels)
            cp_async_4(&to.image[i + c][within], from);
        else
            to.image[i + c][within] = 0;

    int f = threadIdx.x / 32, pixel = threadIdx.x % 32;
    if (pixel >= ROWS * STRIP)
        return;
    int y = place.y + pixel / STRIP, x = place.x + pixel % STRIP;
    int filters = y < view.out_height ? view.filters - blockIdx.y * FILTERS : 0;
    plane = (size_t)view.out_height * view.out_width;
    from = grad_output + ((size_t)place.n * view.filters + blockIdx.y * FILTERS + f) * plane +
           (size_t)y * view.out_width + x;
#pragma unroll
    for (int i = 0; i < FILTERS; i += GRADIENT_APART, from += GRADIENT_APART * plane)
        if (i + f < filters)
            cp_async_4(&to.gradient[i + f][pixel], from);
        else
            to.gradient[i + f][pixel] = 0;
}

__device__ static void slide(const bands &band, int row, int channel, int filter, float sum[EACH][TAPS])
{
    float window[SIDE][SEEN]; // only three columns of it are live at a time
#pragma unroll
    for (int r = 0; r < SIDE; r++)
#pragma unroll
        for (int s = 0; s < SIDE - 1; s++)
            window[r][s] = band.image[channel][(row + r) * SEEN + s];
#pragma unroll
    for (int x = 0; x < STRIP; x += 2) {
        float2 gradient[EACH];
#pragma unroll
        for (int f = 0; f < EACH; f++)
            gradient[f] = *(const float2 *)&band.gradient[filter + f][row * STRIP + x];
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int r = 0; r < SIDE; r++)
                window[r][x + i + SIDE - 1] = band.image[channel][(row + r) * SEEN + x + i + SIDE - 1];
#pragma unroll
            for (int f = 0; f < EACH; f++)
#pragma unroll
                for (int t = 0; t < TAPS; t++)
                    sum[f][t] += (i ? gradient[f].y : gradient[f].x) * window[t / SIDE][x + i + t % SIDE];
        }
    }
}

__device__ static float sum_gradient(const bands &band)
{
    float sum = 0;
    for (int i = threadIdx.x % BIAS_THREADS; i < ROWS * STRIP; i += BIAS_THREADS)
        sum += band.gradient[threadIdx.x / BIAS_THREADS][i];
    return sum;
}

__device__ static void store(const conv2d_view &view, int channel, int filter, const float sum[EACH][TAPS], float bias,
                             float *part)
{
    channel += blockIdx.x * CHANNELS;
    filter += blockIdx.y * FILTERS;
#pragma unroll
    for (int f = 0; f < EACH; f++)
        if (channel < view.channels && filter + f < view.filters) {
#pragma unroll
            for (int t = 0; t < TAPS; t++)
                part[((size_t)(filter + f) * view.channels + channel) * TAPS + t] = sum[f][t];
        }
    for (int lanes = BIAS_THREADS / 2; lanes > 0; lanes /= 2)
        bias += __shfl_xor_sync(0xffffffff, bias, lanes);
    filter = blockIdx.y * FILTERS + threadIdx.x / BIAS_THREADS;
    if (blockIdx.x == 0 && threadIdx.x % BIAS_THREADS == 0 && filter < view.filters)
        part[(size_t)view.filters * view.filter_stride + filter] = bias;
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), parts: (gridDim.z, part)
__global__ void __launch_bounds__(THREADS, 2)
    conv2d_sliding_window(conv2d_view view, long long band_count, const float *input, const float *grad_output,
                          float *parts)
{
    __shared__ __align__(16) bands band[STAGES];
    int channel = threadIdx.x % CHANNELS, filter = threadIdx.x / CHANNELS * EACH;
    long long first = band_count * blockIdx.z / gridDim.z, end = band_count * (blockIdx.z + 1) / gridDim.z;

    float sum[EACH][TAPS] = {}, bias = 0;
    band_place place = place_of(view, first);
    if (first < end)
        fetch(view, place, input, grad_output, band[0]);
    for (long long b = first; b < end; b++) {
        const bands &now = band[(b - first) % 2];
        cp_async_wait_all();
        __syncthreads(); // this band has arrived, and the other is no longer read
        advance(view, place);
        if (b + 1 < end)
            fetch(view, place, input, grad_output, band[(b + 1 - first) % 2]);
#pragma unroll 1
        for (int row = 0; row < ROWS; row++)
            slide(now, row, channel, filter, sum);
        if (blockIdx.x == 0)
            bias += sum_gradient(now);
    }
    store(view, channel, filter, sum, bias, parts + blockIdx.z * ((size_t)view.filters * (view.filter_stride + 1)));
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    int count = conv2d_sliding_parts(&view);
    dim3 grid(heddle_ceil_div(view.channels, CHANNELS), heddle_ceil_div(view.filters, FILTERS), count);
    float *parts = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    conv2d_sliding_window<<<grid, THREADS, 0, stream>>>(
        view, conv2d_sliding_bands(&view), (const float *)call->input[0], (const float *)call->input[1], parts);
    conv2d_launch_add_parts(stream, &view, count, parts, (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("05_sliding_window");
}

HEDDLE_CUDA_RUNG("conv2d_backward_weight", "05_sliding_window", launch_backward_weight)
