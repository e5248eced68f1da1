// cublasLtMatmul: bias and GELU after a product of half matrices, the output in row order; then a bias that is too
// short.
#include "../corpus.h"
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <math.h>

enum { M = 24, N = 10, K = 16 };
#define LT(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

static void product(cublasLtHandle_t handle, const __half *a, const __half *b, const float *bias, float *d)
{
    cublasLtMatmulDesc_t how;
    cublasLtMatrixLayout_t la, lb, ld;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t best;
    cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
    cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
    size_t workspace = 1 << 20;
    int given = 0;
    float alpha = 1, beta = 0;
    LT(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    LT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
    LT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    LT(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    LT(cublasLtMatrixLayoutCreate(&la, CUDA_R_16F, K, M, K));
    LT(cublasLtMatrixLayoutCreate(&lb, CUDA_R_16F, K, N, K));
    LT(cublasLtMatrixLayoutCreate(&ld, CUDA_R_32F, M, N, N));
    LT(cublasLtMatrixLayoutSetAttribute(ld, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    LT(cublasLtMatmulPreferenceCreate(&preference));
    LT(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                            sizeof workspace));
    LT(cublasLtMatmulAlgoGetHeuristic(handle, how, la, lb, ld, ld, preference, 1, &best, &given));
    REQUIRE(given == 1);
    LT(cublasLtMatmul(handle, how, &alpha, a, la, b, lb, &beta, d, ld, d, ld, // expect: out-of-bounds a+
                      &best.algo, NULL, 0, 0));                               // expect: out-of-bounds a+
    LT(cublasLtMatmulPreferenceDestroy(preference));
    LT(cublasLtMatrixLayoutDestroy(la));
    LT(cublasLtMatrixLayoutDestroy(lb));
    LT(cublasLtMatrixLayoutDestroy(ld));
    LT(cublasLtMatmulDescDestroy(how));
}

int main()
{
    cublasLtHandle_t handle;
    __half a[K * M], b[K * N];
    float bias[M], d[M * N];
    for (int i = 0; i < K * M; i++)
        a[i] = __float2half((float)(i % 7 - 3) / 8);
    for (int i = 0; i < K * N; i++)
        b[i] = __float2half((float)(i % 5 - 2) / 8);
    for (int i = 0; i < M; i++)
        bias[i] = (float)i / M;
    __half *device_a = device_copy(a), *device_b = device_copy(b);
    float *device_bias = device_copy(bias), *device_d = device_zeros<float>(M * N),
          *shorter = device_zeros<float>(M / 2);
    LT(cublasLtCreate(&handle));
    product(handle, device_a, device_b, device_bias, device_d);
    fetch(d, device_d);
    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            float x = bias[row];
            for (int k = 0; k < K; k++)
                x += __half2float(a[row * K + k]) * __half2float(b[column * K + k]);
            float expected = 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
            REQUIRE(fabsf(d[row * N + column] - expected) < 1e-5f);
        }
    }
    product(handle, device_a, device_b, shorter, device_d);
    SHOW(cudaDeviceSynchronize());
    cublasLtDestroy(handle);
    return 0;
}
