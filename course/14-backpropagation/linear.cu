// A linear layer forward and backward on the GPU, and a gradient check: does the loss really change as its gradient
// says?
//
//   y (N, OUT) = x (N, IN) times w (OUT, IN) transposed;  loss = sum of y * target

#include <math.h>

#include "../05-first-kernels/cuda_check.h"

enum { N = 5, IN = 7, OUT = 3 };

// One thread per output.
__global__ void forward(const float *x, const float *w, float *y)
{
    int n = threadIdx.x / OUT, o = threadIdx.x % OUT;
    float sum = 0;
    for (int i = 0; i < IN; i++)
        sum += x[n * IN + i] * w[o * IN + i];
    y[n * OUT + o] = sum;
}

// grad_w[o][i] = sum over n of grad_y[n][o] * x[n][i]: every sample used this weight. One thread per weight.
__global__ void backward_weight(const float *x, const float *grad_y, float *grad_w)
{
    int o = threadIdx.x / IN, i = threadIdx.x % IN;
    float sum = 0;
    for (int n = 0; n < N; n++)
        sum += grad_y[n * OUT + o] * x[n * IN + i];
    grad_w[o * IN + i] = sum;
}

// grad_x[n][i] = sum over o of grad_y[n][o] * w[o][i]: every output used this input. One thread per input.
__global__ void backward_input(const float *w, const float *grad_y, float *grad_x)
{
    int n = threadIdx.x / IN, i = threadIdx.x % IN;
    float sum = 0;
    for (int o = 0; o < OUT; o++)
        sum += grad_y[n * OUT + o] * w[o * IN + i];
    grad_x[n * IN + i] = sum;
}

static float x[N * IN], w[OUT * IN], target[N * OUT];
static float *device_x, *device_w, *device_y, *device_grad;

static double loss(void)
{
    float y[N * OUT];
    double sum = 0;
    CUDA_CHECK(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(device_w, w, sizeof w, cudaMemcpyHostToDevice));
    forward<<<1, N * OUT>>>(device_x, device_w, device_y);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N * OUT; i++)
        sum += y[i] * target[i];
    return sum;
}

// Moves each value a little both ways. The slope of the loss must be the gradient.
static double worst_difference(float *values, const float *grad, int count)
{
    const float step = 0.25f; // the loss is linear, so any step gives the same slope; this one without rounding
    double worst = 0;
    for (int i = 0; i < count; i++) {
        float before = values[i];
        values[i] = before + step;
        double above = loss();
        values[i] = before - step;
        double below = loss();
        values[i] = before;
        worst = fmax(worst, fabs((above - below) / (2 * step) - grad[i]));
    }
    return worst;
}

int main(void)
{
    float grad_w[OUT * IN], grad_x[N * IN], *grad_y;
    for (int i = 0; i < N * IN; i++)
        x[i] = (float)(i % 5) - 2;
    for (int i = 0; i < OUT * IN; i++)
        w[i] = (float)(i % 3) - 1;
    for (int i = 0; i < N * OUT; i++)
        target[i] = (float)(i % 4) - 1;
    CUDA_CHECK(cudaMalloc(&device_x, sizeof x));
    CUDA_CHECK(cudaMalloc(&device_w, sizeof w));
    CUDA_CHECK(cudaMalloc(&device_y, sizeof target));
    CUDA_CHECK(cudaMalloc(&grad_y, sizeof target));
    CUDA_CHECK(cudaMalloc(&device_grad, sizeof grad_x));
    loss();
    CUDA_CHECK(cudaMemcpy(grad_y, target, sizeof target, cudaMemcpyHostToDevice)); // d loss / d y
    backward_weight<<<1, OUT * IN>>>(device_x, grad_y, device_grad);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(grad_w, device_grad, sizeof grad_w, cudaMemcpyDeviceToHost));
    backward_input<<<1, N * IN>>>(device_w, grad_y, device_grad);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(grad_x, device_grad, sizeof grad_x, cudaMemcpyDeviceToHost));
    double worst_w = worst_difference(w, grad_w, OUT * IN), worst_x = worst_difference(x, grad_x, N * IN);
    printf("gradient of w is off by %.1e, of x by %.1e\n", worst_w, worst_x);
    CUDA_CHECK(cudaFree(device_x));
    CUDA_CHECK(cudaFree(device_w));
    CUDA_CHECK(cudaFree(device_y));
    CUDA_CHECK(cudaFree(grad_y));
    CUDA_CHECK(cudaFree(device_grad));
    return worst_w < 1e-6 && worst_x < 1e-6 ? 0 : 1;
}
