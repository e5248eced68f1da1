// cnn_step's float64 reference as kernels, for batches that would take minutes on a CPU: the formulas of reference.c's
// operators, one thread per element or one block per sum.

#include "ops/cnn_step/cnn_step.h"
#include "ops/cuda/rung.h"

enum { TAPS = 9, NO_WINNER = 4 };

// --- a block of the network: convolution, batchnorm, relu, pooling ---------------------------------------------------

// input: (n, h, w, c) if input_last, else (n, c, h, w); output likewise (n, h/2, w/2, k). Between them (n, h, w, k).
struct block_sizes {
    int n, c, h, w, k;
    bool input_last, output_last;
    double epsilon, momentum;
};

static __device__ size_t place(bool last, int channels, int h, int w, size_t image, int channel, int y, int x)
{
    return last ? ((image * h + y) * w + x) * channels + channel : ((image * channels + channel) * h + y) * w + x;
}

static __host__ __device__ size_t pixels_of(const block_sizes &sizes)
{
    return (size_t)sizes.n * sizes.h * sizes.w;
}

// The sum over a block of threads, returned to all of them.
static __device__ double sum_of_block(double value)
{
    __shared__ double parts[HEDDLE_CUDA_BLOCK];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int distance = HEDDLE_CUDA_BLOCK / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance)
            parts[threadIdx.x] += parts[threadIdx.x + distance];
        __syncthreads();
    }
    const double sum = parts[0];
    __syncthreads();
    return sum;
}

static __device__ size_t element()
{
    return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __global__ void convolve(block_sizes sizes, const double *input, const float *weight, double *convolution)
{
    size_t i = element();
    if (i >= pixels_of(sizes) * sizes.k)
        return;
    const int k = i % sizes.k, x = i / sizes.k % sizes.w, y = i / sizes.k / sizes.w % sizes.h;
    const size_t image = i / sizes.k / sizes.w / sizes.h;
    double sum = 0;
    for (int c = 0; c < sizes.c; c++)
        for (int tap = 0; tap < TAPS; tap++) {
            const int row = y + tap / 3 - 1, column = x + tap % 3 - 1;
            if (row >= 0 && row < sizes.h && column >= 0 && column < sizes.w)
                sum += weight[((size_t)k * sizes.c + c) * TAPS + tap] *
                       input[place(sizes.input_last, sizes.c, sizes.h, sizes.w, image, c, row, column)];
        }
    convolution[i] = sum;
}

// One block per channel.
static __global__ void statistics(block_sizes sizes, const double *convolution, const float *bias, double *mean,
                                  double *inverse_std, double *running_mean, double *running_var)
{
    const size_t k = blockIdx.x, pixels = pixels_of(sizes);
    double sum = 0, squares = 0;
    for (size_t i = threadIdx.x; i < pixels; i += blockDim.x)
        sum += convolution[i * sizes.k + k];
    const double average = sum_of_block(sum) / pixels;
    for (size_t i = threadIdx.x; i < pixels; i += blockDim.x) {
        const double distance = convolution[i * sizes.k + k] - average;
        squares += distance * distance;
    }
    const double variance = sum_of_block(squares) / pixels;
    if (threadIdx.x > 0)
        return;
    mean[k] = average;
    inverse_std[k] = 1 / sqrt(variance + sizes.epsilon);
    if (running_mean)
        running_mean[k] += sizes.momentum * (average + (bias ? bias[k] : 0) - running_mean[k]);
    if (running_var)
        running_var[k] += sizes.momentum * (variance * pixels / (pixels - 1.0) - running_var[k]);
}

static __global__ void pool(block_sizes sizes, const double *convolution, const double *mean, const double *inverse_std,
                            const float *gamma, const float *beta, double *output, uint8_t *code)
{
    const int h = sizes.h / 2, w = sizes.w / 2;
    size_t i = element();
    if (i >= (size_t)sizes.n * h * w * sizes.k)
        return;
    const int k = i % sizes.k, x = i / sizes.k % w, y = i / sizes.k / w % h;
    const size_t image = i / sizes.k / w / h;
    double most = 0;
    int winner = 0;
    for (int part = 0; part < 4; part++) {
        const double z =
            convolution[place(true, sizes.k, sizes.h, sizes.w, image, k, 2 * y + part / 2, 2 * x + part % 2)];
        const double value = gamma[k] * (z - mean[k]) * inverse_std[k] + beta[k];
        if (part == 0 || value > most || isnan(value)) {
            most = value;
            winner = part;
        }
    }
    output[place(sizes.output_last, sizes.k, h, w, image, k, y, x)] = most <= 0 ? 0 : most;
    code[i] = most <= 0 ? NO_WINNER : winner;
}

// --- its gradient ----------------------------------------------------------------------------------------------------

// Of the normalised value at (y, x): its window's, if it won.
static __device__ double winners(const block_sizes &sizes, const uint8_t *code, const double *grad_output, size_t image,
                                 int k, int y, int x)
{
    const int h = sizes.h / 2, w = sizes.w / 2;
    if (y / 2 >= h || x / 2 >= w || code[place(true, sizes.k, h, w, image, k, y / 2, x / 2)] != y % 2 * 2 + x % 2)
        return 0;
    return grad_output[place(sizes.output_last, sizes.k, h, w, image, k, y / 2, x / 2)];
}

// One block per channel.
static __global__ void channel_gradients(block_sizes sizes, const double *convolution, const double *mean,
                                         const double *inverse_std, const uint8_t *code, const double *grad_output,
                                         double *grad_gamma, double *grad_beta, double *grad_bias)
{
    const int k = blockIdx.x;
    double sum = 0, weighted = 0;
    for (size_t i = threadIdx.x; i < pixels_of(sizes); i += blockDim.x) {
        const double grad =
            winners(sizes, code, grad_output, i / sizes.w / sizes.h, k, i / sizes.w % sizes.h, i % sizes.w);
        sum += grad;
        weighted += grad * (convolution[i * sizes.k + k] - mean[k]) * inverse_std[k];
    }
    sum = sum_of_block(sum);
    weighted = sum_of_block(weighted);
    if (threadIdx.x > 0)
        return;
    grad_gamma[k] = weighted;
    grad_beta[k] = sum;
    if (grad_bias)
        grad_bias[k] = 0;
}

// The convolution is overwritten by its own gradient.
static __global__ void grad_convolution(block_sizes sizes, double *convolution, const double *mean,
                                        const double *inverse_std, const float *gamma, const uint8_t *code,
                                        const double *grad_output, const double *grad_gamma, const double *grad_beta)
{
    size_t i = element();
    if (i >= pixels_of(sizes) * sizes.k)
        return;
    const int k = i % sizes.k, x = i / sizes.k % sizes.w, y = i / sizes.k / sizes.w % sizes.h;
    const double normalised = (convolution[i] - mean[k]) * inverse_std[k], pixels = pixels_of(sizes);
    const double grad = winners(sizes, code, grad_output, i / sizes.k / sizes.w / sizes.h, k, y, x);
    convolution[i] = gamma[k] * inverse_std[k] * (grad - grad_beta[k] / pixels - normalised * grad_gamma[k] / pixels);
}

static __global__ void grad_weight(block_sizes sizes, const double *input, const double *grad, double *grad_weight)
{
    size_t i = element();
    if (i >= (size_t)sizes.k * sizes.c * TAPS)
        return;
    const int tap = i % TAPS, c = i / TAPS % sizes.c, k = i / TAPS / sizes.c;
    double sum = 0;
    for (int image = 0; image < sizes.n; image++)
        for (int y = 0; y < sizes.h; y++)
            for (int x = 0; x < sizes.w; x++) {
                const int row = y + tap / 3 - 1, column = x + tap % 3 - 1;
                if (row >= 0 && row < sizes.h && column >= 0 && column < sizes.w)
                    sum += grad[place(true, sizes.k, sizes.h, sizes.w, image, k, y, x)] *
                           input[place(sizes.input_last, sizes.c, sizes.h, sizes.w, image, c, row, column)];
            }
    grad_weight[i] = sum;
}

// grad_input: (n, h, w, c)
static __global__ void grad_input(block_sizes sizes, const double *grad, const float *weight, double *grad_input)
{
    size_t i = element();
    if (i >= pixels_of(sizes) * sizes.c)
        return;
    const int c = i % sizes.c, x = i / sizes.c % sizes.w, y = i / sizes.c / sizes.w % sizes.h;
    const size_t image = i / sizes.c / sizes.w / sizes.h;
    double sum = 0;
    for (int k = 0; k < sizes.k; k++)
        for (int tap = 0; tap < TAPS; tap++) {
            const int row = y - tap / 3 + 1, column = x - tap % 3 + 1;
            if (row >= 0 && row < sizes.h && column >= 0 && column < sizes.w)
                sum += weight[((size_t)k * sizes.c + c) * TAPS + tap] *
                       grad[place(true, sizes.k, sizes.h, sizes.w, image, k, row, column)];
        }
    grad_input[i] = sum;
}

// --- linear layers and the loss --------------------------------------------------------------------------------------

static __global__ void linear(int n, int in, int out, const double *input, const float *weight, const float *bias,
                              bool relu, double *output)
{
    size_t i = element();
    if (i >= (size_t)n * out)
        return;
    double sum = bias[i % out];
    for (int p = 0; p < in; p++)
        sum += input[i / out * in + p] * weight[i % out * in + p];
    output[i] = relu && sum <= 0 ? 0 : sum;
}

// `active`: what relu let through of the input, or NULL.
static __global__ void linear_grad_input(int n, int in, int out, const double *grad, const float *weight,
                                         const double *active, double *grad_input)
{
    size_t i = element();
    if (i >= (size_t)n * in)
        return;
    double sum = 0;
    for (int o = 0; o < out; o++)
        sum += grad[i / in * out + o] * weight[(size_t)o * in + i % in];
    grad_input[i] = active && !(active[i] > 0) ? 0 : sum;
}

// grad_bias comes with the first column.
static __global__ void linear_grad_weight(int n, int in, int out, const double *grad, const double *input,
                                          double *grad_weight, double *grad_bias)
{
    size_t i = element();
    if (i >= (size_t)out * in)
        return;
    double sum = 0, bias = 0;
    for (int sample = 0; sample < n; sample++) {
        const double one = grad[(size_t)sample * out + i / in];
        sum += one * input[(size_t)sample * in + i % in];
        bias += one;
    }
    grad_weight[i] = sum;
    if (i % in == 0)
        grad_bias[i / in] = bias;
}

static __global__ void gather_pixels(heddle_cnn_step_shape shape, heddle_cnn_step_operands operands, double *images)
{
    const size_t pixels = (size_t)shape.c * shape.h * shape.w, i = element();
    if (i < shape.n * pixels)
        images[i] = operands.images[operands.order[*operands.cursor + i / pixels] * pixels + i % pixels] / 255.0;
}

// Logits are overwritten by their gradients; stores a sample's loss and whether it is correct.
static __global__ void sample_loss(int n, int classes, heddle_cnn_step_operands operands, double *logits, double *loss,
                                   double *right)
{
    size_t i = element();
    if (i >= (size_t)n)
        return;
    double *row = logits + i * classes, sum = 0;
    const int label = operands.labels[operands.order[*operands.cursor + i]];
    int best = 0;
    for (int c = 1; c < classes; c++)
        best = row[c] > row[best] ? c : best;
    const double most = row[best];
    for (int c = 0; c < classes; c++)
        sum += exp(row[c] - most);
    loss[i] = log(sum) + most - row[label];
    right[i] = best == label;
    for (int c = 0; c < classes; c++)
        row[c] = (exp(row[c] - most) / sum - (c == label)) / n;
}

// One thread.
static __global__ void batch_loss(int n, const double *losses, const double *right, double *loss, double *correct)
{
    *loss = *correct = 0;
    for (int i = 0; i < n; i++) {
        *loss += losses[i] / n;
        *correct += right[i];
    }
}

// --- the step --------------------------------------------------------------------------------------------------------

// The results of one block of the network.
struct block_memory {
    double *output, *convolution, *mean, *inverse_std;
    uint8_t *code;
};

// Parameters and results of a block, in the order of cnn_step's operands.
struct block_operands {
    const float *const *parameters; // weight, bias, gamma, beta
    double *const *gradients;
    double *running_mean, *running_var;
};

static void run_forward(const block_sizes &sizes, const double *input, const block_operands &operands,
                        const block_memory &memory, cudaStream_t stream)
{
    const float *const *parameters = operands.parameters;
    const size_t elements = pixels_of(sizes) * sizes.k;
    const size_t pooled = (size_t)sizes.n * (sizes.h / 2) * (sizes.w / 2) * sizes.k;
    convolve<<<heddle_cuda_blocks(elements), HEDDLE_CUDA_BLOCK, 0, stream>>>(sizes, input, parameters[0],
                                                                             memory.convolution);
    statistics<<<sizes.k, HEDDLE_CUDA_BLOCK, 0, stream>>>(sizes, memory.convolution, parameters[1], memory.mean,
                                                          memory.inverse_std, operands.running_mean,
                                                          operands.running_var);
    pool<<<heddle_cuda_blocks(pooled), HEDDLE_CUDA_BLOCK, 0, stream>>>(sizes, memory.convolution, memory.mean,
                                                                       memory.inverse_std, parameters[2], parameters[3],
                                                                       memory.output, memory.code);
}

static void run_backward(const block_sizes &sizes, const double *input, const block_operands &operands,
                         const block_memory &memory, const double *grad_output, double *grad, cudaStream_t stream)
{
    const float *const *parameters = operands.parameters;
    double *const *gradients = operands.gradients;
    channel_gradients<<<sizes.k, HEDDLE_CUDA_BLOCK, 0, stream>>>(sizes, memory.convolution, memory.mean,
                                                                 memory.inverse_std, memory.code, grad_output,
                                                                 gradients[2], gradients[3], gradients[1]);
    grad_convolution<<<heddle_cuda_blocks(pixels_of(sizes) * sizes.k), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        sizes, memory.convolution, memory.mean, memory.inverse_std, parameters[2], memory.code, grad_output,
        gradients[2], gradients[3]);
    grad_weight<<<heddle_cuda_blocks((size_t)sizes.k * sizes.c * TAPS), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        sizes, input, memory.convolution, gradients[0]);
    if (grad)
        grad_input<<<heddle_cuda_blocks(pixels_of(sizes) * sizes.c), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            sizes, memory.convolution, parameters[0], grad);
}

// Cuts `memory` into arrays of doubles; with NULL it only counts.
struct cutter {
    double *memory;
    size_t used;
    double *take(size_t count)
    {
        double *taken = memory ? memory + used : NULL;
        used += count;
        return taken;
    }
    block_memory take_block(const block_sizes &sizes)
    {
        const size_t pooled = (size_t)sizes.n * (sizes.h / 2) * (sizes.w / 2) * sizes.k;
        block_memory block = {take(pooled), take(pixels_of(sizes) * sizes.k), take(sizes.k), take(sizes.k), NULL};
        block.code = (uint8_t *)take(pooled / sizeof(double) + 1);
        return block;
    }
};

static void run(const heddle_cnn_step_shape &shape, const heddle_call *call, cutter &cut, cudaStream_t stream)
{
    const heddle_cnn_step_operands operands = heddle_cnn_step_unpack(call);
    const float *const *parameters = (const float *const *)call->input + 4;
    double *const *output = (double *const *)call->output, *const *gradients = output + 2;
    const block_sizes stem = {shape.n, shape.c, shape.h, shape.w, shape.k1, false, true, shape.epsilon, shape.momentum};
    const block_sizes block = {shape.n, shape.k1, shape.h / 2,   shape.w / 2,   shape.k2,
                               true,    false,    shape.epsilon, shape.momentum};
    const int n = shape.n, hidden = shape.hidden, classes = shape.classes;
    const int features = shape.k2 * (block.h / 2) * (block.w / 2);
    double *images = cut.take(pixels_of(stem) * stem.c);
    const block_memory first = cut.take_block(stem), second = cut.take_block(block);
    double *active = cut.take((size_t)n * hidden), *logits = cut.take((size_t)n * classes);
    double *losses = cut.take(n), *right = cut.take(n), *grad_hidden = cut.take((size_t)n * hidden);
    double *grad_pooled2 = cut.take((size_t)n * features), *grad_pooled1 = cut.take(pixels_of(block) * block.c);
    if (!cut.memory)
        return;
    const block_operands of_stem = {parameters, gradients, output[14], output[15]};
    const block_operands of_block = {parameters + 4, gradients + 4, output[16], output[17]};
    const unsigned threads = HEDDLE_CUDA_BLOCK;
    gather_pixels<<<heddle_cuda_blocks(pixels_of(stem) * stem.c), threads, 0, stream>>>(shape, operands, images);
    run_forward(stem, images, of_stem, first, stream);
    run_forward(block, first.output, of_block, second, stream);
    linear<<<heddle_cuda_blocks((size_t)n * hidden), threads, 0, stream>>>(n, features, hidden, second.output,
                                                                           parameters[8], parameters[9], true, active);
    linear<<<heddle_cuda_blocks((size_t)n * classes), threads, 0, stream>>>(n, hidden, classes, active, parameters[10],
                                                                            parameters[11], false, logits);
    sample_loss<<<heddle_cuda_blocks(n), threads, 0, stream>>>(n, classes, operands, logits, losses, right);
    batch_loss<<<1, 1, 0, stream>>>(n, losses, right, output[0], output[1]);
    linear_grad_weight<<<heddle_cuda_blocks((size_t)classes * hidden), threads, 0, stream>>>(
        n, hidden, classes, logits, active, gradients[10], gradients[11]);
    linear_grad_input<<<heddle_cuda_blocks((size_t)n * hidden), threads, 0, stream>>>(
        n, hidden, classes, logits, parameters[10], active, grad_hidden);
    linear_grad_weight<<<heddle_cuda_blocks((size_t)hidden * features), threads, 0, stream>>>(
        n, features, hidden, grad_hidden, second.output, gradients[8], gradients[9]);
    linear_grad_input<<<heddle_cuda_blocks((size_t)n * features), threads, 0, stream>>>(
        n, features, hidden, grad_hidden, parameters[8], NULL, grad_pooled2);
    run_backward(block, first.output, of_block, second, grad_pooled2, grad_pooled1, stream);
    run_backward(stem, images, of_stem, first, grad_pooled1, NULL, stream);
}

static heddle_status launch(const heddle_call *call)
{
    const heddle_cnn_step_shape *shape = (const heddle_cnn_step_shape *)call->shape;
    const cudaStream_t stream = heddle_cuda_stream_of(call);
    cutter cut = {NULL, 0};
    run(*shape, call, cut, stream);
    const size_t bytes = cut.used * sizeof(double);
    cut.used = 0;
    if (cudaMalloc((void **)&cut.memory, bytes) != cudaSuccess)
        return heddle_cuda_launched("reference");
    run(*shape, call, cut, stream);
    const heddle_status status = heddle_cuda_launched("reference");
    cudaStreamSynchronize(stream);
    cudaFree(cut.memory);
    return status;
}

HEDDLE_CUDA_REFERENCE("cnn_step", launch)
