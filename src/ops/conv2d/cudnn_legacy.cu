// conv2d by cuDNN's legacy interface: descriptors of the tensors, and an algorithm from a short list that cuDNN has
// timed for this shape. (During graph capture, which allows no timing, it is the one cuDNN expects to be fastest.)
//
// float32 stays float32 (FMA_MATH). Algorithms without a fixed order of additions are skipped, so that two calls give
// the same bits. So are those by Fourier transforms and by Winograd's large tiles, which lose digits that a direct sum
// keeps. The bias is a second pass over the output, because this interface fuses the two for one algorithm only.
//
// Limited by: the float32 units, and the second pass if the convolution is small.

#include "ops/cuda/cudnn_handle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ops.h"

typedef enum direction { FORWARD, BACKWARD_DATA, BACKWARD_WEIGHT } direction;

// As many as any direction has.
enum { ALGORITHMS = 8 };
// More than this for one call is not worth the memory.
static const size_t most_workspace = (size_t)1 << 30;

// cuDNN's descriptors for a shape, made once.
typedef struct plan {
    heddle_conv2d_shape shape;
    direction way;
    int device;
    cudnnTensorDescriptor_t input, output, bias;
    cudnnFilterDescriptor_t weight;
    cudnnConvolutionDescriptor_t convolution;
    int algorithm; // of the direction's own enum
    size_t workspace;
    struct plan *next;
} plan;

static plan *plans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int out_extent(const heddle_conv2d_shape *shape, int extent, int taps)
{
    return (extent + 2 * shape->padding - shape->dilation * (taps - 1) - 1) / shape->stride + 1;
}

static heddle_status describe_tensor(cudnnTensorDescriptor_t *descriptor, int n, int c, int h, int w)
{
    HEDDLE_CUDA_TRY(cudnnCreateTensorDescriptor(descriptor));
    return HEDDLE_CUDA_CHECK(cudnnSetTensor4dDescriptor(*descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, w));
}

static heddle_status describe(plan *made)
{
    const heddle_conv2d_shape *shape = &made->shape;
    int out_h = out_extent(shape, shape->h, shape->r), out_w = out_extent(shape, shape->w, shape->s);
    HEDDLE_TRY(describe_tensor(&made->input, shape->n, shape->c, shape->h, shape->w));
    HEDDLE_TRY(describe_tensor(&made->output, shape->n, shape->k, out_h, out_w));
    HEDDLE_TRY(describe_tensor(&made->bias, 1, shape->k, 1, 1));
    HEDDLE_CUDA_TRY(cudnnCreateFilterDescriptor(&made->weight));
    HEDDLE_CUDA_TRY(cudnnSetFilter4dDescriptor(made->weight, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, shape->k, shape->c,
                                               shape->r, shape->s));
    HEDDLE_CUDA_TRY(cudnnCreateConvolutionDescriptor(&made->convolution));
    HEDDLE_CUDA_TRY(cudnnSetConvolution2dDescriptor(made->convolution, shape->padding, shape->padding, shape->stride,
                                                    shape->stride, shape->dilation, shape->dilation,
                                                    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    return HEDDLE_CUDA_CHECK(cudnnSetConvolutionMathType(made->convolution, CUDNN_FMA_MATH));
}

static bool loses_digits(cudnnConvolutionFwdAlgo_t algorithm)
{
    return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT || algorithm == CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING ||
           algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;
}

static bool loses_digits(cudnnConvolutionBwdDataAlgo_t algorithm)
{
    return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT ||
           algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING ||
           algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED;
}

static bool loses_digits(cudnnConvolutionBwdFilterAlgo_t algorithm)
{
    return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT ||
           algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING ||
           algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED;
}

// The first suitable one: cuDNN lists them fastest first. Each direction has its own struct with the same members.
template <typename Result> static heddle_status take_first(plan *made, const Result *results, int count)
{
    for (int i = 0; i < count; i++) {
        if (results[i].status != CUDNN_STATUS_SUCCESS || results[i].determinism != CUDNN_DETERMINISTIC ||
            results[i].mathType != CUDNN_FMA_MATH || results[i].memory > most_workspace ||
            loses_digits(results[i].algo))
            continue;
        made->algorithm = (int)results[i].algo;
        made->workspace = results[i].memory;
        return HEDDLE_OK;
    }
    return heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuDNN has no float32 algorithm with a fixed order for this shape",
                              "none of its list", HEDDLE_CUDA_HERE("conv2d"));
}

static heddle_status find_forward(cudnnHandle_t handle, plan *made, bool timed)
{
    cudnnConvolutionFwdAlgoPerf_t results[ALGORITHMS];
    int count = 0;
    if (timed)
        HEDDLE_CUDA_TRY(cudnnFindConvolutionForwardAlgorithm(handle, made->input, made->weight, made->convolution,
                                                             made->output, ALGORITHMS, &count, results));
    else
        HEDDLE_CUDA_TRY(cudnnGetConvolutionForwardAlgorithm_v7(handle, made->input, made->weight, made->convolution,
                                                               made->output, ALGORITHMS, &count, results));
    return take_first(made, results, count);
}

static heddle_status find_backward_data(cudnnHandle_t handle, plan *made, bool timed)
{
    cudnnConvolutionBwdDataAlgoPerf_t results[ALGORITHMS];
    int count = 0;
    if (timed)
        HEDDLE_CUDA_TRY(cudnnFindConvolutionBackwardDataAlgorithm(handle, made->weight, made->output, made->convolution,
                                                                  made->input, ALGORITHMS, &count, results));
    else
        HEDDLE_CUDA_TRY(cudnnGetConvolutionBackwardDataAlgorithm_v7(
            handle, made->weight, made->output, made->convolution, made->input, ALGORITHMS, &count, results));
    return take_first(made, results, count);
}

static heddle_status find_backward_weight(cudnnHandle_t handle, plan *made, bool timed)
{
    cudnnConvolutionBwdFilterAlgoPerf_t results[ALGORITHMS];
    int count = 0;
    if (timed)
        HEDDLE_CUDA_TRY(cudnnFindConvolutionBackwardFilterAlgorithm(
            handle, made->input, made->output, made->convolution, made->weight, ALGORITHMS, &count, results));
    else
        HEDDLE_CUDA_TRY(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
            handle, made->input, made->output, made->convolution, made->weight, ALGORITHMS, &count, results));
    return take_first(made, results, count);
}

static void destroy(plan *made)
{
    if (made->input)
        cudnnDestroyTensorDescriptor(made->input);
    if (made->output)
        cudnnDestroyTensorDescriptor(made->output);
    if (made->bias)
        cudnnDestroyTensorDescriptor(made->bias);
    if (made->weight)
        cudnnDestroyFilterDescriptor(made->weight);
    if (made->convolution)
        cudnnDestroyConvolutionDescriptor(made->convolution);
    free(made);
}

static heddle_status make(cudnnHandle_t handle, const plan *wanted, bool timed, plan **kept)
{
    plan *made = (plan *)malloc(sizeof *made);
    if (!made)
        return heddle_cuda_failed(HEDDLE_OUT_OF_MEMORY, "no memory", "malloc", HEDDLE_CUDA_HERE("conv2d"));
    *made = *wanted;
    heddle_status status = describe(made);
    if (status == HEDDLE_OK)
        status = made->way == FORWARD         ? find_forward(handle, made, timed)
                 : made->way == BACKWARD_DATA ? find_backward_data(handle, made, timed)
                                              : find_backward_weight(handle, made, timed);
    if (status != HEDDLE_OK) {
        destroy(made);
        return status;
    }
    made->next = plans;
    plans = *kept = made;
    return HEDDLE_OK;
}

// The plan for the call and its handle.
static heddle_status prepare(const heddle_call *call, direction way, cudnnHandle_t *handle, plan **found)
{
    plan wanted = {};
    wanted.shape = *(const heddle_conv2d_shape *)call->shape;
    wanted.way = way;
    wanted.device = heddle_cuda_device_of(call);
    HEDDLE_TRY(heddle_cudnn_handle(call, handle));
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&lock);
    *found = plans;
    while (*found && ((*found)->way != way || (*found)->device != wanted.device ||
                      memcmp(&(*found)->shape, &wanted.shape, sizeof wanted.shape) != 0))
        *found = (*found)->next;
    if (!*found)
        status = make(*handle, &wanted, !heddle_cudnn_capturing(call), found);
    pthread_mutex_unlock(&lock);
    return status;
}

// --- the launchers ---------------------------------------------------------------------------------------------------

static const float one = 1, zero = 0;

enum { INPUT, WEIGHT, OUTPUT, BIAS, OPERANDS };

// The tensors of a call, or their gradients, in the order above; the caller says which is written.
static void list_operands(const heddle_conv2d_shape *shape, const void *input, const void *weight, const void *output,
                          const void *bias, heddle_cudnn_operand *operands)
{
    size_t plane = (size_t)out_extent(shape, shape->h, shape->r) * out_extent(shape, shape->w, shape->s);
    const void *addresses[OPERANDS] = {input, weight, output, bias};
    size_t elements[OPERANDS] = {(size_t)shape->n * shape->c * shape->h * shape->w,
                                 (size_t)shape->k * shape->c * shape->r * shape->s, (size_t)shape->n * shape->k * plane,
                                 (size_t)shape->k};
    memset(operands, 0, OPERANDS * sizeof *operands);
    for (int i = 0; i < OPERANDS; i++) {
        operands[i].address = addresses[i];
        operands[i].bytes = elements[i] * sizeof(float);
    }
}

static heddle_status launch_forward(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    heddle_cudnn_operand of[OPERANDS];
    cudnnHandle_t handle;
    plan *made;
    void *workspace;
    if (shape->n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(prepare(call, FORWARD, &handle, &made));
    list_operands(shape, call->input[0], call->input[1], call->output[0], call->input[2], of);
    of[OUTPUT].written = true;
    HEDDLE_TRY(heddle_cudnn_align(call, made->workspace, of, OPERANDS, &workspace));
    HEDDLE_CUDA_TRY(cudnnConvolutionForward(handle, &one, made->input, of[INPUT].used, made->weight, of[WEIGHT].used,
                                            made->convolution, (cudnnConvolutionFwdAlgo_t)made->algorithm, workspace,
                                            made->workspace, &zero, made->output, of[OUTPUT].used));
    if (of[BIAS].used)
        HEDDLE_CUDA_TRY(cudnnAddTensor(handle, &one, made->bias, of[BIAS].used, &one, made->output, of[OUTPUT].used));
    return heddle_cudnn_deliver(call, of, OPERANDS);
}

static heddle_status launch_backward_data(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    heddle_cudnn_operand of[OPERANDS];
    cudnnHandle_t handle;
    plan *made;
    void *workspace;
    if (shape->n == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(prepare(call, BACKWARD_DATA, &handle, &made));
    list_operands(shape, call->output[0], call->input[0], call->input[1], NULL, of);
    of[INPUT].written = true;
    HEDDLE_TRY(heddle_cudnn_align(call, made->workspace, of, OPERANDS, &workspace));
    HEDDLE_CUDA_TRY(cudnnConvolutionBackwardData(handle, &one, made->weight, of[WEIGHT].used, made->output,
                                                 of[OUTPUT].used, made->convolution,
                                                 (cudnnConvolutionBwdDataAlgo_t)made->algorithm, workspace,
                                                 made->workspace, &zero, made->input, of[INPUT].used));
    return heddle_cudnn_deliver(call, of, OPERANDS);
}

// The gradients for zero images.
static heddle_status clear_gradients(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    size_t weights = (size_t)shape->k * shape->c * shape->r * shape->s;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    HEDDLE_CUDA_TRY(cudaMemsetAsync(call->output[0], 0, weights * sizeof(float), stream));
    if (call->output[1])
        HEDDLE_CUDA_TRY(cudaMemsetAsync(call->output[1], 0, (size_t)shape->k * sizeof(float), stream));
    return HEDDLE_OK;
}

static heddle_status launch_backward_weight(const heddle_call *call)
{
    const heddle_conv2d_shape *shape = (const heddle_conv2d_shape *)call->shape;
    heddle_cudnn_operand of[OPERANDS];
    cudnnHandle_t handle;
    plan *made;
    void *workspace;
    if (shape->n == 0)
        return clear_gradients(call);
    HEDDLE_TRY(prepare(call, BACKWARD_WEIGHT, &handle, &made));
    list_operands(shape, call->input[0], call->output[0], call->input[1], call->output[1], of);
    of[WEIGHT].written = of[BIAS].written = true;
    HEDDLE_TRY(heddle_cudnn_align(call, made->workspace, of, OPERANDS, &workspace));
    HEDDLE_CUDA_TRY(cudnnConvolutionBackwardFilter(handle, &one, made->input, of[INPUT].used, made->output,
                                                   of[OUTPUT].used, made->convolution,
                                                   (cudnnConvolutionBwdFilterAlgo_t)made->algorithm, workspace,
                                                   made->workspace, &zero, made->weight, of[WEIGHT].used));
    if (of[BIAS].used)
        HEDDLE_CUDA_TRY(cudnnConvolutionBackwardBias(handle, &one, made->output, of[OUTPUT].used, &zero, made->bias,
                                                     of[BIAS].used));
    return heddle_cudnn_deliver(call, of, OPERANDS);
}

HEDDLE_CUDA_RUNG("conv2d_forward", "cudnn_legacy", launch_forward)
HEDDLE_CUDA_RUNG("conv2d_backward_data", "cudnn_legacy", launch_backward_data)
HEDDLE_CUDA_RUNG("conv2d_backward_weight", "cudnn_legacy", launch_backward_weight)
