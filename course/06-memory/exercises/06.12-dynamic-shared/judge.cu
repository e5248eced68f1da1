#include "learn.h"

#include "06.12-dynamic-shared.cu"

int main(void)
{
    for (int n : {1, 97, 256, 1024}) {
        learn_case("n = %d", n);
        std::vector<float> before = learn_values<float>(n), expected(before.rbegin(), before.rend());
        float *data = learn_device(before);
        learn_threads_1d(1024);
        reverse(data, n);
        learn_expect("data", data, expected);
    }
    return learn_passed();
}
