#include "learn.h"

#include "11.5-private-histogram.cu"

int main(void)
{
    for (int n : {1, 1009, 4096}) {
        learn_case("n = %d", n);
        std::vector<unsigned char> in(n);
        std::vector<int> expected(BINS, 0);
        for (int i = 0; i < n; i++) {
            in[i] = (unsigned char)((i * 31 + i / 7) % 16 & 13);
            expected[in[i]]++;
        }
        unsigned char *device_in = learn_device(in);
        int *counts = learn_device(std::vector<int>(BINS, 0));
        histogram<<<4, 128>>>(device_in, counts, n);
        learn_expect("counts", counts, expected);
    }
    return learn_passed();
}
