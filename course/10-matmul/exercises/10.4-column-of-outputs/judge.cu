#include "learn.h"

#include <array>

#include "10.4-column-of-outputs.cu"

// The limits in judge.json, with m, n and k rounded up to multiples of 16. Shared loads: 5 per 4 multiply-adds, in
// requests of 32 lanes: (4096 + 24576 + 49152) * 5 / 4 / 32 = 3040. Global loads: as in 10.3, 2 + 3072 + 2751 = 5825.
int main(void)
{
    for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{32, 16, 48}, std::array{19, 37, 21}}) {
        learn_case("m = %d, n = %d, k = %d", m, n, k);
        std::vector<float> a = learn_values<float>(m * k, 1), b = learn_values<float>(k * n, 2), c(m * n);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int p = 0; p < k; p++)
                    c[i * n + j] += a[i * k + p] * b[p * n + j];
        float *device_a = learn_device(a), *device_b = learn_device(b), *device_c = learn_output<float>(m * n);
        matmul(device_a, device_b, device_c, m, n, k);
        learn_expect("c", device_c, c);
    }
    return learn_passed();
}
