#include "learn.h"

#include "08.2-use-after-free.cu"

int main(void)
{
    for (int pieces : {1, 3, 9}) {
        int n = 37;
        struct recorder recorder = {NULL, 0, 40};
        learn_case("%d piece%s of %d samples", pieces, pieces == 1 ? "" : "s", n);
        cudaMalloc(&recorder.samples, recorder.capacity * sizeof(float));
        std::vector<float> expected;
        for (int number = 0; number < pieces; number++) {
            std::vector<float> piece = learn_values<float>(n, number + 1);
            for (float &sample : expected)
                sample /= 2;
            expected.insert(expected.end(), piece.begin(), piece.end());
            record(&recorder, piece.data(), n);
        }
        learn_require(recorder.count == pieces * n, "the recorder counts %d samples, expected %d", recorder.count,
                      pieces * n);
        learn_expect("samples", recorder.samples, expected);
        cudaFree(recorder.samples);
    }
    return learn_passed();
}
