#include "learn.h"

#include <array>

#include "10.7-warp-tile.cu"

// The limits in judge.json, with m and n rounded up to multiples of 64, k to 32. Shared loads: 8 per 16 multiply-adds,
// in requests of 32 lanes: (131072 + 131072 + 1048576) / 2 / 32 = 20480. Global loads: a once per column of tiles, b
// once per row of tiles, 2 + 4096 + 8910 = 13008.
int main(void)
{
    for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{64, 64, 32}, std::array{70, 65, 33}}) {
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
