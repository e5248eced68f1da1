#include "learn.h"

#include "07.4-pipeline.cu"

// Waits for one stream after the other, and reads its chunks then: a chunk in the wrong stream is read too early.
int main(void)
{
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams)
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int n : {1, 256, 600, 1100}) {
        learn_case("n = %d", n);
        std::vector<float> values = learn_values<float>(n), found(n), expected(n);
        float *in = learn_pinned<float>(n), *out = learn_pinned<float>(n), *buffer = learn_output<float>(2 * CHUNK);
        for (int i = 0; i < n; i++)
            expected[i] = 3 * values[i];
        memcpy(in, values.data(), n * sizeof(float));
        learn_wait();
        triple_in_chunks(in, out, n, buffer, streams);
        for (int which : {1, 0}) {
            cudaStreamSynchronize(streams[which]);
            for (int i = 0; i < n; i++)
                if (i / CHUNK % 2 == which)
                    found[i] = out[i];
        }
        learn_expect_host("out", found, expected);
    }
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
    return learn_passed();
}
