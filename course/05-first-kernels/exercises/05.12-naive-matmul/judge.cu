#include "learn.h"

#include "05.12-naive-matmul.cu"

int main(void)
{
    const int sizes[][3] = {{2, 3, 4}, {1, 1, 1}, {1, 13, 5}, {8, 8, 8}, {17, 9, 23}, {5, 31, 1}}; // m, n, k
    for (const int *size : sizes) {
        int m = size[0], n = size[1], k = size[2];
        learn_case("m = %d, n = %d, k = %d", m, n, k);
        std::vector<float> orders = learn_values<float>(m * k, 1), prices = learn_values<float>(k * n, 2);
        std::vector<float> expected(m * n);
        for (float &price : prices)
            price /= 4; // quarters are exact in float, and not whole: a sum in int is not enough
        for (int row = 0; row < m; row++)
            for (int column = 0; column < n; column++)
                for (int article = 0; article < k; article++)
                    expected[row * n + column] += orders[row * k + article] * prices[article * n + column];
        float *device_orders = learn_device(orders), *device_prices = learn_device(prices);
        float *device_cost = learn_output<float>(m * n);
        dim3 block(8, 8), grid((n + 7) / 8, (m + 7) / 8);
        learn_threads_2d(block, n);
        price_orders<<<grid, block>>>(device_orders, device_prices, device_cost, m, n, k);
        learn_expect("cost", device_cost, expected);
    }
    return learn_passed();
}
