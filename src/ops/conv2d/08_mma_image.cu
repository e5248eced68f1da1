// conv2d, rung 8: tensor cores, 3x3 windows straight from the image. Factors are rounded to tf32, sums are float32.
//
// Rung 7 gathers and rounds every element nine times, and feeds the tensor cores by two loads of 4 bytes per product.
// Here 8 channels of 14 rows lie in shared memory once. The nine taps read the same rows, shifted: a product's 16
// pixels are a run of one row, wherever it starts. The weight was packed in the order in which lanes need it, 16 bytes
// for two products. A warp has 7 rows by 32 filters: it keeps a column of three taps in registers while it slides down
// the rows, and a row's fragment, loaded once, serves all three: 42 loads for 84 products. Lanes' places in the image
// are the same in every step, so they are computed once.
//
// Limited by: latency. All warps of a block stop at the barrier after every 8 channels. With few channels, no products
// hide the first step's loads and the last stores. If rows are 14 long, 2 of the 16 pixels of a product are idle.

#include "ops/conv2d/fragments.h"
#include "ops/cuda/mma.h"
#include "ops/cuda/rung.h"

enum {
    SIDE = 3,
    TAPS = 9,
    ROWS = CONV2D_MMA_ROWS, // 14
    PIXELS = CONV2D_MMA_PIXELS,
    FILTERS = CONV2D_MMA_FILTERS,   // 64
    CHANNELS = CONV2D_MMA_CHANNELS, // 8
    WARP_ROWS = 7,
    WARP_FILTERS = 32,
    WARPS_DOWN = ROWS / WARP_ROWS, // 2
    WARPS = WARPS_DOWN * FILTERS / WARP_FILTERS,
    THREADS = WARPS * 32,
    WARP_CHANNELS = CHANNELS / WARPS, // that a warp loads
    SEEN_ROWS = ROWS + SIDE - 1,      // 16
    SEEN = PIXELS + SIDE - 1,         // 18 pixels of a row
    CHANNEL = SEEN_ROWS * SEEN + 8,   // floats; 8 banks from channel to channel: 4 of them by 8 pixels hit 32 banks
    PLACES = SEEN_ROWS * SEEN / 32,   // 9, per lane in each of them
    PRODUCTS = WARP_FILTERS / 8,      // adjacent, of 8 filters each
    LANE_WEIGHTS = 4,                 // per lane for two products
    PAIR = 32 * LANE_WEIGHTS,         // weights of two products
    TAP = FILTERS * CHANNELS,         // weights of a tap and step
    STEP = TAPS * TAP,
};
static_assert(WARP_CHANNELS * WARPS == CHANNELS && PLACES * 32 == SEEN_ROWS * SEEN, "every lane loads as much");

typedef struct stage {
    uint32_t image[CHANNELS][CHANNEL];
    uint32_t weight[STEP];
} stage;

// packed: (filters / 64, channels / 8, 9, 4 pairs of products, 32 lanes, 4) in tf32, zeros beyond the filters and
// channels
__global__ void conv2d_pack_fragments(conv2d_view view, bool flipped, int steps, size_t size, const float *weight,
                                      uint32_t *packed)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size)
        return;
    int part = (int)(at % LANE_WEIGHTS), lane = (int)(at / LANE_WEIGHTS % 32), within = (int)(at % TAP);
    int tap = (int)(at / TAP % TAPS), step = (int)(at / STEP % steps), block = (int)(at / STEP / steps);
    int product = within / (LANE_WEIGHTS * 32) * 2 + part / 2;
    int channel = step * CHANNELS + lane % 4 + part % 2 * 4, filter = block * FILTERS + product * 8 + lane / 4;
    float value = 0;
    if (channel < view.channels && filter < view.filters)
        value = weight[(size_t)filter * view.filter_stride + (size_t)channel * view.channel_stride +
                       (flipped ? TAPS - 1 - tap : tap)];
    packed[at] = mma_to_tf32(value);
}

// The work of a block: `rows` from y on, PIXELS from x on, of image n.
typedef struct band_place {
    int n, y, x;
} band_place;

// Where this lane's places lie in a channel; -1: outside the image, or not needed.
__device__ static void find_places(const conv2d_view &view, const band_place &place, int strip, int at[PLACES])
{
#pragma unroll
    for (int i = 0; i < PLACES; i++) {
        int within = threadIdx.x % 32 + i * 32, column = within % SEEN;
        int h = place.y + within / SEEN + view.origin, w = place.x + column + view.origin;
        bool inside = column < strip + SIDE - 1 && h >= 0 && h < view.height && w >= 0 && w < view.width;
        at[i] = inside ? h * view.width + w : -1;
    }
}

// This warp's channels, of which `left` are still to come, at this lane's places.
__device__ static void load_image(const float *from, size_t plane, int left, const int at[PLACES],
                                  float value[WARP_CHANNELS][PLACES])
{
#pragma unroll
    for (int c = 0; c < WARP_CHANNELS; c++, from += plane)
#pragma unroll
        for (int i = 0; i < PLACES; i++)
            value[c][i] = c < left && at[i] >= 0 ? from[at[i]] : 0.0f;
}

__device__ static void store_image(const float value[WARP_CHANNELS][PLACES], stage &to)
{
#pragma unroll
    for (int c = 0; c < WARP_CHANNELS; c++)
#pragma unroll
        for (int i = 0; i < PLACES; i++)
            to.image[threadIdx.x / 32 * WARP_CHANNELS + c][threadIdx.x % 32 + i * 32] = mma_to_tf32(value[c][i]);
}

// Starts the copies of a step's weights.
__device__ static void fetch_weight(const uint32_t *packed, uint32_t *weight)
{
    for (int i = threadIdx.x * 4; i < STEP; i += THREADS * 4)
        cp_async_16(&weight[i], &packed[i]);
}

// row, filter: of the warp's part of the block's
__device__ static void multiply(const stage &from, int row, int filter, float sum[WARP_ROWS][PRODUCTS][4])
{
    int lane = threadIdx.x % 32;
    const uint32_t *image = &from.image[lane % 4][row * SEEN + lane / 4];
    const uint32_t *weight = from.weight + filter / 16 * PAIR + lane * LANE_WEIGHTS;
#pragma unroll 1 // one column's loads in registers at a time
    for (int column = 0; column < SIDE; column++) {
        __align__(16) uint32_t b[SIDE][PRODUCTS][2];
#pragma unroll
        for (int tap = 0; tap < SIDE; tap++)
#pragma unroll
            for (int p = 0; p < PRODUCTS; p += 2)
                *(uint4 *)b[tap][p] = *(const uint4 *)&weight[(tap * SIDE + column) * TAP + p / 2 * PAIR];
#pragma unroll
        for (int y = 0; y < WARP_ROWS + SIDE - 1; y++) {
            uint32_t a[4];
#pragma unroll
            for (int j = 0; j < 4; j++) // pixels lane / 4 and 8 further on, channels lane % 4 and 4 further on
                a[j] = image[j / 2 * 4 * CHANNEL + y * SEEN + column + j % 2 * 8];
#pragma unroll
            for (int tap = 0; tap < SIDE; tap++) {
                if (y < tap || y - tap >= WARP_ROWS)
                    continue;
#pragma unroll
                for (int p = 0; p < PRODUCTS; p++)
                    mma_m16n8k8_tf32(sum[y - tap][p], a, b[tap][p], sum[y - tap][p]);
            }
        }
    }
}

// row, first_filter: of the warp
__device__ static void store(const conv2d_view &view, const band_place &place, int strip, int row, int first_filter,
                             const float *bias, const float sum[WARP_ROWS][PRODUCTS][4], float *output)
{
    int lane = threadIdx.x % 32;
    size_t plane = (size_t)view.out_height * view.out_width;
    float shift[PRODUCTS * 2]; // loaded before the first store, or the loads would wait behind it
#pragma unroll
    for (int p = 0; p < PRODUCTS * 2; p++) {
        int filter = first_filter + p / 2 * 8 + lane % 4 * 2 + p % 2;
        shift[p] = bias && filter < view.filters ? bias[filter] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < WARP_ROWS * 2; i++) {
        int y = place.y + row + i / 2, pixel = i % 2 * 8 + lane / 4, x = place.x + pixel;
        if (y >= view.out_height || x >= view.out_width || pixel >= strip)
            continue;
        float *to = output + (size_t)place.n * view.filters * plane + (size_t)y * view.out_width + x;
#pragma unroll
        for (int p = 0; p < PRODUCTS * 2; p++) {
            int filter = first_filter + p / 2 * 8 + lane % 4 * 2 + p % 2;
            if (filter < view.filters)
                to[filter * plane] = sum[i / 2][p / 2][i % 2 * 2 + p % 2] + shift[p];
        }
    }
}

// source: (images, channels, height, width), output: (images, filters, out_height, out_width). Blocks: strips of bands
// of images, filters.
__global__ void __launch_bounds__(THREADS, 2)
    conv2d_mma_image(conv2d_view view, int strip, int strips, int bands, const float *source, const uint32_t *packed,
                     const float *bias, float *output)
{
    extern __shared__ __align__(16) stage stages[];
    int steps = (view.channels + CHANNELS - 1) / CHANNELS;
    band_place place = {(int)(blockIdx.x / strips / bands), (int)(blockIdx.x / strips % bands) * ROWS,
                        (int)(blockIdx.x % strips) * strip};
    packed += (size_t)blockIdx.y * steps * STEP;

    int warp = threadIdx.x / 32, row = warp % WARPS_DOWN * WARP_ROWS, filter = warp / WARPS_DOWN * WARP_FILTERS;
    size_t plane = (size_t)view.height * view.width;
    const float *from = source + ((size_t)place.n * view.channels + warp * WARP_CHANNELS) * plane;
    float sum[WARP_ROWS][PRODUCTS][4] = {}, value[WARP_CHANNELS][PLACES];
    int at[PLACES];
    find_places(view, place, strip, at);
    for (int step = 0; step <= steps; step++) {
        if (step < steps) {
            load_image(from, plane, view.channels - step * CHANNELS - warp * WARP_CHANNELS, at, value);
            from += CHANNELS * plane;
            fetch_weight(packed, stages[step % 2].weight);
            packed += STEP;
        }
        if (step > 0)
            multiply(stages[(step - 1) % 2], row, filter, sum);
        if (step < steps)
            store_image(value, stages[step % 2]);
        cp_async_wait_all();
        __syncthreads();
    }
    store(view, place, strip, row, blockIdx.y * FILTERS + filter, bias, sum, output);
}

static heddle_status launch(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                            const float *bias, float *output)
{
    if (conv2d_pixels(&view) == 0)
        return HEDDLE_OK;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    uint32_t *packed = (uint32_t *)call->workspace;
    int steps = conv2d_round_up(view.channels, CHANNELS) / CHANNELS;
    size_t size = conv2d_fragments_bytes(&view) / sizeof *packed;
    bool flipped = view.tap_step < 0;
    conv2d_pack_fragments<<<heddle_cuda_blocks(size), HEDDLE_CUDA_BLOCK, 0, stream>>>(view, flipped, steps, size,
                                                                                      weight, packed);
    if (flipped)
        view.origin -= SIDE - 1;
    int strip = conv2d_mma_strip(view.out_width), strips = conv2d_round_up(view.out_width, strip) / strip;
    int bands = conv2d_round_up(view.out_height, ROWS) / ROWS;
    dim3 grid((unsigned)view.images * bands * strips, heddle_ceil_div(view.filters, FILTERS));
    size_t bytes = 2 * sizeof(stage); // more than the 48 KiB that a kernel has without a request
    cudaFuncSetAttribute(conv2d_mma_image, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    conv2d_mma_image<<<grid, THREADS, bytes, stream>>>(view, strip, strips, bands, source, packed, bias, output);
    return heddle_cuda_launched("08_mma_image");
}

static heddle_status launch_forward(const heddle_call *call)
{
    return launch(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
                  (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    return launch(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape),
                  (const float *)call->input[1], (const float *)call->input[0], NULL, (float *)call->output[0]);
}

HEDDLE_CUDA_RUNG("conv2d_forward", "08_mma_image", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "08_mma_image", launch_backward_data)
