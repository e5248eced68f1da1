#include "learn.h"

#include "15.2-conv-forward.cu"

int main(void)
{
    struct {
        int N, C, K, H, W;
    } cases[] = {{1, 1, 1, 1, 1}, {1, 1, 2, 5, 7}, {3, 2, 4, 6, 3}, {2, 3, 5, 8, 8}};
    for (auto d : cases) {
        learn_case("N = %d, C = %d, K = %d, H = %d, W = %d", d.N, d.C, d.K, d.H, d.W);
        std::vector<float> x = learn_values<float>(d.N * d.C * d.H * d.W), bias = learn_values<float>(d.K, 3);
        std::vector<float> weight = learn_values<float>(d.K * d.C * 9, 2), expected;
        for (int n = 0; n < d.N; n++)
            for (int k = 0; k < d.K; k++)
                for (int h = 0; h < d.H; h++)
                    for (int w = 0; w < d.W; w++) {
                        float sum = bias[k];
                        for (int i = 0; i < d.C * 9; i++) {
                            int c = i / 9, row = h + i / 3 % 3 - 1, column = w + i % 3 - 1;
                            if (row >= 0 && row < d.H && column >= 0 && column < d.W)
                                sum += weight[k * d.C * 9 + i] * x[((n * d.C + c) * d.H + row) * d.W + column];
                        }
                        expected.push_back(sum);
                    }
        float *device_x = learn_device(x), *device_weight = learn_device(weight), *device_bias = learn_device(bias);
        float *y = learn_output<float>(expected.size());
        int blocks = ((int)expected.size() + 127) / 128;
        learn_threads_1d(128);
        conv_forward<<<blocks, 128>>>(device_x, device_weight, device_bias, y, d.N, d.C, d.K, d.H, d.W);
        learn_expect("y", y, expected);
    }
    return learn_passed();
}
