#include "learn.h"

#include "07.1-two-streams.cu"

// `in` arrives and `between` leaves in the first stream; `out` is cleared and leaves in the second. So each kernel has
// to be in its own.
int main(void)
{
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    for (int n : {1, 300}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n), zeros(n);
        for (int i = 0; i < n; i++)
            expected[i] = 2 * in[i] + 1;
        float *pinned_in = learn_pinned<float>(n), *pinned_between = learn_pinned<float>(n);
        float *pinned_out = learn_pinned<float>(n);
        float *device_in = learn_device(zeros);
        float *between = learn_output<float>(n), *out = learn_output<float>(n);
        memcpy(pinned_in, in.data(), n * sizeof(float));
        learn_wait();
        cudaMemcpyAsync(device_in, pinned_in, n * sizeof(float), cudaMemcpyHostToDevice, first);
        cudaMemsetAsync(out, 0, n * sizeof(float), second);
        double_and_add(device_in, between, out, n, first, second);
        cudaMemcpyAsync(pinned_between, between, n * sizeof(float), cudaMemcpyDeviceToHost, first);
        cudaMemcpyAsync(pinned_out, out, n * sizeof(float), cudaMemcpyDeviceToHost, second);
        cudaStreamSynchronize(second);
        cudaStreamSynchronize(first);
        std::vector<float> found(pinned_out, pinned_out + n);
        learn_expect_host("out", found, expected);
    }
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    return learn_passed();
}
