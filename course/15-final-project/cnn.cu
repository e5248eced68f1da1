// A convolutional network that learns to read digits, in one file: data, kernels, forward, backward, update.
//
//   nvcc -O3 -o cnn cnn.cu && ./cnn FOLDER [EPOCHS [BATCH [IMAGES]]]      FOLDER: the four files of MNIST, unpacked
//   heddle check cnn.cu                                                  no GPU: learns two made-up digits
//
// The network, for a batch of N images of 28 x 28 pixels:
//
//   images (N, 1, 28, 28) -> conv 3x3 -> batchnorm -> relu -> maxpool 2x2    (N, 32, 14, 14)
//                         -> conv 3x3 -> batchnorm -> relu -> maxpool 2x2    (N, 64, 7, 7)
//                         -> linear -> relu -> linear                        (N, 10)
//                         -> softmax and cross-entropy                       one loss per image
//
// Plain stochastic gradient descent with a constant rate. Batchnorm uses the statistics of the batch at hand, also when
// testing. Every kernel is the simplest that is correct.
//
// There are no atomics: every sum is added up by one thread or one block in a fixed order, so two runs give the same
// bits.

#include <cuda_runtime.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                             \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, CHANNELS1 = 32, CHANNELS2 = 64, HIDDEN = 128 };
enum { FLAT = CHANNELS2 * (SIDE / 4) * (SIDE / 4) }; // inputs of the first linear layer
enum { THREADS = 256, TILE = 16 };                   // per block: of most kernels; side of a tile of matmul

static const float EPSILON = 1e-5f; // keeps batchnorm from dividing by zero

static unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + THREADS - 1) / THREADS);
}

// --- convolution ----------------------------------------------------------------------------------------------------

// output (N, K, H, W) = input (N, C, H, W) * weight (K, C, 3, 3) + bias (K), padded with zeros. One thread per output.
__global__ void conv_forward(const float *input, const float *weight, const float *bias, float *output, int N, int C,
                             int K, int H, int W)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)N * K * H * W)
        return;
    int x = i % W, y = i / W % H, k = i / (W * H) % K, n = i / ((int64_t)W * H * K);
    float sum = bias[k];
    for (int c = 0; c < C; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int row = y + r - 1, column = x + s - 1;
                if (row >= 0 && row < H && column >= 0 && column < W)
                    sum += input[((n * C + c) * H + row) * W + column] * weight[((k * C + c) * 3 + r) * 3 + s];
            }
    output[i] = sum;
}

// The gradient of the input: each of its elements collects from the nine outputs of every channel that used it.
__global__ void conv_backward_input(const float *grad_output, const float *weight, float *grad_input, int N, int C,
                                    int K, int H, int W)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (int64_t)N * C * H * W)
        return;
    int x = i % W, y = i / W % H, c = i / (W * H) % C, n = i / ((int64_t)W * H * C);
    float sum = 0;
    for (int k = 0; k < K; k++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int row = y - r + 1, column = x - s + 1;
                if (row >= 0 && row < H && column >= 0 && column < W)
                    sum += grad_output[((n * K + k) * H + row) * W + column] * weight[((k * C + c) * 3 + r) * 3 + s];
            }
    grad_input[i] = sum;
}

// The sum of one value per thread over the block; every thread gets it.
__device__ float block_sum(float value)
{
    __shared__ float parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    float sum = parts[0];
    __syncthreads(); // parts may be used again
    return sum;
}

// The gradient of one weight is a sum over all images and pixels: one block per weight.
__global__ void conv_backward_weight(const float *input, const float *grad_output, float *grad_weight, int N, int C,
                                     int K, int H, int W)
{
    int s = blockIdx.x % 3, r = blockIdx.x / 3 % 3, c = blockIdx.x / 9 % C, k = blockIdx.x / (9 * C);
    float sum = 0;
    for (int i = threadIdx.x; i < N * H * W; i += THREADS) {
        int x = i % W, y = i / W % H, n = i / (W * H), row = y + r - 1, column = x + s - 1;
        if (row >= 0 && row < H && column >= 0 && column < W)
            sum += input[((n * C + c) * H + row) * W + column] * grad_output[((n * K + k) * H + y) * W + x];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        grad_weight[blockIdx.x] = sum;
}

// The gradient of a channel's bias is the sum of the channel's gradients: one block per channel.
__global__ void conv_backward_bias(const float *grad_output, float *grad_bias, int N, int K, int area)
{
    float sum = 0;
    for (int i = threadIdx.x; i < N * area; i += THREADS)
        sum += grad_output[(i / area * K + blockIdx.x) * area + i % area];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        grad_bias[blockIdx.x] = sum;
}

// --- batchnorm, relu, pooling ---------------------------------------------------------------------------------------

// Normalises each channel to mean 0 and variance 1, then scales and shifts it. One block per channel. Keeps the
// normalised values and 1 / standard deviation for the backward pass.
__global__ void batchnorm_forward(const float *input, const float *scale, const float *shift, float *normal,
                                  float *inverse, float *output, int N, int C, int area)
{
    int c = blockIdx.x, count = N * area;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        sum += input[(i / area * C + c) * area + i % area];
    float mean = block_sum(sum) / count;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        float distance = input[(i / area * C + c) * area + i % area] - mean;
        squares += distance * distance;
    }
    float factor = rsqrtf(block_sum(squares) / count + EPSILON);
    for (int i = threadIdx.x; i < count; i += THREADS) {
        int at = (i / area * C + c) * area + i % area;
        normal[at] = (input[at] - mean) * factor;
        output[at] = normal[at] * scale[c] + shift[c];
    }
    if (threadIdx.x == 0)
        inverse[c] = factor;
}

// Mean and variance depend on every element, so every element's gradient depends on two sums over the channel.
__global__ void batchnorm_backward(const float *grad_output, const float *normal, const float *inverse,
                                   const float *scale, float *grad_scale, float *grad_shift, float *grad_input, int N,
                                   int C, int area)
{
    int c = blockIdx.x, count = N * area;
    float sum = 0, product = 0;
    for (int i = threadIdx.x; i < count; i += THREADS) {
        int at = (i / area * C + c) * area + i % area;
        sum += grad_output[at];
        product += grad_output[at] * normal[at];
    }
    sum = block_sum(sum);
    product = block_sum(product);
    for (int i = threadIdx.x; i < count; i += THREADS) {
        int at = (i / area * C + c) * area + i % area;
        grad_input[at] = scale[c] * inverse[c] * (grad_output[at] - (sum + normal[at] * product) / count);
    }
    if (threadIdx.x == 0) {
        grad_shift[c] = sum;
        grad_scale[c] = product;
    }
}

__global__ void relu_forward(const float *input, float *output, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        output[i] = fmaxf(input[i], 0);
}

// In place: the gradient passes where the output was positive.
__global__ void relu_backward(const float *output, float *grad, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && output[i] <= 0)
        grad[i] = 0;
}

// The largest of each 2 x 2 window. One thread per window; `planes` is N * C.
__global__ void maxpool_forward(const float *input, float *output, uint8_t *winner, int planes, int H, int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * (H / 2) * (W / 2))
        return;
    int x = i % (W / 2), y = i / (W / 2) % (H / 2), plane = i / (W / 2 * (H / 2));
    const float *corner = input + (plane * H + 2 * y) * W + 2 * x;
    int best = 0;
    for (int place = 1; place < 4; place++)
        if (corner[place / 2 * W + place % 2] > corner[best / 2 * W + best % 2])
            best = place;
    winner[i] = best;
    output[i] = corner[best / 2 * W + best % 2];
}

// The winner takes the gradient, the other three get none.
__global__ void maxpool_backward(const float *grad_output, const uint8_t *winner, float *grad_input, int planes, int H,
                                 int W)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * (H / 2) * (W / 2))
        return;
    int x = i % (W / 2), y = i / (W / 2) % (H / 2), plane = i / (W / 2 * (H / 2));
    float *corner = grad_input + (plane * H + 2 * y) * W + 2 * x;
    for (int place = 0; place < 4; place++)
        corner[place / 2 * W + place % 2] = place == winner[i] ? grad_output[i] : 0;
}

// --- linear layers --------------------------------------------------------------------------------------------------

// output (m, n) = a (m, k) times b (k, n), through tiles in shared memory. Either may lie transposed in memory: the
// three products of a linear layer differ in nothing else. `bias` (n) may be NULL.
template <bool transpose_a, bool transpose_b>
__global__ void matmul(const float *a, const float *b, const float *bias, float *output, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE + 1], tile_b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        int across = first + threadIdx.x, down = first + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] =
            row < m && across < k ? a[transpose_a ? across * m + row : row * k + across] : 0;
        tile_b[threadIdx.y][threadIdx.x] =
            down < k && column < n ? b[transpose_b ? column * k + down : down * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n)
        output[row * n + column] = sum + (bias ? bias[column] : 0);
}

template <bool transpose_a, bool transpose_b>
static void multiply(const float *a, const float *b, const float *bias, float *output, int m, int n, int k)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul<transpose_a, transpose_b><<<grid, dim3(TILE, TILE)>>>(a, b, bias, output, m, n, k);
}

// Softmax, cross-entropy and their gradient, which together are simply (probability - 1 at the label) / N. One thread
// per image. The largest logit is subtracted first: expf of a large number would overflow.
__global__ void cross_entropy(const float *logits, const uint8_t *labels, float *loss, uint8_t *correct, float *grad,
                              int N)
{
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n >= N)
        return;
    const float *own = logits + n * CLASSES;
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (own[i] > own[best])
            best = i;
    float sum = 0;
    for (int i = 0; i < CLASSES; i++)
        sum += expf(own[i] - own[best]);
    loss[n] = logf(sum) + own[best] - own[labels[n]];
    correct[n] = best == labels[n];
    for (int i = 0; i < CLASSES; i++)
        grad[n * CLASSES + i] = (expf(own[i] - own[best]) / sum - (i == labels[n])) / N;
}

// --- the network ----------------------------------------------------------------------------------------------------

__global__ void sgd(float *parameter, const float *grad, float rate, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        parameter[i] -= rate * grad[i];
}

enum { CONV1, BIAS1, SCALE1, SHIFT1, CONV2, BIAS2, SCALE2, SHIFT2, LINEAR1, OFFSET1, LINEAR2, OFFSET2, PARAMETERS };

static const struct {
    int count, inputs; // inputs: of one neuron, for the size of the first values; 0: starts at `start`
    float start;
} parameters[PARAMETERS] = {
    {CHANNELS1 * 9, 9, 0},
    {CHANNELS1, 0, 0},
    {CHANNELS1, 0, 1},
    {CHANNELS1, 0, 0},
    {CHANNELS2 * CHANNELS1 * 9, CHANNELS1 * 9, 0},
    {CHANNELS2, 0, 0},
    {CHANNELS2, 0, 1},
    {CHANNELS2, 0, 0},
    {HIDDEN * FLAT, FLAT, 0},
    {HIDDEN, 0, 0},
    {CLASSES * HIDDEN, HIDDEN, 0},
    {CLASSES, 0, 0},
};

// One [conv -> batchnorm -> relu -> maxpool] block, with what its backward pass needs.
typedef struct block {
    int C, K, side; // input channels, output channels, side of its input
    float *conv, *normal, *inverse, *scaled, *relu, *pooled, *grad;
    uint8_t *winner;
} block;

typedef struct network {
    int batch;
    float *value[PARAMETERS], *grad[PARAMETERS];
    block blocks[2];
    float *hidden, *hidden_relu, *logits, *loss;
    float *grad_logits, *grad_hidden, *grad_pooled2, *grad_pooled1;
    uint8_t *correct;
} network;

enum { MOST_OWNED = 64 };
static void *owned[MOST_OWNED]; // all device memory, to be freed at the end
static int owned_count;

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void *device_memory(size_t bytes)
{
    void *memory;
    require(owned_count < MOST_OWNED, "MOST_OWNED is too small");
    CHECK(cudaMalloc(&memory, bytes));
    owned[owned_count++] = memory;
    return memory;
}

static float *device_floats(size_t count)
{
    return (float *)device_memory(count * sizeof(float));
}

static block create_block(int batch, int C, int K, int side)
{
    size_t area = (size_t)batch * K * side * side;
    block b = {C, K, side};
    for (float **memory : {&b.conv, &b.normal, &b.scaled, &b.relu, &b.grad})
        *memory = device_floats(area);
    b.inverse = device_floats(K);
    b.pooled = device_floats(area / 4);
    b.winner = (uint8_t *)device_memory(area / 4);
    return b;
}

static float uniform(void)
{
    return (float)rand() / (float)RAND_MAX * 2 - 1;
}

static network create_network(int batch)
{
    network net = {batch};
    for (int i = 0; i < PARAMETERS; i++) {
        int count = parameters[i].count;
        float *first = (float *)malloc(count * sizeof *first), bound = 0;
        require(first != NULL, "not enough memory for the parameters");
        if (parameters[i].inputs > 0)
            bound = sqrtf(6.0f / parameters[i].inputs); // He: the variance stays the same from layer to layer
        for (int j = 0; j < count; j++)
            first[j] = parameters[i].start + bound * uniform();
        net.value[i] = device_floats(count);
        net.grad[i] = device_floats(count);
        CHECK(cudaMemcpy(net.value[i], first, count * sizeof *first, cudaMemcpyHostToDevice));
        free(first);
    }
    net.blocks[0] = create_block(batch, 1, CHANNELS1, SIDE);
    net.blocks[1] = create_block(batch, CHANNELS1, CHANNELS2, SIDE / 2);
    net.hidden = device_floats(batch * HIDDEN);
    net.hidden_relu = device_floats(batch * HIDDEN);
    net.logits = device_floats(batch * CLASSES);
    net.loss = device_floats(batch);
    net.grad_logits = device_floats(batch * CLASSES);
    net.grad_hidden = device_floats(batch * HIDDEN);
    net.grad_pooled2 = device_floats(batch * FLAT);
    net.grad_pooled1 = device_floats((size_t)batch * CHANNELS1 * PIXELS / 4);
    net.correct = (uint8_t *)device_memory(batch);
    return net;
}

static void block_forward(const block *b, float *const *value, const float *input, int N)
{
    int side = b->side, area = side * side, count = N * b->K * area;
    conv_forward<<<blocks_for(count), THREADS>>>(input, value[0], value[1], b->conv, N, b->C, b->K, side, side);
    batchnorm_forward<<<b->K, THREADS>>>(b->conv, value[2], value[3], b->normal, b->inverse, b->scaled, N, b->K, area);
    relu_forward<<<blocks_for(count), THREADS>>>(b->scaled, b->relu, count);
    maxpool_forward<<<blocks_for(count / 4), THREADS>>>(b->relu, b->pooled, b->winner, N * b->K, side, side);
}

// grad_input may be NULL: nobody needs the gradient of the images.
static void block_backward(const block *b, float *const *value, float *const *grad, const float *input,
                           const float *grad_pooled, float *grad_input, int N)
{
    int side = b->side, area = side * side, count = N * b->K * area;
    maxpool_backward<<<blocks_for(count / 4), THREADS>>>(grad_pooled, b->winner, b->grad, N * b->K, side, side);
    relu_backward<<<blocks_for(count), THREADS>>>(b->relu, b->grad, count);
    batchnorm_backward<<<b->K, THREADS>>>(b->grad, b->normal, b->inverse, value[2], grad[2], grad[3], b->conv, N, b->K,
                                          area); // b->conv is not needed any more: it takes the gradient
    conv_backward_weight<<<b->K * b->C * 9, THREADS>>>(input, b->conv, grad[0], N, b->C, b->K, side, side);
    conv_backward_bias<<<b->K, THREADS>>>(b->conv, grad[1], N, b->K, area);
    if (grad_input)
        conv_backward_input<<<blocks_for(N * b->C * area), THREADS>>>(b->conv, value[0], grad_input, N, b->C, b->K,
                                                                      side, side);
}

static void forward(network *net, const float *images, const uint8_t *labels, int N)
{
    float *const *value = net->value;
    block_forward(&net->blocks[0], value + CONV1, images, N);
    block_forward(&net->blocks[1], value + CONV2, net->blocks[0].pooled, N);
    multiply<false, true>(net->blocks[1].pooled, value[LINEAR1], value[OFFSET1], net->hidden, N, HIDDEN, FLAT);
    relu_forward<<<blocks_for(N * HIDDEN), THREADS>>>(net->hidden, net->hidden_relu, N * HIDDEN);
    multiply<false, true>(net->hidden_relu, value[LINEAR2], value[OFFSET2], net->logits, N, CLASSES, HIDDEN);
    cross_entropy<<<blocks_for(N), THREADS>>>(net->logits, labels, net->loss, net->correct, net->grad_logits, N);
}

static void backward(network *net, const float *images, int N)
{
    float *const *value = net->value, *const *grad = net->grad;
    multiply<true, false>(net->grad_logits, net->hidden_relu, NULL, grad[LINEAR2], CLASSES, HIDDEN, N);
    conv_backward_bias<<<CLASSES, THREADS>>>(net->grad_logits, grad[OFFSET2], N, CLASSES, 1);
    multiply<false, false>(net->grad_logits, value[LINEAR2], NULL, net->grad_hidden, N, HIDDEN, CLASSES);
    relu_backward<<<blocks_for(N * HIDDEN), THREADS>>>(net->hidden_relu, net->grad_hidden, N * HIDDEN);
    multiply<true, false>(net->grad_hidden, net->blocks[1].pooled, NULL, grad[LINEAR1], HIDDEN, FLAT, N);
    conv_backward_bias<<<HIDDEN, THREADS>>>(net->grad_hidden, grad[OFFSET1], N, HIDDEN, 1);
    multiply<false, false>(net->grad_hidden, value[LINEAR1], NULL, net->grad_pooled2, N, FLAT, HIDDEN);
    block_backward(&net->blocks[1], value + CONV2, grad + CONV2, net->blocks[0].pooled, net->grad_pooled2,
                   net->grad_pooled1, N);
    block_backward(&net->blocks[0], value + CONV1, grad + CONV1, images, net->grad_pooled1, NULL, N);
}

static void update(network *net, float rate)
{
    for (int i = 0; i < PARAMETERS; i++)
        sgd<<<blocks_for(parameters[i].count), THREADS>>>(net->value[i], net->grad[i], rate, parameters[i].count);
}

// --- data -----------------------------------------------------------------------------------------------------------

typedef struct dataset {
    int count;
    float *images;             // on the device, all of them: (count, 28, 28), from 0 to 1
    uint8_t *labels;           // on the device
    uint8_t *pixels, *answers; // on the host
} dataset;

static uint8_t *read_file(const char *folder, const char *name, size_t header, int *count)
{
    char path[4096];
    uint8_t start[16];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fread(start, 1, header, file) != header) {
        fprintf(stderr, "%s: cannot be read; it should be MNIST's file, unpacked (gunzip)\n", path);
        exit(1);
    }
    *count = start[4] << 24 | start[5] << 16 | start[6] << 8 | start[7]; // the file's numbers are big-endian
    size_t bytes = (size_t)*count * (header == 16 ? PIXELS : 1);
    uint8_t *contents = (uint8_t *)malloc(bytes);
    if (!contents || fread(contents, 1, bytes, file) != bytes) {
        fprintf(stderr, "%s: ends too early\n", path);
        exit(1);
    }
    fclose(file);
    return contents;
}

static dataset upload(uint8_t *pixels, uint8_t *answers, int count)
{
    dataset data = {count, device_floats((size_t)count * PIXELS), (uint8_t *)device_memory(count), pixels, answers};
    float *scaled = (float *)malloc((size_t)count * PIXELS * sizeof *scaled);
    require(scaled != NULL, "not enough memory for the images");
    for (size_t i = 0; i < (size_t)count * PIXELS; i++)
        scaled[i] = pixels[i] / 255.0f;
    CHECK(cudaMemcpy(data.images, scaled, (size_t)count * PIXELS * sizeof *scaled, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(data.labels, answers, count, cudaMemcpyHostToDevice));
    free(scaled);
    return data;
}

static dataset read_digits(const char *folder, const char *part, int most)
{
    char images[64], labels[64];
    int count, label_count;
    snprintf(images, sizeof images, "%s-images-idx3-ubyte", part);
    snprintf(labels, sizeof labels, "%s-labels-idx1-ubyte", part);
    uint8_t *pixels = read_file(folder, images, 16, &count), *answers = read_file(folder, labels, 8, &label_count);
    if (count != label_count) {
        fprintf(stderr, "%s: %d images but %d labels\n", folder, count, label_count);
        exit(1);
    }
    return upload(pixels, answers, most > 0 && most < count ? most : count);
}

// Strokes at different places: enough to see whether the network learns.
static dataset make_digits(int count)
{
    uint8_t *pixels = (uint8_t *)calloc(count, PIXELS), *answers = (uint8_t *)malloc(count);
    require(pixels != NULL && answers != NULL, "not enough memory for the images");
    for (int i = 0; i < count; i++) {
        answers[i] = i % CLASSES;
        for (int j = 4; j < 24; j++)
            pixels[i * PIXELS + (i % 2 ? j * SIDE + 2 * i + 5 : (2 * i + 5) * SIDE + j)] = 255;
    }
    return upload(pixels, answers, count);
}

static void print_image(const uint8_t *pixels)
{
    for (int y = 0; y < SIDE; y++, putchar('\n'))
        for (int x = 0; x < SIDE; x++)
            putchar(" .:-=+*#%@"[pixels[y * SIDE + x] * 9 / 255]);
}

// --- training -------------------------------------------------------------------------------------------------------

// Adds the losses and the number of correct answers of the last forward pass to *loss and *correct. The copies wait for
// the GPU.
static void look(const network *net, int N, double *loss, double *correct)
{
    float *losses = (float *)malloc(N * sizeof *losses);
    uint8_t *hits = (uint8_t *)malloc(N);
    require(losses != NULL && hits != NULL, "not enough memory for the losses");
    CHECK(cudaMemcpy(losses, net->loss, N * sizeof *losses, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hits, net->correct, N, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        *loss += losses[i];
        *correct += hits[i];
    }
    free(losses);
    free(hits);
}

static void train_epoch(network *net, const dataset *data, float rate)
{
    for (int first = 0; first + net->batch <= data->count; first += net->batch) {
        const float *images = data->images + (size_t)first * PIXELS;
        forward(net, images, data->labels + first, net->batch);
        backward(net, images, net->batch);
        update(net, rate);
        CHECK(cudaGetLastError());
    }
}

static void test(network *net, const dataset *data, const char *name)
{
    double loss = 0, correct = 0;
    int seen = data->count / net->batch * net->batch;
    for (int first = 0; first < seen; first += net->batch) {
        forward(net, data->images + (size_t)first * PIXELS, data->labels + first, net->batch);
        CHECK(cudaGetLastError());
        look(net, net->batch, &loss, &correct);
    }
    printf("%s: loss %.4f, %.2f %% correct\n", name, loss / seen, 100 * correct / seen);
}

int main(int argc, char **argv)
{
    bool made_up = argc < 2;
    int epochs = argc > 2 ? atoi(argv[2]) : made_up ? 1 : 3, batch = made_up ? 2 : argc > 3 ? atoi(argv[3]) : 64;
    int most = argc > 4 ? atoi(argv[4]) : 0;
    dataset training = made_up ? make_digits(2) : read_digits(argv[1], "train", most);
    dataset testing = made_up ? make_digits(2) : read_digits(argv[1], "t10k", most);
    if (epochs < 1 || batch < 2 || batch > training.count || batch > testing.count) {
        fprintf(stderr, "usage: cnn FOLDER [EPOCHS [BATCH [IMAGES]]], with at least 2 images per batch\n");
        return 2;
    }
    network net = create_network(batch);
    if (!made_up)
        print_image(training.pixels);
    test(&net, &testing, "before training");
    for (int epoch = 1; epoch <= epochs; epoch++) {
        char name[32];
        snprintf(name, sizeof name, "epoch %d", epoch);
        train_epoch(&net, &training, 0.05f);
        test(&net, &testing, name);
    }
    for (int i = 0; i < owned_count; i++)
        CHECK(cudaFree(owned[i]));
    for (uint8_t *memory : {training.pixels, training.answers, testing.pixels, testing.answers})
        free(memory);
    return 0;
}
