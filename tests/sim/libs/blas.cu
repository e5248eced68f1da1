// cuBLAS: products of every transposition, type and batching against a plain loop in double; vectors; pointer modes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

static int failures;

static void expect(const char *what, double got, double wanted, double tolerance)
{
    if (!(std::fabs(got - wanted) <= tolerance * (1 + std::fabs(wanted))) && failures++ < 10)
        printf("%s: %g, not %g\n", what, got, wanted);
}

static void done(cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS && failures++ < 10)
        printf("%s\n", cublasGetStatusString(status));
}

template <class T> static T *device(const std::vector<T> &host)
{
    T *memory;
    cudaMalloc(&memory, host.size() * sizeof(T));
    cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

template <class T> static std::vector<T> fetch(const T *memory, size_t count)
{
    std::vector<T> host(count);
    cudaMemcpy(host.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
    return host;
}

static double number(unsigned &state)
{
    state = state * 1664525u + 1013904223u;
    return ((int)(state >> 16) % 17 - 8) / 4.0;
}

template <class T, class F> static void products(const char *name, cublasHandle_t handle, double tolerance, F multiply)
{
    const int m = 37, n = 23, k = 41, lda = 45, ldb = 47, ldc = 39;
    unsigned state = 1;
    std::vector<T> a(lda * 45), b(ldb * 47), c(ldc * n);
    for (T &x : a)
        x = (T)(float)number(state);
    for (T &x : b)
        x = (T)(float)number(state);
    for (T &x : c)
        x = (T)(float)number(state);
    T *da = device(a), *db = device(b);
    for (int trans = 0; trans < 4; trans++) {
        bool ta = trans & 1, tb = trans & 2;
        T *dc = device(c);
        done(multiply(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, da, lda, db, ldb,
                      dc, ldc));
        std::vector<T> result = fetch(dc, c.size());
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                double sum = 0;
                for (int l = 0; l < k; l++)
                    sum += (double)(float)a[ta ? l + i * lda : i + l * lda] *
                           (double)(float)b[tb ? j + l * ldb : l + j * ldb];
                expect(name, (double)(float)result[i + j * ldc], 0.5 * sum + 2 * (double)(float)c[i + j * ldc],
                       tolerance);
            }
        cudaFree(dc);
    }
    cudaFree(da);
    cudaFree(db);
}

static void all_types(cublasHandle_t handle)
{
    products<float>("Sgemm", handle, 1e-5,
                    [](cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, float *a,
                       int lda, float *b, int ldb, float *c, int ldc) {
                        float alpha = 0.5f, beta = 2;
                        return cublasSgemm(h, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
                    });
    products<double>("Dgemm", handle, 1e-12,
                     [](cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, double *a,
                        int lda, double *b, int ldb, double *c, int ldc) {
                         double alpha = 0.5, beta = 2;
                         return cublasDgemm(h, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc);
                     });
    products<__half>("GemmEx half", handle, 1e-2,
                     [](cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, __half *a,
                        int lda, __half *b, int ldb, __half *c, int ldc) {
                         float alpha = 0.5f, beta = 2;
                         return cublasGemmEx(h, ta, tb, m, n, k, &alpha, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, &beta,
                                             c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
                     });
    products<__nv_bfloat16>("GemmEx bfloat16", handle, 2e-2,
                            [](cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                               __nv_bfloat16 *a, int lda, __nv_bfloat16 *b, int ldb, __nv_bfloat16 *c, int ldc) {
                                float alpha = 0.5f, beta = 2;
                                return cublasGemmEx(h, ta, tb, m, n, k, &alpha, a, CUDA_R_16BF, lda, b, CUDA_R_16BF,
                                                    ldb, &beta, c, CUDA_R_16BF, ldc, CUBLAS_COMPUTE_32F,
                                                    CUBLAS_GEMM_DEFAULT);
                            });
}

static void batches(cublasHandle_t handle)
{
    const int n = 3, count = 4;
    std::vector<float> a(n * n * count), b(n * n * count);
    for (size_t i = 0; i < a.size(); i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5) - 2;
    }
    float *da = device(a), *db = device(b), *dc, *strided, one = 1, zero = 0;
    cudaMalloc(&dc, a.size() * sizeof(float));
    cudaMalloc(&strided, a.size() * sizeof(float));
    std::vector<float *> pa, pb, pc;
    for (int i = 0; i < count; i++) {
        pa.push_back(da + i * n * n);
        pb.push_back(db + i * n * n);
        pc.push_back(dc + i * n * n);
    }
    float **dpa = device(pa), **dpb = device(pb), **dpc = device(pc);
    done(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, dpa, n, dpb, n, &zero, dpc, n, count));
    done(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, n * n, db, n, n * n, &zero,
                                   strided, n, n * n, count));
    std::vector<float> first = fetch(dc, a.size()), second = fetch(strided, a.size());
    for (int batch = 0; batch < count; batch++)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int l = 0; l < n; l++)
                    sum += (double)a[batch * n * n + i + l * n] * (double)b[batch * n * n + l + j * n];
                expect("batched", (double)first[batch * n * n + i + j * n], sum, 0);
                expect("strided", (double)second[batch * n * n + i + j * n], sum, 0);
            }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    cudaFree(strided);
    cudaFree(dpa);
    cudaFree(dpb);
    cudaFree(dpc);
}

static void vectors(cublasHandle_t handle)
{
    std::vector<float> x = {1, -2, 3, -4}, y = {10, 20, 30, 40};
    float *dx = device(x), *dy = device(y), alpha = 2, result = 0, *device_result;
    int index = 0;
    done(cublasSaxpy(handle, 4, &alpha, dx, 1, dy, 1));
    expect("axpy", (double)fetch(dy, 4)[3], 32, 0);
    done(cublasSdot(handle, 4, dx, 1, dx, 1, &result));
    expect("dot", (double)result, 30, 0);
    done(cublasSnrm2(handle, 4, dx, 1, &result));
    expect("nrm2", (double)result, std::sqrt(30.0), 1e-6);
    done(cublasSasum(handle, 2, dx, 2, &result));
    expect("asum", (double)result, 4, 0);
    done(cublasIsamax(handle, 4, dx, 1, &index));
    expect("amax", index, 4, 0);
    done(cublasSscal(handle, 4, &alpha, dx, 1));
    expect("scal", (double)fetch(dx, 4)[1], -4, 0);
    cudaMalloc(&device_result, sizeof(float));
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    done(cublasSdot(handle, 4, dx, 1, dx, 1, device_result));
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
    expect("dot on the device", (double)fetch(device_result, 1)[0], 120, 0);
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(device_result);
}

static void matrices(cublasHandle_t handle)
{
    // a: (2, 3), column-major
    std::vector<float> a = {1, 4, 2, 5, 3, 6}, x = {1, 1, 1}, y = {0, 0};
    float *da = device(a), *dx = device(x), *dy = device(y), *dt, one = 1, zero = 0;
    done(cublasSgemv(handle, CUBLAS_OP_N, 2, 3, &one, da, 2, dx, 1, &zero, dy, 1));
    expect("gemv", (double)fetch(dy, 2)[1], 15, 0);
    cudaMalloc(&dt, 6 * sizeof(float));
    done(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, &one, da, 2, &zero, dt, 3, dt, 3));
    expect("geam", (double)fetch(dt, 6)[1], 2, 0);
    // lower triangular 2 by 2: [2 0; 3 4] X = [2; 11]
    std::vector<float> l = {2, 3, 0, 4}, b = {2, 11};
    float *dl = device(l), *db = device(b);
    done(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 1, &one,
                     dl, 2, db, 2));
    expect("trsm", (double)fetch(db, 2)[1], 2, 0);
    done(cublasSger(handle, 2, 3, &one, dy, 1, dx, 1, da, 2));
    expect("ger", (double)fetch(da, 6)[0], 7, 0);
    cudaFree(da);
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(dt);
    cudaFree(dl);
    cudaFree(db);
}

int main()
{
    cublasHandle_t handle;
    done(cublasCreate(&handle));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    all_types(handle);
    batches(handle);
    vectors(handle);
    matrices(handle);
    done(cublasDestroy(handle));
    cudaStreamDestroy(stream);
    return failures != 0;
}
