#include "learn.h"

#include "18.3-n-body.cu"

int main(void)
{
    for (int n : {1, 64, 100, 193}) {
        learn_case("n = %d", n);
        std::vector<float> values = learn_values<float>(4 * n), expected(3 * n);
        for (int i = 0; i < n; i++)
            values[4 * i + 3] = values[4 * i + 3] / 8 + 1; // masses from 0 to 2
        for (int i = 0; i < n; i++) {
            double sum[3] = {0, 0, 0};
            for (int k = 0; k < n; k++) {
                double way[3], square = 0.01;
                for (int d = 0; d < 3; d++) {
                    way[d] = values[4 * k + d] - values[4 * i + d];
                    square += way[d] * way[d];
                }
                for (int d = 0; d < 3; d++)
                    sum[d] += values[4 * k + 3] / (square * sqrt(square)) * way[d];
            }
            for (int d = 0; d < 3; d++)
                expected[3 * i + d] = (float)sum[d];
        }
        float *bodies = learn_device(values), *out = learn_output<float>(3 * n);
        accelerations<<<(n + 63) / 64, 64>>>((const float4 *)bodies, (float3 *)out, n);
        learn_expect("out", out, expected, 1e-4);
    }
    return learn_passed();
}
