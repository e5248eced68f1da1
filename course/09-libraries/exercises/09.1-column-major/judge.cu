#include "learn.h"

#include <array>

#include "09.1-column-major.cu"

int main(void)
{
    cublasHandle_t handle;
    cublasCreate(&handle);
    for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{16, 16, 16}, std::array{3, 5, 7}, std::array{31, 2, 19}}) {
        learn_case("m = %d, n = %d, k = %d", m, n, k);
        std::vector<float> a = learn_values<float>(m * k, 1), b = learn_values<float>(k * n, 2), c(m * n);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int p = 0; p < k; p++)
                    c[i * n + j] += a[i * k + p] * b[p * n + j];
        float *device_a = learn_device(a), *device_b = learn_device(b), *device_c = learn_output<float>(m * n);
        cublasStatus_t status = multiply(handle, device_a, device_b, device_c, m, n, k);
        learn_require(status == CUBLAS_STATUS_SUCCESS, "cublasSgemm returned status %d", (int)status);
        learn_expect("c", device_c, c);
    }
    cublasDestroy(handle);
    return learn_passed();
}
