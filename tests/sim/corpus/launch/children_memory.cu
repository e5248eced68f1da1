// nvcc-refuses: needs -rdc. Memory in kernels by the runtime API: cudaMalloc and cudaFree share malloc's heap, copies and
// fills have their place among the launches of their block.
#include "../corpus.h"

__global__ void doubled(int *data)
{
    data[threadIdx.x] *= 2; // expect: race b
}

__global__ void done(int *data, int *sum)
{
    for (int i = 0; i < 32; i++)
        *sum += data[i];
    cudaFree(data);
}

__global__ void in_order(const int *from, int *sum)
{
    int *data = nullptr;
    if (cudaMalloc(&data, 64 * sizeof(int)) != cudaSuccess)
        return;
    cudaMemsetAsync(data, 0, 64 * sizeof(int));
    cudaMemcpyAsync(data, from, 32 * sizeof(int), cudaMemcpyDeviceToDevice);
    doubled<<<1, 32>>>(data);
    done<<<1, 1, 0, cudaStreamTailLaunch>>>(data, sum);
}

__global__ void reads_the_copy(int *to, const int *from, int *sum)
{
    cudaMemcpyAsync(to, from, 32 * sizeof(int), cudaMemcpyDeviceToDevice); // expect: race a
    *sum += to[1];                                                         // expect: race a
}

__global__ void beside_a_fill(int *to)
{
    cudaMemsetAsync(to, 0, 32 * sizeof(int), cudaStreamFireAndForget); // expect: race b
    doubled<<<1, 32>>>(to);
}

__global__ void wrong_direction(int *to, const int *from)
{
    cudaMemcpyAsync(to, from, sizeof(int), cudaMemcpyHostToDevice); // expect: bad-call
}

__global__ void too_long(int *to)
{
    cudaMemsetAsync(to, 0, 65 * sizeof(int)); // expect: out-of-bounds
}

int main()
{
    const int size = 64 * sizeof(int);
    int *from, *to, *sum, found = 0;
    CHECK(cudaMalloc(&from, size));
    CHECK(cudaMalloc(&to, size));
    CHECK(cudaMalloc(&sum, sizeof(int)));
    CHECK(cudaMemset(from, 0, size));
    CHECK(cudaMemset(from, 1, 32 * sizeof(int)));
    CHECK(cudaMemset(to, 0, size));
    CHECK(cudaMemset(sum, 0, sizeof(int)));
    in_order<<<1, 1>>>(from, sum);
    CHECK(cudaMemcpy(&found, sum, sizeof(int), cudaMemcpyDeviceToHost));
    reads_the_copy<<<1, 1>>>(to, from, sum);
    beside_a_fill<<<1, 1>>>(to);
    wrong_direction<<<1, 1>>>(to, from);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(sum));
    too_long<<<1, 1>>>(to);
    cudaDeviceSynchronize();
    return found != 64 * 0x01010101;
}
