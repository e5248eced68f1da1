#include "learn.h"

#include "07.9-default-stream.cu"

int main(void)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int n : {1, 300}) {
        learn_case("n = %d", n);
        std::vector<float> in = learn_values<float>(n), expected(1);
        for (float value : in)
            expected[0] += value;
        float *device_in = learn_device(in), *sum = learn_output<float>(1), *pinned = learn_pinned<float>(1);
        learn_wait();
        add_up(device_in, n, sum, stream);
        cudaMemcpyAsync(pinned, sum, sizeof(float), cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        std::vector<float> found(pinned, pinned + 1);
        learn_expect_host("sum", found, expected);
    }
    cudaStreamDestroy(stream);
    return learn_passed();
}
