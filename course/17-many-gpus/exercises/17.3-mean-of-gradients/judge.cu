#include "learn.h"

#include "17.3-mean-of-gradients.cu"

int main(void)
{
    struct {
        int n;
        std::vector<int> counts;
    } cases[] = {{1, {5}}, {100, {4, 4}}, {257, {3, 3, 2, 2}}, {31, {1, 0, 7}}};
    for (auto &c : cases) {
        int ranks = (int)c.counts.size(), images = 0;
        learn_case("n = %d on %d ranks, %d images on the last", c.n, ranks, c.counts.back());
        std::vector<float> gradients = learn_values<float>(ranks * c.n), expected(c.n);
        for (int rank = 0; rank < ranks; rank++) {
            images += c.counts[rank];
            for (int i = 0; i < c.n && c.counts[rank] == 0; i++)
                gradients[rank * c.n + i] = NAN;
        }
        for (int i = 0; i < c.n; i++) {
            double sum = 0;
            for (int rank = 0; rank < ranks; rank++)
                sum += c.counts[rank] ? (double)gradients[rank * c.n + i] * c.counts[rank] : 0;
            expected[i] = (float)(sum / images);
        }
        float *device_gradients = learn_device(gradients), *result = learn_output<float>(c.n);
        int *counts = learn_device(c.counts);
        learn_threads_1d(128);
        mean_of_gradients<<<(c.n + 127) / 128, 128>>>(device_gradients, counts, result, ranks, c.n);
        learn_expect("result", result, expected, 1e-5);
    }
    return learn_passed();
}
