#include "learn.h"

#include "07.5-freed-too-soon.cu"

// `in` arrives in the stream `compute` and is cleared there afterwards; `out` is filled once before in `transfer`, and
// read after waiting for it. So each step belongs in its stream.
int main(void)
{
    cudaStream_t compute, transfer;
    cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&transfer, cudaStreamNonBlocking);
    for (int n : {1, 300}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n), zeros(n);
        for (int i = 0; i < n; i++)
            expected[i] = in[i] * in[i];
        float *device_in = learn_device(zeros), *device_zeros = learn_device(zeros);
        float *pinned_in = learn_pinned<float>(n), *out = learn_pinned<float>(n);
        memcpy(pinned_in, in.data(), n * sizeof(float));
        learn_wait();
        cudaMemcpyAsync(device_in, pinned_in, n * sizeof(float), cudaMemcpyHostToDevice, compute);
        cudaMemcpyAsync(out, device_zeros, n * sizeof(float), cudaMemcpyDeviceToHost, transfer);
        square_and_copy(device_in, out, n, compute, transfer);
        cudaMemsetAsync(device_in, 0, n * sizeof(float), compute);
        cudaStreamSynchronize(transfer);
        cudaStreamSynchronize(compute);
        std::vector<float> found(out, out + n);
        learn_expect_host("out", found, expected);
    }
    cudaStreamDestroy(compute);
    cudaStreamDestroy(transfer);
    return learn_passed();
}
