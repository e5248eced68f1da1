// cuSOLVER's eigenvalues and singular values, real and complex, put together again.
#include "../corpus.h"
#include <cmath>
#include <cusolverDn.h>

const int N = 5, M = 8;

#define SOLVED(call) REQUIRE((call) == CUSOLVER_STATUS_SUCCESS)

static bool close(double got, double wanted)
{
    return std::fabs(got - wanted) < 2e-5;
}

static void of_a_symmetric_matrix(cusolverDnHandle_t handle)
{
    double a[N * N], v[N * N], values[N], *work;
    int size = 0, *info = device_zeros<int>(1);
    for (int i = 0; i < N * N; i++)
        a[i] = i / N <= i % N ? (i % N == i / N) * 3 + 1.0 / (1 + i % N + i / N) : 1e9; // lower
    double *da = device_copy(a), *dw = device_zeros<double>(N);
    SOLVED(cusolverDnDsyevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, N, da, N, dw, &size));
    CHECK(cudaMalloc(&work, size * sizeof *work));
    SOLVED(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, N, da, N, dw, work, size, info));
    fetch(v, da);
    fetch(values, dw);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0, product = 0;
            for (int k = 0; k < N; k++) {
                sum += v[i + k * N] * values[k] * v[j + k * N];
                product += v[k + i * N] * v[k + j * N];
            }
            REQUIRE(close(sum, (i == j) * 3 + 1.0 / (1 + i + j)));
            REQUIRE(close(product, i == j));
            REQUIRE(j == 0 || values[j - 1] <= values[j]);
        }
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(dw));
    CHECK(cudaFree(info));
}

// [2, i; -i, 2]: 1 and 3
static void of_a_hermitian_matrix(cusolverDnHandle_t handle)
{
    const cuDoubleComplex a[4] = {{2, 0}, {7, 7}, {0, 1}, {2, 0}}; // upper
    cuDoubleComplex *da = device_copy(a), *work;
    double values[2], *dw = device_zeros<double>(2);
    int size = 0, *info = device_zeros<int>(1);
    SOLVED(
        cusolverDnZheevd_bufferSize(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, 2, da, 2, dw, &size));
    CHECK(cudaMalloc(&work, size * sizeof *work));
    SOLVED(
        cusolverDnZheevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, 2, da, 2, dw, work, size, info));
    fetch(values, dw);
    REQUIRE(close(values[0], 1) && close(values[1], 3));
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(dw));
    CHECK(cudaFree(info));
}

// The last column is the sum of the others, so that one singular value is 0 and U has to be completed.
static void singular(cusolverDnHandle_t handle)
{
    float a[M * N], u[M * M], vt[N * N], s[N], *work;
    int size = 0, *info = device_zeros<int>(1);
    for (int i = 0; i < M; i++) {
        a[i + (N - 1) * M] = 0;
        for (int j = 0; j < N - 1; j++) {
            a[i + j * M] = (float)((i * 5 + j * 3) % 7) - 2 + (i == j);
            a[i + (N - 1) * M] += a[i + j * M];
        }
    }
    float *da = device_copy(a), *ds = device_zeros<float>(N), *du = device_zeros<float>(M * M);
    float *dv = device_zeros<float>(N * N);
    SOLVED(cusolverDnSgesvd_bufferSize(handle, M, N, &size));
    CHECK(cudaMalloc(&work, size * sizeof *work));
    SOLVED(cusolverDnSgesvd(handle, 'A', 'A', M, N, da, M, ds, du, M, dv, N, work, size, NULL, info));
    fetch(u, du);
    fetch(vt, dv);
    fetch(s, ds);
    REQUIRE(close(s[N - 1], 0) && s[0] >= s[1] && s[N - 2] > 0.1f);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (double)u[i + k * M] * s[k] * vt[k + j * N];
            REQUIRE(close(sum, a[i + j * M]));
        }
        for (int j = 0; j < M; j++) {
            double sum = 0;
            for (int k = 0; k < M; k++)
                sum += (double)u[k + i * M] * u[k + j * M];
            REQUIRE(close(sum, i == j));
        }
    }
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(ds));
    CHECK(cudaFree(du));
    CHECK(cudaFree(dv));
    CHECK(cudaFree(info));
}

int main()
{
    cusolverDnHandle_t handle;
    SOLVED(cusolverDnCreate(&handle));
    of_a_symmetric_matrix(handle);
    of_a_hermitian_matrix(handle);
    singular(handle);
    SOLVED(cusolverDnDestroy(handle));
    return 0;
}
