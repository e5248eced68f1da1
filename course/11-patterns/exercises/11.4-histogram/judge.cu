#include "learn.h"

#include "11.4-histogram.cu"

int main(void)
{
    struct {
        int n, bins, distinct;
    } cases[] = {{1, 256, 256}, {1009, 256, 256}, {2048, 10, 37}, {1000, 3, 2}};
    for (auto c : cases) {
        learn_case("n = %d, bins = %d", c.n, c.bins);
        std::vector<unsigned char> in(c.n);
        std::vector<int> expected(c.bins, 0);
        for (int i = 0; i < c.n; i++) {
            in[i] = (unsigned char)((i * 7919 + i / 3) % c.distinct);
            if (in[i] < c.bins)
                expected[in[i]]++;
        }
        unsigned char *device_in = learn_device(in);
        int *counts = learn_device(std::vector<int>(c.bins, 0));
        histogram<<<3, 64>>>(device_in, counts, c.n, c.bins);
        learn_expect("counts", counts, expected);
    }
    return learn_passed();
}
