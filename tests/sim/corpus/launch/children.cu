// nvcc-refuses: needs -rdc. Kernels that kernels launch: they see what their parent wrote before, run in the order of
// their block's launches, and tail launches come last. A child launches children of its own.
#include "../corpus.h"

__global__ void add(int *data, int first, int value)
{
    data[first + threadIdx.x] += value;
}

template <int STEP> __global__ void halve(int *data, int first, int count)
{
    if (count > 1 && threadIdx.x == 0) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        halve<STEP><<<1, 1, 0, stream>>>(data, first, count / 2);
        halve<STEP><<<1, 1, 0, cudaStreamFireAndForget>>>(data, first + count / 2, count / 2);
        cudaStreamDestroy(stream);
    } else {
        data[first] += STEP;
    }
}

// An integer may have any value, also that of an address which a child could not use.
__global__ void sum(const int *data, int count, int *result, unsigned long long token)
{
    *result += token == 0;
    for (int i = 0; i < count; i++)
        *result += data[i];
}

__global__ void parent(int *data, int count, int *result)
{
    int i = threadIdx.x;
    data[i] = i;
    __syncthreads();
    if (i > 0)
        return;
    sum<<<1, 1, 0, cudaStreamTailLaunch>>>(data, count, result, (unsigned long long)&i);
    add<<<1, count / 2>>>(data, 0, 1);
    add<<<1, count / 2>>>(data, count / 2, 2);
    halve<1000><<<1, 1>>>(data, 0, count);
    if (cudaGetLastError() != cudaSuccess)
        *result = -1;
}

int main()
{
    const int count = 32;
    int *data, *result, found = 0;
    CHECK(cudaMalloc(&data, count * sizeof(int)));
    CHECK(cudaMalloc(&result, sizeof(int)));
    CHECK(cudaMemset(result, 0, sizeof(int)));
    parent<<<1, count>>>(data, count, result);
    CHECK(cudaMemcpy(&found, result, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    return found != count * (count - 1) / 2 + 16 + 32 + 1000 * count;
}
