// Shifts an array one place to the left, in place. It has a race.

#include "cuda_check.h"

__global__ void shift_left(int *data, int n)
{
    int i = threadIdx.x;
    if (i < n - 1)
        data[i] = data[i + 1];
}

int main(void)
{
    enum { N = 256 };
    static int host[N];
    int *data;
    for (int i = 0; i < N; i++)
        host[i] = i;
    CUDA_CHECK(cudaMalloc(&data, sizeof host));
    CUDA_CHECK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    shift_left<<<1, N>>>(data, N);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d %d ... %d\n", host[0], host[1], host[2], host[N - 1]);
    CUDA_CHECK(cudaFree(data));
    return 0;
}
