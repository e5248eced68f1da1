// conv2d's gradient of the weight, rung 8: tensor cores, 3x3 windows straight from the image. Factors are rounded to
// tf32, sums are float32.
//
// Rung 5 is limited by multiplications. On tensor cores, each of the nine taps is a product: grad_output, filters by
// pixels, times the image shifted by the tap, pixels by channels. The 9 products share everything but the shift. Bands
// of two rows lie in shared memory as in rung 5, rounded when they are stored. A warp has 16 filters by 16 channels by
// 9 taps, 18 products for every 8 pixels of a row. Rows of the tiles start 4 banks apart, so that the 8 rows by 4
// pixels of a fragment lie in 32 banks. A strip of 14 pixels is padded with zeros to 16.
//
// Limited by: shared memory. Shifted by one pixel, a fragment is another load: 40 for 18 products.

#include "ops/conv2d/bands.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"

enum {
    SIDE = 3,
    TAPS = 9,
    FILTERS = CONV2D_SLIDING_FILTERS,   // 64, per block: 4 warps
    CHANNELS = CONV2D_SLIDING_CHANNELS, // 32: 2 warps
    THREADS = 256,
    WARP_FILTERS = 16, // m16n8k8
    WARP_CHANNELS = 16,
    PRODUCTS = WARP_CHANNELS / 8,
    DEPTH = 8,
    ROWS = CONV2D_SLIDING_ROWS,   // 2, of the band
    STRIP = CONV2D_SLIDING_STRIP, // 14 columns of it
    PIXELS = 16,                  // the same as whole products
    SEEN_ROWS = ROWS + SIDE - 1,
    COPIED = STRIP + SIDE - 1,                    // 16 columns of the image
    SEEN = PIXELS + SIDE - 1,                     // 18, with what the zeros are multiplied by
    CHANNEL = SEEN_ROWS * SEEN + 28,              // 100: 4 banks from channel to channel
    FILTER = ROWS * PIXELS + 4,                   // 36: likewise from filter to filter
    IMAGE_APART = THREADS / (SEEN_ROWS * COPIED), // a thread copies an element of every 4th channel
    GRADIENT_APART = THREADS / 32,                // and of every 8th filter: a warp copies the strips of one
    IMAGE_COPIES = CHANNELS / IMAGE_APART,        // 8
    GRADIENT_COPIES = FILTERS / GRADIENT_APART,   // 8
};
static_assert(SEEN_ROWS * COPIED * IMAGE_APART == THREADS && ROWS * STRIP <= 32, "a thread's place does not change");
static_assert(CHANNEL % 32 == 4 && FILTER % 32 == 4, "fragments lie in 32 banks");

typedef struct bands {
    uint32_t image[CHANNELS][CHANNEL];
    uint32_t gradient[FILTERS][FILTER];
} bands;

// A thread's elements of a band, on the way to shared memory.
typedef struct elements {
    float image[IMAGE_COPIES], gradient[GRADIENT_COPIES];
} elements;

// Whatever lies outside the image or beyond the last channel, filter or row is 0.
__device__ static void load(const conv2d_view &view, const band_place &place, const float *input,
                            const float *grad_output, elements &to)
{
    int c = threadIdx.x / (SEEN_ROWS * COPIED), within = threadIdx.x % (SEEN_ROWS * COPIED);
    int h = place.y + within / COPIED + view.origin, w = place.x + within % COPIED + view.origin;
    bool inside = h >= 0 && h < view.height && w >= 0 && w < view.width;
    int channels = inside ? view.channels - blockIdx.x * CHANNELS : 0; // that are left
    size_t plane = (size_t)view.height * view.width;
    const float *from =
        input + ((size_t)place.n * view.channels + blockIdx.x * CHANNELS + c) * plane + (long long)h * view.width + w;
#pragma unroll
    for (int i = 0; i < IMAGE_COPIES; i++, from += IMAGE_APART * plane)
        to.image[i] = i * IMAGE_APART + c < channels ? *from : 0.0f;

    int f = threadIdx.x / 32, pixel = threadIdx.x % 32, y = place.y + pixel / STRIP, x = place.x + pixel % STRIP;
    inside = pixel < ROWS * STRIP && y < view.out_height;
    int filters = inside ? view.filters - blockIdx.y * FILTERS : 0;
    plane = (size_t)view.out_height * view.out_width;
    from = grad_output + ((size_t)place.n * view.filters + blockIdx.y * FILTERS + f) * plane +
           (size_t)y * view.out_width + x;
#pragma unroll
    for (int i = 0; i < GRADIENT_COPIES; i++, from += GRADIENT_APART * plane)
        to.gradient[i] = i * GRADIENT_APART + f < filters ? *from : 0.0f;
}

// Stores to shared memory in tf32; the biases are summed before rounding.
__device__ static void put(const elements &from, bands &to, float bias[GRADIENT_COPIES])
{
    int c = threadIdx.x / (SEEN_ROWS * COPIED), within = threadIdx.x % (SEEN_ROWS * COPIED);
#pragma unroll
    for (int i = 0; i < IMAGE_COPIES; i++)
        to.image[i * IMAGE_APART + c][within / COPIED * SEEN + within % COPIED] = mma_to_tf32(from.image[i]);
    int f = threadIdx.x / 32, pixel = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < GRADIENT_COPIES; i++) {
        bias[i] += from.gradient[i];
        if (pixel < ROWS * STRIP)
            to.gradient[i * GRADIENT_APART + f][pixel / STRIP * PIXELS + pixel % STRIP] = mma_to_tf32(from.gradient[i]);
    }
}

// filter, channel: of the warp's tile in the block's
__device__ static void multiply(const bands &band, int row, int filter, int channel, float sum[TAPS][PRODUCTS][4])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int x = 0; x < PIXELS; x += DEPTH) {
        uint32_t a[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            a[i] = band.gradient[filter + lane / 4 + i % 2 * 8][row * PIXELS + x + lane % 4 + i / 2 * 4];
#pragma unroll
        for (int t = 0; t < TAPS; t++)
#pragma unroll
            for (int p = 0; p < PRODUCTS; p++) {
                uint32_t b[2];
#pragma unroll
                for (int i = 0; i < 2; i++)
                    b[i] = band.image[channel + p * 8 + lane / 4]
                                     [(row + t / SIDE) * SEEN + x + t % SIDE + lane % 4 + i * 4];
                mma_m16n8k8_tf32(sum[t][p], a, b, sum[t][p]);
            }
    }
}

__device__ static void store(const conv2d_view &view, int filter, int channel, const float sum[TAPS][PRODUCTS][4],
                             const float bias[GRADIENT_COPIES], float *part)
{
    int lane = threadIdx.x % 32;
    filter += blockIdx.y * FILTERS + lane / 4;
    channel += blockIdx.x * CHANNELS + lane % 4 * 2;
#pragma unroll
    for (int p = 0; p < PRODUCTS; p++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int f = filter + i / 2 * 8, c = channel + p * 8 + i % 2;
            if (f >= view.filters || c >= view.channels)
                continue;
#pragma unroll
            for (int t = 0; t < TAPS; t++)
                part[((size_t)f * view.channels + c) * TAPS + t] = sum[t][p][i];
        }
    if (blockIdx.x > 0)
        return;
#pragma unroll
    for (int i = 0; i < GRADIENT_COPIES; i++) {
        float total = bias[i];
        for (int lanes = 16; lanes > 0; lanes /= 2)
            total += __shfl_xor_sync(0xffffffff, total, lanes);
        int f = blockIdx.y * FILTERS + threadIdx.x / 32 + i * GRADIENT_APART;
        if (lane == 0 && f < view.filters)
            part[(size_t)view.filters * view.filter_stride + f] = total;
    }
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w), parts: (gridDim.z, part)
__global__ void __launch_bounds__(THREADS, 2)
    conv2d_mma_window(conv2d_view view, long long band_count, const float *input, const float *grad_output,
                      float *parts)
{
    __shared__ __align__(16) bands band[2];
    int warp = threadIdx.x / 32, filter = warp % (FILTERS / WARP_FILTERS) * WARP_FILTERS;
    int channel = warp / (FILTERS / WARP_FILTERS) * WARP_CHANNELS;
    long long first = band_count * blockIdx.z / gridDim.z, end = band_count * (blockIdx.z + 1) / gridDim.z;
    for (int i = threadIdx.x; i < (int)(sizeof band / sizeof(uint32_t)); i += THREADS)
        ((uint32_t *)band)[i] = 0;
    __syncthreads();

    band_place place = place_of(view, first);
    elements on_the_way;
    float sum[TAPS][PRODUCTS][4] = {}, bias[GRADIENT_COPIES] = {};
    for (long long b = first; b <= end; b++) {
        if (b < end) {
            load(view, place, input, grad_output, on_the_way);
            advance(view, place);
        }
        if (b > first) {
#pragma unroll 1
            for (int row = 0; row < ROWS; row++)
                multiply(band[(b - 1 - first) % 2], row, filter, channel, sum);
        }
        if (b < end)
            put(on_the_way, band[(b - first) % 2], bias);
        __syncthreads();
    }
    store(view, filter, channel, sum, bias, parts + blockIdx.z * ((size_t)view.filters * (view.filter_stride + 1)));
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    int count = conv2d_sliding_parts(&view);
    dim3 grid(heddle_ceil_div(view.channels, CHANNELS), heddle_ceil_div(view.filters, FILTERS), count);
    float *parts = (float *)call->workspace;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    conv2d_mma_window<<<grid, THREADS, 0, stream>>>(view, conv2d_sliding_bands(&view), (const float *)call->input[0],
                                                    (const float *)call->input[1], parts);
    conv2d_launch_add_parts(stream, &view, count, parts, (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("08_mma_window");
}

HEDDLE_CUDA_RUNG("conv2d_backward_weight", "08_mma_window", launch_backward_weight)
