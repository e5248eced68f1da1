// flags: -lcublas. cublasSgemm on column-major matrices.
#include "../corpus.h"
#include <cublas_v2.h>

int main()
{
    const int m = 5, n = 3, k = 4;
    float *a = device_ramp(m * k, 0.0f, 1.0f), *b = device_ramp(k * n, 1.0f, 0.5f), *c = device_zeros<float>(m * n);
    float alpha = 2, beta = 0, result[m * n];
    cublasHandle_t handle;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, m, b, k, &beta, c, m) ==
            CUBLAS_STATUS_SUCCESS);
    fetch(result, c);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float want = 0;
            for (int l = 0; l < k; l++)
                want += 2 * (float)(l * m + i) * (1 + 0.5f * (j * k + l));
            REQUIRE(result[j * m + i] == want);
        }
    REQUIRE(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return 0;
}
