#include "learn.h"

#include "07.2-event-order.cu"

// `doubled`, `squared` and `out` are cleared in `left`, `right` and `join` and leave there, too: each kernel belongs in
// its stream.
int main(void)
{
    cudaStream_t left, right, join;
    for (cudaStream_t *stream : {&left, &right, &join})
        cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    for (int n : {1, 300}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = 2 * in[i] + in[i] * in[i];
        float *device_in = learn_device(in), *pinned = learn_pinned<float>(n), *unused = learn_pinned<float>(2 * n);
        float *doubled = learn_output<float>(n), *squared = learn_output<float>(n), *out = learn_output<float>(n);
        learn_wait();
        cudaMemsetAsync(doubled, 0, n * sizeof(float), left);
        cudaMemsetAsync(squared, 0, n * sizeof(float), right);
        cudaMemsetAsync(out, 0, n * sizeof(float), join);
        double_and_square(device_in, doubled, squared, out, n, left, right, join);
        cudaMemcpyAsync(pinned, out, n * sizeof(float), cudaMemcpyDeviceToHost, join);
        cudaMemcpyAsync(unused, doubled, n * sizeof(float), cudaMemcpyDeviceToHost, left);
        cudaMemcpyAsync(unused + n, squared, n * sizeof(float), cudaMemcpyDeviceToHost, right);
        for (cudaStream_t stream : {join, left, right})
            cudaStreamSynchronize(stream);
        std::vector<float> found(pinned, pinned + n);
        learn_expect_host("out", found, expected);
    }
    for (cudaStream_t stream : {left, right, join})
        cudaStreamDestroy(stream);
    return learn_passed();
}
