#include "learn.h"

#include "12.3-wmma.cu"

int main(void)
{
    struct {
        int m, n, k;
    } cases[] = {{16, 16, 16}, {16, 16, 64}, {32, 48, 16}, {48, 16, 32}};
    for (auto c : cases) {
        learn_case("m = %d, n = %d, k = %d", c.m, c.n, c.k);
        std::vector<float> a = learn_values<float>(c.m * c.k), b = learn_values<float>(c.k * c.n, 2);
        std::vector<float> expected(c.m * c.n, 0.0f);
        for (int row = 0; row < c.m; row++)
            for (int column = 0; column < c.n; column++)
                for (int i = 0; i < c.k; i++)
                    expected[row * c.n + column] += a[row * c.k + i] * b[i * c.n + column];
        std::vector<__half> half_a(a.size()), half_b(b.size());
        for (size_t i = 0; i < a.size(); i++)
            half_a[i] = __float2half(a[i]);
        for (size_t i = 0; i < b.size(); i++)
            half_b[i] = __float2half(b[i]);
        __half *device_a = learn_device(half_a), *device_b = learn_device(half_b);
        float *device_c = learn_output<float>(expected.size());
        matmul<<<dim3(c.n / 16, c.m / 16), 32>>>(device_a, device_b, device_c, c.n, c.k);
        learn_expect("c", device_c, expected);
    }
    return learn_passed();
}
