// A stencil in place: a thread reads its neighbours while they write themselves.
#include "../corpus.h"

__global__ void smooth(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        data[i] = (data[i - 1] + data[i] + data[i + 1]) / 3; // expect: race
}

int main()
{
    float *data = device_ramp(256, 0.0f, 1.0f);
    smooth<<<2, 128>>>(data, 256);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaFree(data));
    return 0;
}
