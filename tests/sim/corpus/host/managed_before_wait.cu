// Managed memory read by the host while the kernel may still be writing it.
#include "../corpus.h"

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    int *data = NULL, sum = 0;
    CHECK(cudaMallocManaged(&data, 64 * sizeof(int)));
    for (int i = 0; i < 64; i++)
        data[i] = i;
    twice<<<1, 64>>>(data); // expect: missing-wait a+
    for (int i = 0; i < 64; i++)
        sum += data[i]; // expect: missing-wait a+
    printf("%d\n", sum);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(data));
    return 0;
}
