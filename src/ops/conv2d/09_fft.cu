// conv2d, rung 9: by Fourier transforms. Planes of image and filter are transformed to the frequency domain, where a
// convolution of two planes is one product per frequency. The products are summed over channels there, and the sums are
// transformed back. The rungs before do r * s multiplications per pixel and pair of channels; this one does about one.
// The transforms cost log2 of the image's size per plane, whatever the filter's size.
//
// One kernel reads and writes rows of spectra, another columns, in place. Zeros around the planes are never stored, and
// results are written directly to their place. A bias is added to frequency 0, and the gradient of the bias is read
// there.
//
// Images are first cut into tiles, and the results joined, if that makes all lengths powers of two with fewer numbers
// than padding would, or if one kernel cannot transform a whole line: see frequency.h.
//
// Limited by: memory bandwidth. Each plane moves through memory twice, for rows and columns, and each spectrum once
// more.

#include "device/cuda/check.h"
#include "ops/conv2d/frequency.h"
#include "ops/cuda/rung.h"
#include "ops/fft/butterflies.h"
#include "ops/fft/launch.h"
#include "ops/fft/roots.h"

enum {
    // Images by filters whose sums a thread keeps: 8 numbers are read for 16 products.
    PRODUCT_TILE = 4,
};

typedef struct product_spectra {
    const float2 *image, *filter;
    float2 *result;
    const float *bias; // or NULL: is added to the result of filter j
} product_spectra;

// a * b, or a * conj(b) if sign is -1, added to sum.
__device__ __forceinline__ static float2 multiply_add(float2 a, float2 b, float sign, float2 sum)
{
    b.y *= sign;
    return make_float2(fmaf(a.x, b.x, fmaf(-a.y, b.y, sum.x)), fmaf(a.x, b.y, fmaf(a.y, b.x, sum.y)));
}

// exp(-2πi (row * move_rows / rows + column * move_columns / columns))
__device__ static float2 factor_of_move(const conv2d_frequency &plan, int row, int column)
{
    // Lengths are far below 2^16 if one kernel transforms them.
    unsigned down = (unsigned)row * plan.move_rows % plan.rows;
    unsigned across = (unsigned)column * plan.move_columns % plan.columns;
    return complex_multiply(fft_root(down, plan.rows), fft_root(across, plan.columns));
}

// One thread per frequency and TILE by TILE results. It reads all values of its frequency before it writes any, so if
// one tile holds all results, they may overwrite the image's spectra.
template <int TILE>
__global__ void __launch_bounds__(HEDDLE_CUDA_BLOCK)
    multiply_spectra(conv2d_frequency plan, unsigned blocks, unsigned across, product_spectra spectra)
{
    unsigned frequency = blockIdx.x % blocks * HEDDLE_CUDA_BLOCK + threadIdx.x, tile = blockIdx.x / blocks;
    int row = (int)(frequency / plan.half), column = (int)(frequency % plan.half);
    int i0 = (int)(tile / across) * TILE, j0 = (int)(tile % across) * TILE;
    size_t at = (size_t)row * plan.pitch + column, spectrum = (size_t)plan.rows * plan.pitch;
    if (row >= plan.rows)
        return;
    const float2 *image[TILE], *filter[TILE];
    float2 sum[TILE][TILE] = {};
#pragma unroll
    for (int t = 0; t < TILE; t++) { // beyond the last: the last one again
        image[t] = spectra.image + at + spectrum * plan.image_step * min(i0 + t, plan.images - 1);
        filter[t] = spectra.filter + at + spectrum * plan.filter_step * min(j0 + t, plan.filters - 1);
    }
    float sign = plan.conjugate ? -1.0f : 1.0f;
    for (int q = 0; q < plan.sum; q++) {
        float2 a[TILE], b[TILE];
#pragma unroll
        for (int t = 0; t < TILE; t++) {
            a[t] = image[t][q * (plan.image_sum * spectrum)];
            b[t] = filter[t][q * (plan.filter_sum * spectrum)];
        }
#pragma unroll
        for (int i = 0; i < TILE; i++)
#pragma unroll
            for (int j = 0; j < TILE; j++)
                sum[i][j] = multiply_add(a[i], b[j], sign, sum[i][j]);
    }
    float2 move = factor_of_move(plan, row, column);
    float all = frequency == 0 && spectra.bias ? (float)plan.rows * plan.columns : 0;
#pragma unroll
    for (int i = 0; i < TILE; i++)
#pragma unroll
        for (int j = 0; j < TILE; j++) {
            if (i0 + i >= plan.images || j0 + j >= plan.filters)
                continue;
            float2 value = complex_multiply(sum[i][j], move);
            if (all > 0)
                value.x = fmaf(all, spectra.bias[j0 + j], value.x);
            size_t plane = (size_t)(i0 + i) * plan.result_image + (size_t)(j0 + j) * plan.result_filter;
            spectra.result[at + spectrum * plane] = value;
        }
}

// filter spectra of grad_output, (n, k) planes: frequency 0 is the sum of a plane.
__global__ void sum_of_planes(conv2d_frequency plan, const float2 *filter, float *grad_bias)
{
    int k = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    size_t spectrum = (size_t)plan.rows * plan.pitch;
    if (k >= plan.filters)
        return;
    float sum = 0;
    for (int n = 0; n < plan.sum; n++)
        sum += filter[spectrum * ((size_t)n * plan.filter_sum + k)].x;
    grad_bias[k] = sum;
}

static void multiply(const conv2d_frequency *plan, const product_spectra *spectra, cudaStream_t stream)
{
    int tile = plan->images == 1 && plan->filters == 1 ? 1 : PRODUCT_TILE;
    unsigned blocks = heddle_ceil_div((long long)plan->rows * plan->half, HEDDLE_CUDA_BLOCK);
    unsigned across = heddle_ceil_div(plan->filters, tile), tiles = across * heddle_ceil_div(plan->images, tile);
    if (tile == 1)
        multiply_spectra<1><<<blocks * tiles, HEDDLE_CUDA_BLOCK, 0, stream>>>(*plan, blocks, across, *spectra);
    else
        multiply_spectra<PRODUCT_TILE>
            <<<blocks * tiles, HEDDLE_CUDA_BLOCK, 0, stream>>>(*plan, blocks, across, *spectra);
}

// --- tiles -----------------------------------------------------------------------------------------------------------

// whole: (n, channels, rows, columns) to parts: (n, down, across, channels, rows, columns) of a tile's size
__global__ void cut_planes(conv2d_tiles tiles, conv2d_planes whole, conv2d_planes part, int channels, int origin_row,
                           int origin_column, const float *planes, float *parts)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = at / part.columns / part.rows;
    if (plane >= (size_t)part.count)
        return;
    size_t tile = plane / channels, image = tile / tiles.across / tiles.down;
    int row = (int)(at / part.columns % part.rows) + (int)(tile / tiles.across % tiles.down) * tiles.rows + origin_row;
    int column = (int)(at % part.columns) + (int)(tile % tiles.across) * tiles.columns + origin_column;
    bool there = row >= 0 && row < whole.rows && column >= 0 && column < whole.columns;
    size_t from = ((image * channels + plane % channels) * whole.rows + row) * whole.columns + column;
    parts[at] = there ? planes[from] : 0;
}

// And back: each element of the whole from the one tile that has it.
__global__ void join_planes(conv2d_tiles tiles, conv2d_planes whole, int channels, const float *parts, float *planes)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = at / whole.columns / whole.rows;
    if (plane >= (size_t)whole.count)
        return;
    int row = (int)(at / whole.columns % whole.rows), column = (int)(at % whole.columns);
    size_t tile = (plane / channels * tiles.down + row / tiles.rows) * tiles.across + column / tiles.columns;
    size_t part = tile * channels + plane % channels;
    planes[at] = parts[(part * tiles.rows + row % tiles.rows) * tiles.columns + column % tiles.columns];
}

static unsigned blocks_of(const conv2d_planes *planes)
{
    return heddle_cuda_blocks((size_t)planes->count * planes->rows * planes->columns);
}

// The planes themselves, or their tiles in `parts`.
static const void *cut(const conv2d_frequency *plan, const conv2d_planes *whole, const conv2d_planes *part, bool image,
                       int channels, const void *planes, void *parts, cudaStream_t stream)
{
    if (plan->tiles.down == 0)
        return planes;
    if (part->count > 0)
        cut_planes<<<blocks_of(part), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            plan->tiles, *whole, *part, channels, image ? plan->tiles.origin_row : 0,
            image ? plan->tiles.origin_column : 0, (const float *)planes, (float *)parts);
    return parts;
}

static cudaError_t transform_there(const conv2d_frequency *plan, const conv2d_planes *planes, const void *values,
                                   float2 *spectra, cudaStream_t stream)
{
    heddle_fft_job rows = conv2d_rows_there(plan, planes, (const float *)values, (float *)spectra);
    heddle_fft_job columns = conv2d_columns(plan, planes->count, false, planes->rows, plan->rows, (float *)spectra);
    cudaError_t error = heddle_fft_launch(&rows, NULL, stream);
    return error != cudaSuccess ? error : heddle_fft_launch(&columns, NULL, stream);
}

static cudaError_t transform_back(const conv2d_frequency *plan, float2 *spectra, void *values, cudaStream_t stream)
{
    heddle_fft_job columns =
        conv2d_columns(plan, plan->result.count, true, plan->rows, plan->result.rows, (float *)spectra);
    heddle_fft_job rows = conv2d_rows_back(plan, (const float *)spectra, (float *)values);
    cudaError_t error = heddle_fft_launch(&columns, NULL, stream);
    return error != cudaSuccess ? error : heddle_fft_launch(&rows, NULL, stream);
}

// Whether the result's spectra may overwrite the image's: half the memory, which is more likely to stay in the L2
// cache. It holds if one tile has all results, or if each tile overwrites only spectra of its own images.
static bool is_in_place(const conv2d_frequency *plan)
{
    bool one_tile = plan->images <= PRODUCT_TILE && plan->result.count <= plan->image.count;
    bool own_planes =
        plan->filters <= plan->sum && plan->result_image == plan->image_step && plan->result_filter == plan->image_sum;
    return plan->filters <= PRODUCT_TILE && (one_tile || own_planes);
}

// Of a call; the channels of the image, and of what else is cut: the filter (backward_weight) or the result.
typedef struct operands {
    const void *image, *filter;
    const float *bias;
    float *result, *grad_bias;
    int image_channels, other_channels;
} operands;

static heddle_status launch(const heddle_call *call, conv2d_pass pass, operands given)
{
    conv2d_frequency plan = conv2d_frequency_of((const heddle_conv2d_shape *)call->shape, pass, &conv2d_cuda_limits);
    conv2d_frequency_memory memory = conv2d_frequency_memory_of(&plan, pass);
    cudaStream_t stream = heddle_cuda_stream_of(call);
    char *base = (char *)call->workspace;
    float2 *image = (float2 *)base, *filter = (float2 *)(base + memory.filter);
    float2 *result = is_in_place(&plan) ? image : (float2 *)(base + memory.result);
    product_spectra spectra = {image, filter, result, given.bias};
    bool weight = pass == CONV2D_BACKWARD_WEIGHT, join = plan.tiles.down > 0 && !weight;
    if (plan.result.count == 0)
        return HEDDLE_OK;
    const void *image_planes = cut(&plan, &plan.whole_image, &plan.image, true, given.image_channels, given.image,
                                   base + memory.image_parts, stream);
    const void *filter_planes = given.filter;
    if (weight)
        filter_planes = cut(&plan, &plan.whole_filter, &plan.filter, false, given.other_channels, given.filter,
                            base + memory.other_parts, stream);
    HEDDLE_CUDA_TRY(transform_there(&plan, &plan.image, image_planes, image, stream));
    HEDDLE_CUDA_TRY(transform_there(&plan, &plan.filter, filter_planes, filter, stream));
    multiply(&plan, &spectra, stream);
    if (given.grad_bias)
        sum_of_planes<<<heddle_cuda_blocks(plan.filters), HEDDLE_CUDA_BLOCK, 0, stream>>>(plan, filter,
                                                                                          given.grad_bias);
    float *values = join ? (float *)(base + memory.other_parts) : given.result;
    HEDDLE_CUDA_TRY(transform_back(&plan, result, values, stream));
    if (join)
        join_planes<<<blocks_of(&plan.whole_result), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            plan.tiles, plan.whole_result, given.other_channels, values, given.result);
    return heddle_cuda_launched("09_fft");
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    operands given = {call->input[0], call->input[1], (const float *)call->input[2], (float *)call->output[0], NULL,
                      shape->c,       shape->k};
    return launch(call, CONV2D_FORWARD, given);
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    operands given = {call->input[1], call->input[0], NULL, (float *)call->output[0], NULL, shape->k, shape->c};
    return launch(call, CONV2D_BACKWARD_DATA, given);
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    operands given = {call->input[0],           call->input[1], NULL,    (float *)call->output[0],
                      (float *)call->output[1], shape->c,       shape->k};
    return launch(call, CONV2D_BACKWARD_WEIGHT, given);
}

HEDDLE_CUDA_RUNG("conv2d_forward", "09_fft", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "09_fft", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_backward_weight", "09_fft", launch_backward_weight)
