// conv2d: 2-D convolution (cross-correlation, as in neural networks) with stride, padding and dilation. Its shapes,
// costs, references and ladders.

#include "ops/conv2d/conv2d.h"

#include <limits.h>

#include "ops/define.h"

const heddle_field heddle_conv2d_fields[HEDDLE_CONV2D_FIELDS] = {HEDDLE_CONV2D_FIELD_ROWS};

HEDDLE_SHARED_DIMS(heddle_conv2d_dims_input, heddle_conv2d_shape, shape->n, shape->c, shape->h, shape->w)
HEDDLE_SHARED_DIMS(heddle_conv2d_dims_weight, heddle_conv2d_shape, shape->k, shape->c, shape->r, shape->s)
HEDDLE_SHARED_DIMS(heddle_conv2d_dims_bias, heddle_conv2d_shape, shape->k)
HEDDLE_SHARED_DIMS(heddle_conv2d_dims_output, heddle_conv2d_shape, shape->n, shape->k, heddle_conv2d_out_h(shape),
                   heddle_conv2d_out_w(shape))

static const heddle_operand forward_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_bias), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_conv2d_dims_output)},
};

static const heddle_operand backward_data_operands[] = {
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_weight)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_input", heddle_conv2d_dims_input)},
};

static const heddle_operand backward_weight_operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("grad_output", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_output)},
    {HEDDLE_FLOAT_OUTPUT("grad_weight", heddle_conv2d_dims_weight)},
    {HEDDLE_FLOAT_OUTPUT("grad_bias", heddle_conv2d_dims_bias), .optional = true},
};

static bool fits_int(long long value)
{
    return value <= INT_MAX;
}

heddle_status heddle_conv2d_validate(const void *shape_)
{
    const heddle_conv2d_shape *shape = shape_;
    if (shape->c < 1 || shape->k < 1 || shape->r < 1 || shape->s < 1)
        return heddle_fail(HEDDLE_INVALID, "conv2d: channels and filter must be at least 1 (c=%d k=%d r=%d s=%d)",
                           shape->c, shape->k, shape->r, shape->s);
    if (shape->stride < 1 || shape->dilation < 1)
        return heddle_fail(HEDDLE_INVALID, "conv2d: stride and dilation must be at least 1 (stride=%d dilation=%d)",
                           shape->stride, shape->dilation);
    if (!fits_int(shape->h + 2LL * shape->padding) || !fits_int(shape->w + 2LL * shape->padding))
        return heddle_fail(HEDDLE_INVALID, "conv2d: padding=%d makes the input too large to index", shape->padding);
    int out_h = heddle_conv2d_out_h(shape), out_w = heddle_conv2d_out_w(shape);
    if (out_h < 1 || out_w < 1)
        return heddle_fail(HEDDLE_INVALID,
                           "conv2d: a %dx%d filter with dilation %d does not fit into a %dx%d input with padding %d",
                           shape->r, shape->s, shape->dilation, shape->h, shape->w, shape->padding);
    long long taps = (long long)shape->r * shape->s;
    if (!fits_int(taps) || !fits_int(taps * shape->c) || !fits_int(taps * shape->k))
        return heddle_fail(HEDDLE_INVALID,
                           "conv2d: the weights of one filter, and of one channel, must be fewer than 2^31");
    if (!fits_int((long long)shape->h * shape->w) || !fits_int((long long)out_h * out_w))
        return heddle_fail(HEDDLE_INVALID, "conv2d: planes of input and output must have fewer than 2^31 elements");
    return HEDDLE_OK;
}

// All three do the same multiplications; they differ in which two of the arrays are read.
static heddle_cost cost(const heddle_conv2d_shape *shape, bool input, bool weight, bool output)
{
    double taps = (double)shape->c * shape->r * shape->s;
    double outputs = (double)shape->n * shape->k * heddle_conv2d_out_h(shape) * heddle_conv2d_out_w(shape);
    double input_bytes = sizeof(float) * (double)shape->n * shape->c * shape->h * shape->w;
    double weight_bytes = sizeof(float) * (taps + 1) * shape->k;
    double output_bytes = sizeof(float) * outputs;
    double all = input_bytes + weight_bytes + output_bytes;
    double read = input * input_bytes + weight * weight_bytes + output * output_bytes;
    return (heddle_cost){.flops = 2 * taps * outputs, .bytes_read = read, .bytes_written = all - read};
}

heddle_cost heddle_conv2d_forward_cost(const void *shape)
{
    return cost(shape, true, true, false);
}

static heddle_cost backward_data_cost(const void *shape)
{
    return cost(shape, false, true, true);
}

static heddle_cost backward_weight_cost(const void *shape)
{
    return cost(shape, true, false, true);
}

// --- the reference ---------------------------------------------------------------------------------------------------

// Calls visit for every multiplication of the convolution, with the places of its three numbers.
typedef void visitor(void *context, size_t input, size_t weight, size_t output);

static void walk_window(const heddle_conv2d_shape *shape, int n, int k, int y, int x, visitor *visit, void *context)
{
    size_t output = (((size_t)n * shape->k + k) * heddle_conv2d_out_h(shape) + y) * heddle_conv2d_out_w(shape) + x;
    for (int c = 0; c < shape->c; c++)
        for (int r = 0; r < shape->r; r++)
            for (int s = 0; s < shape->s; s++) {
                int h = y * shape->stride + r * shape->dilation - shape->padding;
                int w = x * shape->stride + s * shape->dilation - shape->padding;
                if (h >= 0 && h < shape->h && w >= 0 && w < shape->w)
                    visit(context, (((size_t)n * shape->c + c) * shape->h + h) * shape->w + w,
                          (((size_t)k * shape->c + c) * shape->r + r) * shape->s + s, output);
            }
}

static void walk(const heddle_conv2d_shape *shape, visitor *visit, void *context)
{
    for (int n = 0; n < shape->n; n++)
        for (int k = 0; k < shape->k; k++)
            for (int y = 0; y < heddle_conv2d_out_h(shape); y++)
                for (int x = 0; x < heddle_conv2d_out_w(shape); x++)
                    walk_window(shape, n, k, y, x, visit, context);
}

typedef struct operands {
    const double *input, *weight, *output; // read
    double *sum;                           // added to
} operands;

static void add_to_output(void *context, size_t input, size_t weight, size_t output)
{
    operands *arrays = context;
    arrays->sum[output] += arrays->input[input] * arrays->weight[weight];
}

static void add_to_input(void *context, size_t input, size_t weight, size_t output)
{
    operands *arrays = context;
    arrays->sum[input] += arrays->output[output] * arrays->weight[weight];
}

static void add_to_weight(void *context, size_t input, size_t weight, size_t output)
{
    operands *arrays = context;
    arrays->sum[weight] += arrays->output[output] * arrays->input[input];
}

static size_t plane_size(const heddle_conv2d_shape *shape)
{
    return (size_t)heddle_conv2d_out_h(shape) * heddle_conv2d_out_w(shape);
}

void heddle_conv2d_forward_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_shape *shape = shape_;
    size_t plane = plane_size(shape);
    for (size_t i = 0; i < (size_t)shape->n * shape->k * plane; i++)
        output[0][i] = input[2] ? input[2][i / plane % shape->k] : 0;
    walk(shape, add_to_output, &(operands){.input = input[0], .weight = input[1], .sum = output[0]});
}

static void backward_data_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_shape *shape = shape_;
    for (size_t i = 0; i < (size_t)shape->n * shape->c * shape->h * shape->w; i++)
        output[0][i] = 0;
    walk(shape, add_to_input, &(operands){.weight = input[0], .output = input[1], .sum = output[0]});
}

static void backward_weight_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_shape *shape = shape_;
    size_t plane = plane_size(shape);
    for (size_t i = 0; i < (size_t)shape->k * shape->c * shape->r * shape->s; i++)
        output[0][i] = 0;
    walk(shape, add_to_weight, &(operands){.input = input[0], .output = input[1], .sum = output[0]});
    if (!output[1])
        return;
    for (int k = 0; k < shape->k; k++)
        output[1][k] = 0;
    for (size_t i = 0; i < (size_t)shape->n * shape->k * plane; i++)
        output[1][i / plane % shape->k] += input[1][i];
}

HEDDLE_SHARED_OF_SHAPE(int64_t, heddle_conv2d_forward_reduction, heddle_conv2d_shape,
                       (int64_t)shape->c * shape->r * shape->s)
// With fewer, most of a tile of rung 7 is empty, and rung 6 is made for them.
static bool has_many_channels(const void *shape)
{
    return !heddle_conv2d_cuda_image_in_shared_supports(shape);
}

HEDDLE_OF_SHAPE(int64_t, backward_data_reduction, heddle_conv2d_shape, (int64_t)shape->k * shape->r * shape->s)
HEDDLE_OF_SHAPE(int64_t, backward_weight_reduction, heddle_conv2d_shape, (int64_t)plane_size(shape) * shape->n)

// --- the tables ------------------------------------------------------------------------------------------------------

static const char *const test_shapes[] = {
    "n=0 c=2 h=5 w=5 k=3",
    "n=1 c=1 h=1 w=1 k=1",
    "n=1 c=1 h=1 w=1 k=1 r=1 s=1 padding=0",
    "n=2 c=3 h=5 w=7 k=5",
    "n=3 c=2 h=6 w=5 k=4 r=1 s=1 padding=0",
    "n=2 c=70 h=4 w=5 k=20 r=1 s=1 padding=0",
    "n=2 c=3 h=9 w=8 k=2 stride=2",
    "n=1 c=2 h=11 w=13 k=3 r=5 s=3 stride=3 padding=2",
    "n=2 c=2 h=9 w=11 k=3 dilation=2 padding=2",
    "n=1 c=1 h=7 w=7 k=1 r=3 s=2 stride=2 padding=3 dilation=3",
    "n=17 c=1 h=7 w=5 k=3",
    "n=2 c=32 h=6 w=6 k=16",
    "n=2 c=5 h=14 w=14 k=17",
    "n=1 c=3 h=2 w=9 k=4 r=2 s=7 padding=0",
    // Whole tiles and more than one of them, strips of either length, few and many filters.
    "n=1 c=56 h=1 w=14 k=66",
    "n=2 c=9 h=5 w=6 k=37 padding=2",
    "n=2 c=24 h=2 w=28 k=33",
    "n=2 c=4 h=12 w=12 k=9 padding=0",
    "n=1 c=8 h=9 w=10 k=65 stride=2 dilation=2",
    // Stride 2 over few channels, with filters of every size that patches take.
    "n=2 c=3 h=9 w=11 k=18 r=7 s=7 stride=2 padding=3",
    "n=1 c=4 h=10 w=9 k=3 r=5 s=5 stride=2 padding=0",
    "n=1 c=2 h=3 w=4 k=2 stride=2 padding=4",
    // Large filters, of even sizes too, and one larger than the image.
    "n=5 c=1 h=5 w=7 k=6 r=4 s=5 padding=3",
    "n=1 c=2 h=4 w=6 k=1 r=7 s=6 padding=4",
    // More pixels than a block of 32×32, and more filters than the usual number of threads per block.
    "n=1 c=2 h=35 w=37 k=2",
    "n=2 c=1 h=2 w=3 k=261",
    NULL,
};
// The CNN's two convolutions at batch 1024 and 64, then those of other networks: a block of ResNet, its first layer, a
// dilated one, its 1x1.
static const char *const bench_shapes[] = {
    "n=1024 c=32 h=14 w=14 k=64",
    "n=1024 c=1 h=28 w=28 k=32",
    "n=64 c=32 h=14 w=14 k=64",
    "n=64 c=1 h=28 w=28 k=32",
    "n=32 c=64 h=56 w=56 k=64",
    "n=32 c=3 h=224 w=224 k=64 r=7 s=7 stride=2 padding=3",
    "n=32 c=64 h=28 w=28 k=64 dilation=2 padding=2",
    "n=32 c=256 h=28 w=28 k=128 r=1 s=1 padding=0",
    NULL,
};

#if HEDDLE_HAVE_OPENBLAS
#define IM2COL_TIER HEDDLE_VENDOR
#define IM2COL_NOTE "each image unfolded into columns, products by OpenBLAS: columns are r*s times the image"
#else
#define IM2COL_TIER HEDDLE_TUNED
#define IM2COL_NOTE "each image unfolded into columns, products of packed panels: columns are r*s times the image"
#endif

#define DIRECT_NOTE           "windows read from the padded image itself, a tile of pixels and channels in registers"
#define CUDNN_LEGACY_NOTE     "cuDNN's legacy interface, the fastest float32 algorithm of its list by its own timing"
#define CUDNN_GRAPH_NOTE      "cuDNN's graph interface, the first float32 engine that its heuristics suggest"
#define CUDNN_GRAPH_TF32_NOTE "cuDNN's graph interface on tensor cores: float32 rounded to 10 bits of mantissa"
#define WINOGRAD_NOTE         "3x3 filters in Winograd's domain: 2.25 times fewer multiplications, but transforms"

#define TILED_NOTE            "16x16 pixels in shared memory: limited by its loads, one or two per multiplication"
#define COLUMNS_NOTE          "windows written as a matrix, then a tiled product: limited by the matrix's memory traffic"
#define IMPLICIT_NOTE                                                                                                  \
    "windows gathered into shared memory, 8x8 in registers: limited by instructions other than multiplications"
#define STRIPS_NOTE "3x3: strips of rows straight from the image, 14x4 in registers: limited by multiplications"
#define MMA_IMAGE_NOTE                                                                                                 \
    "3x3 by mma.sync in tf32 straight from the image, weight in fragments: limited by waiting at barriers"
#define FFT_NOTE                                                                                                       \
    "products of Fourier transforms, whatever the filter's size: limited by memory bandwidth, six passes per plane"
#define MMA_NOTE "implicit GEMM by mma.sync in tf32: limited by traffic through shared memory"

// Slowest first.
static const heddle_rung forward_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_forward_cpu_naive,
     "seven loops: one bounds check per multiplication", NULL, NULL},
    {"cpu_im2col", HEDDLE_CPU, IM2COL_TIER, heddle_conv2d_forward_cpu_im2col, IM2COL_NOTE, NULL,
     heddle_conv2d_forward_cpu_im2col_workspace},
    {"cpu_direct", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_forward_cpu_direct, DIRECT_NOTE,
     heddle_conv2d_cpu_direct_supports, heddle_conv2d_forward_cpu_direct_workspace},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_forward_cpu_winograd, WINOGRAD_NOTE,
     heddle_conv2d_cpu_winograd_supports, heddle_conv2d_cpu_winograd_workspace},
    {"cpu_fft", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_forward_cpu_fft, FFT_NOTE, heddle_conv2d_cpu_fft_supports,
     heddle_conv2d_forward_cpu_fft_workspace, .pays = heddle_conv2d_forward_cpu_fft_pays},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of the output: a bounds check and two loads per multiplication", NULL, NULL},
    {"cudnn_legacy", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_LEGACY_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_TF32_NOTE, NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80, .gpu_only = "cuDNN"},
    {"02_tiled", HEDDLE_CUDA, HEDDLE_TUNED, NULL, TILED_NOTE, heddle_conv2d_cuda_forward_tiled_supports, NULL},
    {"03_im2col_matmul", HEDDLE_CUDA, HEDDLE_TUNED, NULL, COLUMNS_NOTE, NULL,
     heddle_conv2d_cuda_forward_columns_workspace},
    {"04_implicit_gemm", HEDDLE_CUDA, HEDDLE_TUNED, NULL, IMPLICIT_NOTE, NULL,
     heddle_conv2d_cuda_forward_packed_workspace},
    {"05_row_strips", HEDDLE_CUDA, HEDDLE_TUNED, NULL, STRIPS_NOTE, heddle_conv2d_cuda_forward_row_strips_supports,
     heddle_conv2d_cuda_forward_packed_workspace, .capability = 80},
    {"06_small_channels", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "a 3x3 window of up to 4 channels in registers for all filters: limited by the bytes written",
     heddle_conv2d_cuda_small_channels_supports, NULL},
    {"07_mma_tf32", HEDDLE_CUDA, HEDDLE_TUNED, NULL, MMA_NOTE, NULL, heddle_conv2d_cuda_forward_packed_workspace,
     .arithmetic = HEDDLE_TF32, .capability = 80},
    {"08_mma_image", HEDDLE_CUDA, HEDDLE_TUNED, NULL, MMA_IMAGE_NOTE, heddle_conv2d_cuda_forward_mma_image_supports,
     heddle_conv2d_cuda_forward_fragments_workspace, .arithmetic = HEDDLE_TF32, .capability = 80},
    {"09_fft", HEDDLE_CUDA, HEDDLE_TUNED, NULL, FFT_NOTE, heddle_conv2d_cuda_fft_supports,
     heddle_conv2d_cuda_forward_fft_workspace, .pays = heddle_conv2d_cuda_forward_fft_pays},
};

static const heddle_rung backward_data_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_backward_data_cpu_naive,
     "seven loops: one bounds check per multiplication", NULL, NULL},
    {"cpu_im2col", HEDDLE_CPU, IM2COL_TIER, heddle_conv2d_backward_data_cpu_im2col, IM2COL_NOTE, NULL,
     heddle_conv2d_backward_data_cpu_im2col_workspace},
    {"cpu_direct", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_data_cpu_direct, DIRECT_NOTE,
     heddle_conv2d_backward_data_cpu_direct_supports, heddle_conv2d_backward_data_cpu_direct_workspace},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_data_cpu_winograd, WINOGRAD_NOTE,
     heddle_conv2d_cpu_winograd_supports, heddle_conv2d_cpu_winograd_workspace},
    {"cpu_fft", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_data_cpu_fft, FFT_NOTE, heddle_conv2d_cpu_fft_supports,
     heddle_conv2d_backward_data_cpu_fft_workspace, .pays = heddle_conv2d_backward_data_cpu_fft_pays},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element gathers from its windows: a bounds check and two loads per multiplication", NULL, NULL},
    {"cudnn_legacy", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_LEGACY_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_TF32_NOTE, NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80, .gpu_only = "cuDNN"},
    {"02_tiled", HEDDLE_CUDA, HEDDLE_TUNED, NULL, TILED_NOTE, heddle_conv2d_cuda_backward_data_tiled_supports, NULL},
    {"03_im2col_matmul", HEDDLE_CUDA, HEDDLE_TUNED, NULL, COLUMNS_NOTE, NULL,
     heddle_conv2d_cuda_backward_data_columns_workspace},
    {"04_implicit_gemm", HEDDLE_CUDA, HEDDLE_TUNED, NULL, IMPLICIT_NOTE, NULL,
     heddle_conv2d_cuda_backward_data_packed_workspace},
    {"05_row_strips", HEDDLE_CUDA, HEDDLE_TUNED, NULL, STRIPS_NOTE,
     heddle_conv2d_cuda_backward_data_row_strips_supports, heddle_conv2d_cuda_backward_data_packed_workspace,
     .capability = 80},
    {"06_patches", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "stride 2 over up to 4 channels: patches of 2x2 pixels meet each tap once: limited by issuing multiplications",
     heddle_conv2d_cuda_patches_supports, NULL},
    {"07_mma_tf32", HEDDLE_CUDA, HEDDLE_TUNED, NULL, MMA_NOTE, NULL, heddle_conv2d_cuda_backward_data_packed_workspace,
     .arithmetic = HEDDLE_TF32, .capability = 80},
    {"08_mma_image", HEDDLE_CUDA, HEDDLE_TUNED, NULL, MMA_IMAGE_NOTE,
     heddle_conv2d_cuda_backward_data_mma_image_supports, heddle_conv2d_cuda_backward_data_fragments_workspace,
     .arithmetic = HEDDLE_TF32, .capability = 80},
    {"09_fft", HEDDLE_CUDA, HEDDLE_TUNED, NULL, FFT_NOTE, heddle_conv2d_cuda_fft_supports,
     heddle_conv2d_cuda_backward_data_fft_workspace, .pays = heddle_conv2d_cuda_backward_data_fft_pays},
};

static const heddle_rung backward_weight_ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_backward_weight_cpu_naive,
     "seven loops: one bounds check per multiplication", NULL, NULL},
    {"cpu_im2col", HEDDLE_CPU, IM2COL_TIER, heddle_conv2d_backward_weight_cpu_im2col, IM2COL_NOTE, NULL,
     heddle_conv2d_backward_weight_cpu_im2col_workspace},
    {"cpu_direct", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_weight_cpu_direct, DIRECT_NOTE,
     heddle_conv2d_cpu_direct_supports, heddle_conv2d_backward_weight_cpu_direct_workspace},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_weight_cpu_winograd, WINOGRAD_NOTE,
     heddle_conv2d_cpu_winograd_supports, heddle_conv2d_backward_weight_cpu_winograd_workspace},
    {"cpu_fft", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_backward_weight_cpu_fft, FFT_NOTE,
     heddle_conv2d_cpu_fft_supports, heddle_conv2d_backward_weight_cpu_fft_workspace,
     .pays = heddle_conv2d_backward_weight_cpu_fft_pays},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL, "one thread per weight sums over the batch: few threads, long sums",
     NULL, NULL},
    {"02_tiled", HEDDLE_CUDA, HEDDLE_TUNED, NULL, TILED_NOTE, heddle_conv2d_cuda_backward_weight_tiled_supports, NULL},
    {"03_im2col_matmul", HEDDLE_CUDA, HEDDLE_TUNED, NULL, COLUMNS_NOTE, NULL,
     heddle_conv2d_cuda_backward_weight_columns_workspace},
    {"04_split_gemm", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "windows gathered into shared memory, the sum over pixels split among blocks: limited by the gathering", NULL,
     heddle_conv2d_cuda_split_gemm_workspace},
    {"05_sliding_window", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "3x3: 8 filters by 9 taps in registers, the window slides along the row: limited by issuing multiplications",
     heddle_conv2d_cuda_sliding_window_supports, heddle_conv2d_cuda_sliding_window_workspace, .capability = 80},
    {"06_image_in_shared", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "3x3 over up to 4 channels: a warp has 4 filters, its lanes the pixels: limited by the bytes read",
     heddle_conv2d_cuda_image_in_shared_supports, heddle_conv2d_cuda_image_in_shared_workspace},
    {"07_mma_split", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "any shape by mma.sync in tf32, the sum over pixels split among blocks: limited by the gathering", NULL,
     heddle_conv2d_cuda_mma_split_workspace, .arithmetic = HEDDLE_TF32, .pays = has_many_channels, .capability = 80},
    {"08_mma_window", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "3x3 by mma.sync in tf32, nine shifted products of one band: limited by traffic through shared memory",
     heddle_conv2d_cuda_sliding_window_supports, heddle_conv2d_cuda_sliding_window_workspace, .arithmetic = HEDDLE_TF32,
     .capability = 80},
    {"cudnn_legacy", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_LEGACY_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_NOTE, NULL, NULL, .gpu_only = "cuDNN"},
    {"cudnn_graph_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL, CUDNN_GRAPH_TF32_NOTE, NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80, .gpu_only = "cuDNN"},
    {"09_fft", HEDDLE_CUDA, HEDDLE_TUNED, NULL, FFT_NOTE, heddle_conv2d_cuda_fft_supports,
     heddle_conv2d_cuda_backward_weight_fft_workspace, .pays = heddle_conv2d_cuda_backward_weight_fft_pays},
};

static const heddle_op *const gradients[] = {&heddle_op_conv2d_backward_data, &heddle_op_conv2d_backward_weight, NULL};

#define SHARED                                                                                                         \
    .ladder_name = "conv2d", .shape_size = sizeof(heddle_conv2d_shape), HEDDLE_FIELDS(heddle_conv2d_fields),           \
    .validate = heddle_conv2d_validate, .test_shapes = test_shapes, .bench_shapes = bench_shapes

const heddle_op heddle_op_conv2d_forward = {
    .name = "conv2d_forward",
    .summary = "2-D convolution with stride, padding and dilation",
    SHARED,
    HEDDLE_OPERANDS(forward_operands),
    .cost = heddle_conv2d_forward_cost,
    .reference = heddle_conv2d_forward_reference,
    .reduction = heddle_conv2d_forward_reduction,
    .gradients = gradients,
    HEDDLE_LADDER(forward_ladder),
};

const heddle_op heddle_op_conv2d_backward_data = {
    .name = "conv2d_backward_data",
    .summary = "gradient of a convolution's input",
    SHARED,
    HEDDLE_OPERANDS(backward_data_operands),
    .cost = backward_data_cost,
    .reference = backward_data_reference,
    .reduction = backward_data_reduction,
    HEDDLE_LADDER(backward_data_ladder),
};

const heddle_op heddle_op_conv2d_backward_weight = {
    .name = "conv2d_backward_weight",
    .summary = "gradients of a convolution's weight and bias",
    SHARED,
    HEDDLE_OPERANDS(backward_weight_operands),
    .cost = backward_weight_cost,
    .reference = backward_weight_reference,
    .reduction = backward_weight_reduction,
    HEDDLE_LADDER(backward_weight_ladder),
};
