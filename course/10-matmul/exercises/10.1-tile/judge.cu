#include "learn.h"

#include <array>

#include "10.1-tile.cu"

// The limit in judge.json: 2 * m * n * k / 16 loads, 512 + 12288 + 2048 = 14848.
int main(void)
{
    for (auto [m, n, k] : {std::array{16, 16, 16}, std::array{32, 48, 64}, std::array{16, 64, 16}}) {
        learn_case("m = %d, n = %d, k = %d", m, n, k);
        std::vector<float> a = learn_values<float>(m * k, 1), b = learn_values<float>(k * n, 2), c(m * n);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int p = 0; p < k; p++)
                    c[i * n + j] += a[i * k + p] * b[p * n + j];
        float *device_a = learn_device(a), *device_b = learn_device(b), *device_c = learn_output<float>(m * n);
        learn_threads_2d(dim3(TILE, TILE), n);
        matmul(device_a, device_b, device_c, m, n, k);
        learn_expect("c", device_c, c);
    }
    return learn_passed();
}
