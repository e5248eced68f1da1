// conv2d, rung 2: tiles in shared memory. A block computes 16 by 16 pixels of an image. It loads what their windows see
// of a channel once, and all its threads read it from there.
//
// Rung 1 reads every element of the input from global memory once per tap of each filter. Here a patch is read once for
// 8 filters, and bounds are checked when it is loaded, not at every multiplication. For the gradient of the weight, the
// tile of grad_output is in shared memory too, and a thread computes one tap of one filter.
//
// Limited by: shared memory. Forward, one load of the patch serves 8 multiplications and one load of the weight (the
// same for the whole warp) serves one. The gradient of the weight needs two loads per multiplication. There is no
// register tile yet.

#include "ops/conv2d/tiled.h"
#include "ops/cuda/rung.h"

enum {
    TILE = CONV2D_TILE,
    PIXELS = TILE * TILE, // threads per block
    FILTERS = CONV2D_TILE_FILTERS,
    GRADIENTS = CONV2D_TILE_GRADIENTS,
};

// The part of a source plane that a tile's windows see: `height` by `width`, starting at (h, w).
typedef struct patch {
    int h, w, height, width;
} patch;

__device__ static int floor_divide(int value, int divisor)
{
    return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

__device__ static patch patch_of(const conv2d_view &view, int y, int x, int height, int width)
{
    patch seen;
    seen.h = floor_divide(y * view.position_step + min(0, (view.rows - 1) * view.tap_step) + view.origin, view.divisor);
    seen.w =
        floor_divide(x * view.position_step + min(0, (view.columns - 1) * view.tap_step) + view.origin, view.divisor);
    seen.height = height;
    seen.width = width;
    return seen;
}

// plane: (view.height, view.width); zeros outside it
__device__ static void load_patch(const conv2d_view &view, const patch &seen, const float *plane, float *shared)
{
    for (int i = threadIdx.x; i < seen.height * seen.width; i += PIXELS) {
        int h = seen.h + i / seen.width, w = seen.w + i % seen.width;
        bool inside = h >= 0 && h < view.height && w >= 0 && w < view.width;
        shared[i] = inside ? plane[(size_t)h * view.width + w] : 0.0f;
    }
}

// Place in the patch that a tap reads along one direction; -1: between two elements of the source.
__device__ static int place_in(const conv2d_view &view, int position, int tap, int begin)
{
    int place = position * view.position_step + tap * view.tap_step + view.origin;
    if (view.divisor == 1)
        return place - begin;
    int whole = floor_divide(place, view.divisor);
    return whole * view.divisor == place ? whole - begin : -1;
}

// source: (images, channels, height, width), output: (images, filters, out_height, out_width). Blocks: tiles of a
// plane, groups of filters, images.
__global__ void conv2d_tiled(conv2d_view view, int patch_height, int patch_width, const float *source,
                             const float *weight, const float *bias, float *output)
{
    extern __shared__ float shared[];
    int taps = view.rows * view.columns, tiles_across = (view.out_width + TILE - 1) / TILE;
    int first_y = blockIdx.x / tiles_across * TILE, first_x = blockIdx.x % tiles_across * TILE;
    int y = first_y + threadIdx.x / TILE, x = first_x + threadIdx.x % TILE, first_filter = blockIdx.y * FILTERS;
    patch seen = patch_of(view, first_y, first_x, patch_height, patch_width);
    float *image = shared, *weights = shared + patch_height * patch_width; // weights: (taps, FILTERS)

    for (size_t n = blockIdx.z; n < (size_t)view.images; n += gridDim.z) {
        float sum[FILTERS] = {};
        for (int c = 0; c < view.channels; c++) {
            __syncthreads(); // the channel before is no longer read
            load_patch(view, seen, source + (n * view.channels + c) * view.height * view.width, image);
            for (int i = threadIdx.x; i < taps * FILTERS; i += PIXELS) {
                int filter = first_filter + i % FILTERS;
                weights[i] =
                    filter < view.filters
                        ? weight[(size_t)filter * view.filter_stride + (size_t)c * view.channel_stride + i / FILTERS]
                        : 0.0f;
            }
            __syncthreads();
            for (int r = 0; r < view.rows; r++)
                for (int s = 0; s < view.columns; s++) {
                    int h = place_in(view, y, r, seen.h), w = place_in(view, x, s, seen.w);
                    if (h < 0 || w < 0)
                        continue;
                    float value = image[h * seen.width + w];
#pragma unroll
                    for (int f = 0; f < FILTERS; f++)
                        sum[f] += value * weights[(r * view.columns + s) * FILTERS + f];
                }
        }
        if (y < view.out_height && x < view.out_width)
            for (int f = 0; f < FILTERS && first_filter + f < view.filters; f++)
                output[((n * view.filters + first_filter + f) * view.out_height + y) * view.out_width + x] =
                    sum[f] + (bias ? bias[first_filter + f] : 0.0f);
    }
}

// input: (n, c, h, w), grad_output: (n, k, out_h, out_w). A block has one channel of GRADIENTS filters and visits all
// tiles of all images. A thread has one tap of one filter; the threads after those have the filters' biases.
__global__ void conv2d_tiled_grad_weight(conv2d_view view, int patch_height, int patch_width, const float *input,
                                         const float *grad_output, float *grad_weight, float *grad_bias)
{
    extern __shared__ float shared[];
    float *image = shared, *gradient = shared + patch_height * patch_width; // gradient: (GRADIENTS, TILE, TILE)
    int taps = view.rows * view.columns, c = blockIdx.x, first_filter = blockIdx.y * GRADIENTS;
    int f = threadIdx.x % GRADIENTS, tap = threadIdx.x / GRADIENTS, r = tap / view.columns, s = tap % view.columns;
    int tiles_across = (view.out_width + TILE - 1) / TILE, tiles = (view.out_height + TILE - 1) / TILE * tiles_across;
    float sum = 0;
    for (long long i = 0; i < (long long)view.images * tiles; i++) {
        size_t n = i / tiles;
        int first_y = (int)(i % tiles) / tiles_across * TILE, first_x = (int)(i % tiles) % tiles_across * TILE;
        patch seen = patch_of(view, first_y, first_x, patch_height, patch_width);
        __syncthreads();
        load_patch(view, seen, input + (n * view.channels + c) * view.height * view.width, image);
        int y = first_y + threadIdx.x / TILE, x = first_x + threadIdx.x % TILE;
        for (int g = 0; g < GRADIENTS; g++) {
            size_t plane = n * view.filters + first_filter + g;
            bool inside = first_filter + g < view.filters && y < view.out_height && x < view.out_width;
            gradient[g * PIXELS + threadIdx.x] =
                inside ? grad_output[(plane * view.out_height + y) * view.out_width + x] : 0.0f;
        }
        __syncthreads();
        int rows = min(TILE, view.out_height - first_y), columns = min(TILE, view.out_width - first_x);
        if (tap <= taps)
            for (int p = 0; p < rows; p++)
                for (int q = 0; q < columns; q++) {
                    int h = p * view.position_step + r * view.tap_step, w = q * view.position_step + s * view.tap_step;
                    float value = tap < taps ? image[h * patch_width + w] : 1.0f;
                    sum += value * gradient[f * PIXELS + p * TILE + q];
                }
    }
    int filter = first_filter + f;
    if (filter < view.filters && tap < taps)
        grad_weight[((size_t)filter * view.channels + c) * taps + tap] = sum;
    else if (filter < view.filters && tap == taps && c == 0 && grad_bias)
        grad_bias[filter] = sum;
}

static void launch(const heddle_call *call, conv2d_view view, const float *source, const float *weight,
                   const float *bias, float *output)
{
    if (conv2d_pixels(&view) == 0)
        return;
    const int most_images = 65535; // of a grid's third dimension; if there are more, a block loops
    dim3 grid(heddle_ceil_div(view.out_height, TILE) * heddle_ceil_div(view.out_width, TILE),
              heddle_ceil_div(view.filters, FILTERS), view.images < most_images ? view.images : most_images);
    size_t bytes = sizeof(float) * (conv2d_patch_floats(&view) + (size_t)FILTERS * conv2d_taps(&view));
    conv2d_tiled<<<grid, PIXELS, bytes, heddle_cuda_stream_of(call)>>>(
        view, conv2d_patch(&view, view.rows), conv2d_patch(&view, view.columns), source, weight, bias, output);
}

static heddle_status launch_forward(const heddle_call *call)
{
    launch(call, conv2d_view_forward((const heddle_conv2d_shape *)call->shape), (const float *)call->input[0],
           (const float *)call->input[1], (const float *)call->input[2], (float *)call->output[0]);
    return heddle_cuda_launched("02_tiled");
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    launch(call, conv2d_view_backward_data((const heddle_conv2d_shape *)call->shape), (const float *)call->input[1],
           (const float *)call->input[0], NULL, (float *)call->output[0]);
    return heddle_cuda_launched("02_tiled");
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    conv2d_view view = conv2d_view_forward((const heddle_conv2d_shape *)call->shape);
    dim3 grid(view.channels, heddle_ceil_div(view.filters, GRADIENTS));
    size_t bytes = sizeof(float) * (conv2d_patch_floats(&view) + GRADIENTS * PIXELS);
    conv2d_tiled_grad_weight<<<grid, PIXELS, bytes, heddle_cuda_stream_of(call)>>>(
        view, conv2d_patch(&view, view.rows), conv2d_patch(&view, view.columns), (const float *)call->input[0],
        (const float *)call->input[1], (float *)call->output[0], (float *)call->output[1]);
    return heddle_cuda_launched("02_tiled");
}

HEDDLE_CUDA_RUNG("conv2d_forward", "02_tiled", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "02_tiled", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_backward_weight", "02_tiled", launch_backward_weight)
