// sync_batchnorm2d, rung 1: one block per channel computes the sums, then one thread per element uses them.
//
// There is no rung before it: batchnorm2d's first rung gives a whole channel to one thread. Here 256 threads share it,
// each with its own sum in double, and reduce them in shared memory in a fixed order, so that the bits are the same
// every time.
//
// Limited by: the number of blocks. A network's first layers have 32 channels, a quarter of a large GPU's SMs; but the
// wait for other processes that follows takes longer.

#include "heddle/ops.h"
#include "ops/cuda/rung.h"

typedef heddle_batchnorm2d_shape norm_shape;

enum { THREADS = HEDDLE_CUDA_BLOCK };

// Of element `index` of channel c, its planes taken one after another.
__device__ static size_t place_of(const norm_shape &shape, int c, size_t index, size_t plane)
{
    return (index / plane * shape.c + c) * plane + index % plane;
}

// Both sums over the block; complete in thread 0.
__device__ static void add_up(double *first, double *second)
{
    __shared__ double sums[2][THREADS];
    sums[0][threadIdx.x] = *first;
    sums[1][threadIdx.x] = *second;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) {
            sums[0][threadIdx.x] += sums[0][threadIdx.x + half];
            sums[1][threadIdx.x] += sums[1][threadIdx.x + half];
        }
    }
    *first = sums[0][threadIdx.x];
    *second = sums[1][threadIdx.x];
}

__global__ void sync_batchnorm2d_moments(norm_shape shape, const float *input, double *moments)
{
    int c = (int)blockIdx.x - 1; // block 0 writes the count, even if there are no channels
    size_t plane = (size_t)shape.h * shape.w, count = plane * shape.n;
    double sum = 0, squares = 0;
    if (c < 0) {
        if (threadIdx.x == 0)
            moments[0] = (double)count;
        return;
    }
    for (size_t i = threadIdx.x; i < count; i += THREADS) {
        double value = input[place_of(shape, c, i, plane)];
        sum += value;
        squares += value * value;
    }
    add_up(&sum, &squares);
    if (threadIdx.x == 0) {
        moments[1 + 2 * c] = sum;
        moments[2 + 2 * c] = squares;
    }
}

__device__ static double variance_of(const double *moments, int c, double *mean)
{
    *mean = moments[1 + 2 * c] / moments[0];
    double variance = moments[2 + 2 * c] / moments[0] - *mean * *mean;
    return variance < 0 ? 0 : variance;
}

__global__ void sync_batchnorm2d_save(norm_shape shape, const double *moments, float *saved_mean,
                                      float *saved_inverse_std, float *running_mean, float *running_var)
{
    int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= shape.c)
        return;
    double mean, count = moments[0], variance = variance_of(moments, c, &mean);
    saved_mean[c] = (float)mean;
    saved_inverse_std[c] = (float)(1 / sqrt(variance + (double)shape.epsilon));
    if (running_mean)
        running_mean[c] += shape.momentum * ((float)mean - running_mean[c]);
    if (running_var)
        running_var[c] += shape.momentum * ((float)(variance * count / (count - 1)) - running_var[c]);
}

__global__ void sync_batchnorm2d_apply(norm_shape shape, const float *input, const float *gamma, const float *beta,
                                       const double *moments, float *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    int c = (int)(at / plane % shape.c);
    double mean, variance = variance_of(moments, c, &mean);
    double scale = (double)gamma[c] / sqrt(variance + (double)shape.epsilon);
    output[at] = (float)(((double)input[at] - mean) * scale + (double)beta[c]);
}

__global__ void sync_batchnorm2d_sums(norm_shape shape, const float *input, const float *mean, const float *inverse_std,
                                      const float *grad_output, float *grad_gamma, float *grad_beta, double *sums)
{
    int c = (int)blockIdx.x - 1;
    size_t plane = (size_t)shape.h * shape.w, count = plane * shape.n;
    double sum = 0, product = 0;
    if (c < 0) {
        if (threadIdx.x == 0)
            sums[0] = (double)count;
        return;
    }
    for (size_t i = threadIdx.x; i < count; i += THREADS) {
        size_t at = place_of(shape, c, i, plane);
        double grad = grad_output[at];
        sum += grad;
        product += grad * ((double)input[at] - (double)mean[c]);
    }
    add_up(&sum, &product);
    if (threadIdx.x == 0) {
        product *= (double)inverse_std[c];
        sums[1 + 2 * c] = sum;
        sums[2 + 2 * c] = product;
        grad_beta[c] = (float)sum;
        grad_gamma[c] = (float)product;
    }
}

// grad_input = gamma / std * (grad - mean(grad) - normalised * mean(grad * normalised))
__global__ void sync_batchnorm2d_input_gradient(norm_shape shape, const float *input, const float *gamma,
                                                const float *mean, const float *inverse_std, const float *grad_output,
                                                const double *sums, float *grad_input)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x, plane = (size_t)shape.h * shape.w;
    if (at >= (size_t)shape.n * shape.c * plane)
        return;
    int c = (int)(at / plane % shape.c);
    float mean_grad = (float)(sums[1 + 2 * c] / sums[0]), mean_product = (float)(sums[2 + 2 * c] / sums[0]);
    float normalised = (input[at] - mean[c]) * inverse_std[c];
    grad_input[at] = gamma[c] * inverse_std[c] * (grad_output[at] - mean_grad - normalised * mean_product);
}

static size_t elements(const norm_shape *shape)
{
    return (size_t)shape->n * shape->c * shape->h * shape->w;
}

static heddle_status launch_moments(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    sync_batchnorm2d_moments<<<(unsigned)shape->c + 1, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (double *)call->output[0]);
    return heddle_cuda_launched("01_block_a_channel");
}

static heddle_status launch_apply(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    const double *moments = (const double *)call->input[3];
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (shape->c > 0)
        sync_batchnorm2d_save<<<heddle_cuda_blocks(shape->c), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            *shape, moments, (float *)call->output[1], (float *)call->output[2], (float *)call->output[3],
            (float *)call->output[4]);
    if (elements(shape) > 0)
        sync_batchnorm2d_apply<<<heddle_cuda_blocks(elements(shape)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            moments, (float *)call->output[0]);
    return heddle_cuda_launched("01_block_a_channel");
}

static heddle_status launch_sums(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    sync_batchnorm2d_sums<<<(unsigned)shape->c + 1, THREADS, 0, heddle_cuda_stream_of(call)>>>(
        *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
        (const float *)call->input[3], (float *)call->output[0], (float *)call->output[1], (double *)call->output[2]);
    return heddle_cuda_launched("01_block_a_channel");
}

static heddle_status launch_input_gradient(const heddle_call *call)
{
    const norm_shape *shape = (const norm_shape *)call->shape;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    if (elements(shape) > 0)
        sync_batchnorm2d_input_gradient<<<heddle_cuda_blocks(elements(shape)), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            *shape, (const float *)call->input[0], (const float *)call->input[1], (const float *)call->input[2],
            (const float *)call->input[3], (const float *)call->input[4], (const double *)call->input[5],
            (float *)call->output[0]);
    return heddle_cuda_launched("01_block_a_channel");
}

HEDDLE_CUDA_RUNG("sync_batchnorm2d_moments", "01_block_a_channel", launch_moments)
HEDDLE_CUDA_RUNG("sync_batchnorm2d_apply", "01_block_a_channel", launch_apply)
HEDDLE_CUDA_RUNG("sync_batchnorm2d_sums", "01_block_a_channel", launch_sums)
HEDDLE_CUDA_RUNG("sync_batchnorm2d_input_gradient", "01_block_a_channel", launch_input_gradient)
