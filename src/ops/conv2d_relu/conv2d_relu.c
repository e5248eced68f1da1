// conv2d_bias_relu: a convolution, plus its bias, then relu, as one operator. Its shapes are conv2d's; its cost,
// reference and ladder.

#include "ops/conv2d_relu/conv2d_relu.h"

#include "ops/conv2d/conv2d.h"
#include "ops/define.h"

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("weight", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_weight)},
    {HEDDLE_FLOAT_INPUT("bias", HEDDLE_VALUES_NORMAL, heddle_conv2d_dims_bias), .optional = true},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_conv2d_dims_output)},
};

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_conv2d_shape *shape = shape_;
    size_t outputs =
        (size_t)shape->n * (size_t)shape->k * (size_t)heddle_conv2d_out_h(shape) * (size_t)heddle_conv2d_out_w(shape);
    heddle_conv2d_forward_reference(shape_, input, output);
    for (size_t i = 0; i < outputs; i++)
        output[0][i] = output[0][i] < 0 ? 0 : output[0][i];
}

// Every path of the rungs: whole tiles and ragged ones, strips of either length, few and many filters.
static const char *const test_shapes[] = {
    "n=0 c=2 h=5 w=5 k=3",
    "n=1 c=1 h=1 w=1 k=1 r=1 s=1 padding=0",
    "n=2 c=3 h=5 w=7 k=5",
    "n=1 c=2 h=11 w=13 k=3 r=5 s=3 stride=3 padding=2",
    "n=2 c=2 h=9 w=11 k=3 dilation=2 padding=2",
    "n=2 c=16 h=6 w=6 k=17",
    "n=1 c=8 h=3 w=14 k=66",
    "n=1 c=5 h=2 w=28 k=33",
    "n=2 c=4 h=12 w=12 k=9 padding=0",
    "n=1 c=2 h=35 w=37 k=2", // more than a block of 32×32
    NULL,
};
// The CNN's second convolution at batch 1024 and 64, a block of ResNet, its 1x1.
static const char *const bench_shapes[] = {
    "n=1024 c=32 h=14 w=14 k=64",
    "n=64 c=32 h=14 w=14 k=64",
    "n=32 c=64 h=56 w=56 k=64",
    "n=32 c=256 h=28 w=28 k=128 r=1 s=1 padding=0",
    NULL,
};

#if HEDDLE_HAVE_OPENBLAS
#define IM2COL_TIER HEDDLE_VENDOR
#else
#define IM2COL_TIER HEDDLE_TUNED
#endif

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_conv2d_bias_relu_cpu_naive,
     "seven loops, then a pass over the output: one bounds check per multiplication", NULL, NULL},
    {"cpu_im2col", HEDDLE_CPU, IM2COL_TIER, heddle_conv2d_bias_relu_cpu_im2col,
     "each image unfolded into columns and multiplied, then a pass over the output", NULL,
     heddle_conv2d_forward_cpu_im2col_workspace},
    {"cpu_direct", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_bias_relu_cpu_direct,
     "windows read from the padded image itself, then a pass over the output", heddle_conv2d_cpu_direct_supports,
     heddle_conv2d_forward_cpu_direct_workspace},
    {"cpu_winograd", HEDDLE_CPU, HEDDLE_TUNED, heddle_conv2d_bias_relu_cpu_winograd,
     "3x3 filters in Winograd's domain, then a pass over the output", heddle_conv2d_cpu_winograd_supports,
     heddle_conv2d_cpu_winograd_workspace},
    {"01_naive", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per element of the output: a bounds check and two loads per multiplication", NULL, NULL},
    {"02_two_passes", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "implicit GEMM, then a pass over the output: limited by the traffic of that pass", NULL,
     heddle_conv2d_cuda_forward_packed_workspace},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuDNN's graph of convolution, bias and relu, by one engine if it has one in float32", NULL, NULL,
     .gpu_only = "cuDNN"},
    {"cudnn_graph_tf32", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "the same graph on tensor cores: float32 rounded to 10 bits of mantissa", NULL, NULL, .arithmetic = HEDDLE_TF32,
     .capability = 80, .gpu_only = "cuDNN"},
    {"03_fused_epilogue", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "implicit GEMM with bias and relu in the epilogue: limited by instructions other than multiplications", NULL,
     heddle_conv2d_cuda_forward_packed_workspace},
    {"04_fused_row_strips", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "3x3: strips of rows straight from the image, bias and relu in the epilogue: limited by multiplications",
     heddle_conv2d_cuda_forward_row_strips_supports, heddle_conv2d_cuda_forward_packed_workspace, .capability = 80},
};

const heddle_op heddle_op_conv2d_bias_relu = {
    .name = "conv2d_bias_relu",
    .ladder_name = "conv2d_relu",
    .summary = "2-D convolution, bias and relu in one",
    .shape_size = sizeof(heddle_conv2d_shape),
    HEDDLE_FIELDS(heddle_conv2d_fields),
    HEDDLE_OPERANDS(operands),
    .validate = heddle_conv2d_validate,
    .cost = heddle_conv2d_forward_cost,
    .reference = reference,
    .reduction = heddle_conv2d_forward_reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
