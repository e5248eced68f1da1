#include "learn.h"

#include "06.4-reverse.cu"

int main(void)
{
    for (int n : {1, 50, 128, 2 * BLOCK + 101}) {
        learn_case("n = %d", n);
        std::vector<float> before = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++) {
            int first = i / BLOCK * BLOCK, count = n - first < BLOCK ? n - first : BLOCK;
            expected[i] = before[first + count - 1 - (i - first)];
        }
        float *data = learn_device(before);
        learn_threads_1d(BLOCK);
        reverse_pieces<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(data, n);
        learn_expect("data", data, expected);
    }
    return learn_passed();
}
