#include "learn.h"

#include "09.2-axpy-and-gemv.cu"

int main(void)
{
    cublasHandle_t handle;
    cublasCreate(&handle);
    for (auto [rows, cols] : {std::pair{1, 1}, {8, 8}, {10, 37}, {61, 4}}) {
        learn_case("rows = %d, cols = %d", rows, cols);
        std::vector<float> W = learn_values<float>(rows * cols, 1), x = learn_values<float>(cols, 2);
        std::vector<float> bias = learn_values<float>(rows, 3), expected = bias;
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++)
                expected[i] += W[i * cols + j] * x[j];
        float *device_W = learn_device(W), *device_x = learn_device(x), *device_bias = learn_device(bias);
        float *device_y = learn_output<float>(rows);
        linear(handle, device_W, device_x, device_bias, device_y, rows, cols);
        learn_expect("y", device_y, expected);
        learn_expect("bias", device_bias, bias);
    }
    cublasDestroy(handle);
    return learn_passed();
}
