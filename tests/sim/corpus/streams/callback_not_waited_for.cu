// The host uses pinned memory that a function in a stream uses, before it waits for the stream.
#include "../corpus.h"

__global__ void fill(int *out)
{
    out[threadIdx.x] = 1;
}

static int total;

static void CUDART_CB store(void *value)
{
    *(int *)value = 7;
}

static void CUDART_CB add(void *values)
{
    for (int i = 0; i < 8; i++)
        total += ((int *)values)[i];
}

int main()
{
    int *device = device_zeros<int>(32), *result, *input;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&result, sizeof *result));
    CHECK(cudaMallocHost(&input, 8 * sizeof *input));
    for (int i = 0; i < 8; i++)
        input[i] = i;
    *result = 0;
    fill<<<1, 32, 0, stream>>>(device);
    SHOW(cudaLaunchHostFunc(stream, store, result)); // expect: missing-wait a
    int seen = *result;                              // expect: missing-wait a
    SHOW(cudaStreamSynchronize(stream));

    SHOW(cudaLaunchHostFunc(stream, add, input)); // expect: missing-wait b
    input[3] = 0;                                 // expect: missing-wait b
    SHOW(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(result));
    CHECK(cudaFreeHost(input));
    CHECK(cudaFree(device));
    return seen + total == -1;
}
