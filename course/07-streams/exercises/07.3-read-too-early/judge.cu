#include "learn.h"

#include "07.3-read-too-early.cu"

__global__ void double_in_place(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}

// The values are doubled in the same stream before, so the copy must be in that stream.
int main(void)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int n : {1, 500}) {
        learn_case("n = %d", n);
        std::vector<float> values = learn_values<float>(n);
        float *device = learn_device(values), *pinned = learn_pinned<float>(n), expected = 0;
        for (float value : values)
            expected += 2 * value;
        memset(pinned, 0, n * sizeof(float));
        learn_wait();
        double_in_place<<<(n + 127) / 128, 128, 0, stream>>>(device, n);
        float found = total(device, pinned, n, stream);
        learn_require(found == expected, "total is %g, expected %g", found, expected);
    }
    cudaStreamDestroy(stream);
    return learn_passed();
}
