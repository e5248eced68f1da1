// A network of eight layers gives a wrong result. Which layer is to blame? Binary search: compare GPU and CPU after
// half of the layers, then after half of what is left.

#include <cmath>
#include <cstdio>

enum { LAYERS = 8, WIDTH = 64, BUGGY = 5 };

// One layer on the CPU: out = max(0, weights in). weights: (WIDTH, WIDTH)
static void layer_cpu(const float *weights, const float *in, float *out)
{
    for (int row = 0; row < WIDTH; row++) {
        float sum = 0;
        for (int k = 0; k < WIDTH; k++)
            sum += weights[row * WIDTH + k] * in[k];
        out[row] = sum > 0 ? sum : 0;
    }
}

__global__ void layer_gpu(const float *weights, const float *in, float *out, int terms)
{
    int row = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < terms; k++)
        sum += weights[row * WIDTH + k] * in[k];
    out[row] = sum > 0 ? sum : 0;
}

struct network {
    float weights[LAYERS][WIDTH * WIDTH];
    float input[WIDTH];
};

static void run_cpu(const struct network *network, int layers, float *result)
{
    float next[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        result[i] = network->input[i];
    for (int l = 0; l < layers; l++) {
        layer_cpu(network->weights[l], result, next);
        for (int i = 0; i < WIDTH; i++)
            result[i] = next[i];
    }
}

static void run_gpu(const struct network *device, int layers, float *result)
{
    float *buffer[2];
    cudaMalloc(&buffer[0], WIDTH * sizeof(float));
    cudaMalloc(&buffer[1], WIDTH * sizeof(float));
    cudaMemcpy(buffer[0], device->input, WIDTH * sizeof(float), cudaMemcpyDeviceToDevice);
    for (int l = 0; l < layers; l++) {
        int terms = l == BUGGY ? WIDTH - 1 : WIDTH; // the bug: one term is missing
        layer_gpu<<<1, WIDTH>>>(device->weights[l], buffer[l % 2], buffer[(l + 1) % 2], terms);
    }
    cudaMemcpy(result, buffer[layers % 2], WIDTH * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(buffer[0]);
    cudaFree(buffer[1]);
}

// Are the results of GPU and CPU equal, up to rounding, after so many layers?
static bool agree(const struct network *host, const struct network *device, int layers)
{
    float expected[WIDTH], found[WIDTH];
    bool equal = true;
    run_cpu(host, layers, expected);
    run_gpu(device, layers, found);
    for (int i = 0; i < WIDTH; i++)
        equal = equal && fabsf(found[i] - expected[i]) <= 1e-4f; // false for NaN
    printf("after %d layers: %s\n", layers, equal ? "equal" : "different");
    return equal;
}

int main(void)
{
    static struct network host;
    struct network *device;
    for (int l = 0; l < LAYERS; l++)
        for (int i = 0; i < WIDTH * WIDTH; i++)
            host.weights[l][i] = sinf(i * (l + 1)) / 4;
    for (int i = 0; i < WIDTH; i++)
        host.input[i] = cosf(i);
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);

    int good = 0, bad = LAYERS; // equal after `good` layers, different after `bad`
    agree(&host, device, LAYERS);
    while (bad - good > 1) {
        int middle = (good + bad) / 2;
        if (agree(&host, device, middle))
            good = middle;
        else
            bad = middle;
    }
    printf("layer %d is the first wrong one\n", good);
    cudaFree(device);
    return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
