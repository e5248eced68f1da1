// A small perceptron with one hidden layer learns which quarter of a 4x4 picture is bright.
#include "../corpus.h"
#include <math.h>

enum { INPUTS = 16, HIDDEN = 12, CLASSES = 4, SAMPLES = 64 };

struct network {
    float w1[HIDDEN][INPUTS], b1[HIDDEN], w2[CLASSES][HIDDEN], b2[CLASSES];
};

__global__ void forward(const network *net, const float *x, float *hidden, float *scores)
{
    __shared__ float h[HIDDEN];
    int sample = blockIdx.x, t = threadIdx.x;
    if (t < HIDDEN) {
        float sum = net->b1[t];
        for (int i = 0; i < INPUTS; i++)
            sum += net->w1[t][i] * x[sample * INPUTS + i];
        h[t] = fmaxf(sum, 0);
        hidden[sample * HIDDEN + t] = h[t];
    }
    __syncthreads();
    if (t < CLASSES) {
        float sum = net->b2[t];
        for (int i = 0; i < HIDDEN; i++)
            sum += net->w2[t][i] * h[i];
        scores[sample * CLASSES + t] = sum;
    }
}

__global__ void backward(const network *net, network *grad, const float *x, const float *hidden, const float *scores,
                         const int *labels, float *loss)
{
    __shared__ float delta[CLASSES];
    int sample = blockIdx.x, t = threadIdx.x;
    if (t == 0) {
        float largest = -INFINITY, sum = 0;
        for (int c = 0; c < CLASSES; c++)
            largest = fmaxf(largest, scores[sample * CLASSES + c]);
        for (int c = 0; c < CLASSES; c++)
            sum += expf(scores[sample * CLASSES + c] - largest);
        for (int c = 0; c < CLASSES; c++)
            delta[c] = expf(scores[sample * CLASSES + c] - largest) / sum - (c == labels[sample] ? 1 : 0);
        atomicAdd(loss, logf(sum) + largest - scores[sample * CLASSES + labels[sample]]);
    }
    __syncthreads();
    if (t < HIDDEN) {
        float through = 0, h = hidden[sample * HIDDEN + t];
        for (int c = 0; c < CLASSES; c++) {
            atomicAdd(&grad->w2[c][t], delta[c] * h);
            through += delta[c] * net->w2[c][t];
        }
        if (h > 0) {
            atomicAdd(&grad->b1[t], through);
            for (int i = 0; i < INPUTS; i++)
                atomicAdd(&grad->w1[t][i], through * x[sample * INPUTS + i]);
        }
    }
    if (t < CLASSES)
        atomicAdd(&grad->b2[t], delta[t]);
}

__global__ void step(float *parameters, float *gradients, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        parameters[i] -= rate * gradients[i];
        gradients[i] = 0;
    }
}

static float noise(int i)
{
    return (float)(i * 7919 % 1000) / 1000 - 0.5f;
}

int main()
{
    static float x[SAMPLES * INPUTS], start[sizeof(network) / sizeof(float)];
    int labels[SAMPLES];
    const int n = sizeof(network) / sizeof(float);
    for (int s = 0; s < SAMPLES; s++) {
        labels[s] = s % CLASSES;
        for (int i = 0; i < INPUTS; i++)
            x[s * INPUTS + i] = (i / 4 == labels[s] ? 1.0f : 0.0f) + 0.3f * noise(s * INPUTS + i);
    }
    for (int i = 0; i < n; i++)
        start[i] = noise(i + 17);
    float *d_x = device_copy(x), *parameters = device_copy(start), *gradients = device_zeros<float>(n);
    float *hidden = device_zeros<float>(SAMPLES * HIDDEN), *scores = device_zeros<float>(SAMPLES * CLASSES);
    float *d_loss = device_zeros<float>(1), first = 0, last[1] = {0};
    int *d_labels = device_copy(labels);
    network *net = (network *)parameters, *grad = (network *)gradients;
    for (int epoch = 0; epoch < 15; epoch++) {
        CHECK(cudaMemset(d_loss, 0, sizeof(float)));
        forward<<<SAMPLES, 32>>>(net, d_x, hidden, scores);
        backward<<<SAMPLES, 32>>>(net, grad, d_x, hidden, scores, d_labels, d_loss);
        step<<<(n + 63) / 64, 64>>>(parameters, gradients, n, 0.01f);
        CHECK(cudaGetLastError());
        fetch(last, d_loss);
        if (epoch == 0)
            first = last[0];
    }
    REQUIRE(last[0] < first / 3);
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(parameters));
    CHECK(cudaFree(gradients));
    CHECK(cudaFree(hidden));
    CHECK(cudaFree(scores));
    CHECK(cudaFree(d_loss));
    CHECK(cudaFree(d_labels));
    return 0;
}
