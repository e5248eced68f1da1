// batchnorm2d_relu: batchnorm2d for training, followed by relu, as one operator. Its shapes are batchnorm2d's; its
// reference and its ladder.

#include "ops/batchnorm2d_relu/batchnorm2d_relu.h"

#include "ops/batchnorm2d/batchnorm2d.h"
#include "ops/define.h"

static const heddle_operand operands[] = {
    {HEDDLE_FLOAT_INPUT("input", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_INPUT("gamma", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_INPUT("beta", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("output", heddle_batchnorm2d_dims_input)},
    {HEDDLE_FLOAT_OUTPUT("mean", heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_OUTPUT("inverse_std", heddle_batchnorm2d_dims_channels)},
    {HEDDLE_FLOAT_UPDATE("running_mean", HEDDLE_VALUES_NORMAL, heddle_batchnorm2d_dims_channels), .optional = true},
    {HEDDLE_FLOAT_UPDATE("running_var", HEDDLE_VALUES_POSITIVE, heddle_batchnorm2d_dims_channels), .optional = true},
};

static void reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_batchnorm2d_shape *shape = shape_;
    size_t elements = (size_t)shape->n * (size_t)shape->c * (size_t)shape->h * (size_t)shape->w;
    heddle_batchnorm2d_forward_reference(shape_, input, output);
    for (size_t i = 0; i < elements; i++)
        output[0][i] = output[0][i] < 0 ? 0 : output[0][i];
}

// More than one tile of 02_channel_tiles, in whole vectors and ragged.
static const char *const test_shapes[] = {
    "n=2 c=1 h=1 w=1",
    "n=2 c=0 h=3 w=3",
    "n=3 c=5 h=7 w=11",
    "n=17 c=2 h=3 w=1",
    "n=5 c=3 h=32 w=30 epsilon=0.1 momentum=0.7",
    "n=3 c=2 h=41 w=37",
    "n=3 c=261 h=2 w=1", // more channels than the usual number of threads per block
    NULL,
};
// 1 GiB; after the CNN's two convolutions at batch 256.
static const char *const bench_shapes[] = {
    "n=1024 c=64 h=64 w=64",
    "n=256 c=32 h=28 w=28",
    "n=256 c=64 h=14 w=14",
    NULL,
};

// Slowest first.
static const heddle_rung ladder[] = {
    {"cpu_naive", HEDDLE_CPU, HEDDLE_NAIVE, heddle_batchnorm2d_relu_cpu_naive,
     "three passes over each channel, and one over the output, one number at a time", NULL, NULL},
    {"cpu_channels", HEDDLE_CPU, HEDDLE_TUNED, heddle_batchnorm2d_relu_cpu_channels,
     "channels over the threads, vectors along each plane, then a pass over the output: memory-bound", NULL, NULL},
    {"01_two_passes", HEDDLE_CUDA, HEDDLE_NAIVE, NULL,
     "one thread per channel for the statistics, then relu as a separate pass: few threads, long sums", NULL,
     heddle_batchnorm2d_naive_workspace},
    {"cudnn_graph", HEDDLE_CUDA, HEDDLE_VENDOR, NULL,
     "cuDNN's graph of batchnorm and relu, by one engine that it compiles at run time", NULL,
     heddle_batchnorm2d_cudnn_workspace, .gpu_only = "cuDNN"},
    {"02_channel_tiles", HEDDLE_CUDA, HEDDLE_TUNED, NULL,
     "channels cut into tiles over all blocks, relu in the epilogue: the input is read twice",
     heddle_batchnorm2d_supports_tiles, heddle_batchnorm2d_tiles_workspace},
};

const heddle_op heddle_op_batchnorm2d_relu = {
    .name = "batchnorm2d_relu",
    .ladder_name = "batchnorm2d_relu",
    .summary = "each channel normalised over the batch, scaled and shifted, then relu",
    .shape_size = sizeof(heddle_batchnorm2d_shape),
    HEDDLE_FIELDS(heddle_batchnorm2d_fields),
    HEDDLE_OPERANDS(operands),
    .validate = heddle_batchnorm2d_training_validate,
    .cost = heddle_batchnorm2d_forward_cost,
    .reference = reference,
    .reduction = heddle_batchnorm2d_reduction,
    .test_shapes = test_shapes,
    .bench_shapes = bench_shapes,
    HEDDLE_LADDER(ladder),
};
