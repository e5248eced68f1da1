#include "learn.h"

#include "07.6-callback.cu"

int main(void)
{
    enum { LARGEST = 200 };
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int count : {1, 5}) {
        learn_case("count = %d", count);
        std::vector<job> jobs(count);
        std::vector<float> found(count), expected(count);
        float *pinned = learn_pinned<float>(count * LARGEST);
        memset(pinned, 0, count * LARGEST * sizeof(float));
        for (int j = 0; j < count; j++) {
            int n = LARGEST - 41 * j;
            std::vector<float> values = learn_values<float>(n, j + 1);
            for (float value : values)
                expected[j] += value;
            jobs[j] = {learn_device(values), pinned + j * LARGEST, n, NAN};
        }
        learn_wait();
        run_jobs(jobs.data(), count, stream);
        cudaStreamSynchronize(stream);
        for (int j = 0; j < count; j++)
            found[j] = jobs[j].sum;
        learn_expect_host("sum", found, expected);
    }
    cudaStreamDestroy(stream);
    return learn_passed();
}
