// cuSOLVER's LU, Cholesky and QR: systems solved, factors multiplied together again, a matrix that is singular.
#include "../corpus.h"
#include <cmath>
#include <cusolverDn.h>

const int N = 7, M = 11;

#define SOLVED(call) REQUIRE((call) == CUSOLVER_STATUS_SUCCESS)

static double element(int i, int j)
{
    return (i == j ? 9 : 0) + ((i * 7 + j * 3) % 11) / 4.0;
}

static void close(double got, double wanted)
{
    REQUIRE(std::fabs(got - wanted) < 1e-9);
}

// A x = b for the x that is 1, 2, ..., by LU, transposed or not.
static void by_lu(cusolverDnHandle_t handle, cublasOperation_t trans)
{
    double a[N * N], b[N], *work;
    int size = 0, result[1], *pivots = device_zeros<int>(N), *info = device_zeros<int>(1);
    for (int i = 0; i < N; i++) {
        b[i] = 0;
        for (int j = 0; j < N; j++) {
            a[i + j * N] = element((i + 3) % N, j); // pivots are needed
            b[i] += (trans == CUBLAS_OP_N ? element((i + 3) % N, j) : element((j + 3) % N, i)) * (j + 1);
        }
    }
    double *da = device_copy(a), *db = device_copy(b);
    SOLVED(cusolverDnDgetrf_bufferSize(handle, N, N, da, N, &size));
    CHECK(cudaMalloc(&work, size * sizeof *work));
    SOLVED(cusolverDnDgetrf(handle, N, N, da, N, work, pivots, info));
    SOLVED(cusolverDnDgetrs(handle, trans, N, 1, da, N, pivots, db, N, info));
    fetch(b, db);
    fetch(result, info);
    REQUIRE(result[0] == 0);
    for (int i = 0; i < N; i++)
        close(b[i], i + 1);
    CHECK(cudaMemset(da, 0, sizeof a));
    SOLVED(cusolverDnDgetrf(handle, N, N, da, N, work, pivots, info));
    fetch(result, info);
    REQUIRE(result[0] == 1); // U(1, 1) is 0
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(pivots));
    CHECK(cudaFree(info));
}

// Only one triangle is stored: the other holds what would spoil the result.
static void by_cholesky(cusolverDnHandle_t handle, cublasFillMode_t uplo)
{
    double a[N * N], b[2 * N], *work;
    int size = 0, *info = device_zeros<int>(1);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i + j * N] = (uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? (i == j ? 9 : 1.0 / (1 + i + j)) : -77;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < N; i++) {
            b[i + k * N] = 0;
            for (int j = 0; j < N; j++)
                b[i + k * N] += (i == j ? 9 : 1.0 / (1 + i + j)) * (j + k);
        }
    double *da = device_copy(a), *db = device_copy(b);
    SOLVED(cusolverDnDpotrf_bufferSize(handle, uplo, N, da, N, &size));
    CHECK(cudaMalloc(&work, size * sizeof *work));
    SOLVED(cusolverDnDpotrf(handle, uplo, N, da, N, work, size, info));
    SOLVED(cusolverDnDpotrs(handle, uplo, N, 2, da, N, db, N, info));
    fetch(b, db);
    for (int i = 0; i < N; i++) {
        close(b[i], i);
        close(b[i + N], i + 1);
    }
    fetch(a, da);
    close(a[uplo == CUBLAS_FILL_MODE_UPPER ? 1 : N], -77);
    int result[1];
    a[0] = -1;
    CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
    SOLVED(cusolverDnDpotrf(handle, uplo, N, da, N, work, size, info));
    fetch(result, info);
    REQUIRE(result[0] == 1); // not positive definite
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(info));
}

static void by_qr(cusolverDnHandle_t handle)
{
    double a[M * N], r[M * N], q[M * N], *work;
    int size = 0, more = 0, *info = device_zeros<int>(1);
    for (int i = 0; i < M * N; i++)
        a[i] = element(i % M, i / M);
    double *da = device_copy(a), *dq = device_zeros<double>(M * N), *tau = device_zeros<double>(N);
    SOLVED(cusolverDnDgeqrf_bufferSize(handle, M, N, da, M, &size));
    SOLVED(cusolverDnDorgqr_bufferSize(handle, M, N, N, da, M, tau, &more));
    size = size > more ? size : more;
    SOLVED(cusolverDnDormqr_bufferSize(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, M, N, N, da, M, tau, dq, M, &more));
    size = size > more ? size : more;
    CHECK(cudaMalloc(&work, size * sizeof *work));
    CHECK(cudaMemcpy(dq, da, sizeof a, cudaMemcpyDeviceToDevice));
    SOLVED(cusolverDnDgeqrf(handle, M, N, da, M, tau, work, size, info));
    fetch(r, da);
    REQUIRE(r[0] < 0); // LAPACK's sign
    // Q' A is R ...
    SOLVED(cusolverDnDormqr(handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, M, N, N, da, M, tau, dq, M, work, size, info));
    fetch(q, dq);
    for (int i = 0; i < M * N; i++)
        close(q[i], i % M <= i / M ? r[i] : 0);
    // ... and Q R is A, with the columns of Q.
    SOLVED(cusolverDnDorgqr(handle, M, N, N, da, M, tau, work, size, info));
    fetch(q, da);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += q[i + k * M] * r[k + j * M];
            close(sum, a[i + j * M]);
        }
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(dq));
    CHECK(cudaFree(tau));
    CHECK(cudaFree(info));
}

// The 64-bit functions, with complex numbers: (2 + i) I x = b.
static void of_64_bits(cusolverDnHandle_t handle)
{
    cuDoubleComplex a[N * N] = {}, b[N];
    size_t on_device = 0, on_host = 1;
    void *work;
    int *info = device_zeros<int>(1);
    int64_t *pivots = device_zeros<int64_t>(N);
    cusolverDnParams_t params;
    for (int i = 0; i < N; i++) {
        a[i + i * N] = make_cuDoubleComplex(2, 1);
        b[i] = make_cuDoubleComplex(5 * i, 5);
    }
    cuDoubleComplex *da = device_copy(a), *db = device_copy(b);
    SOLVED(cusolverDnCreateParams(&params));
    SOLVED(cusolverDnXgetrf_bufferSize(handle, params, N, N, CUDA_C_64F, da, N, CUDA_C_64F, &on_device, &on_host));
    REQUIRE(on_host == 0);
    CHECK(cudaMalloc(&work, on_device));
    SOLVED(
        cusolverDnXgetrf(handle, params, N, N, CUDA_C_64F, da, N, pivots, CUDA_C_64F, work, on_device, NULL, 0, info));
    SOLVED(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, N, 1, CUDA_C_64F, da, N, pivots, CUDA_C_64F, db, N, info));
    fetch(b, db);
    for (int i = 0; i < N; i++) { // (5 i + 5 I) / (2 + I)
        close(b[i].x, 2 * i + 1);
        close(b[i].y, 2 - i);
    }
    SOLVED(cusolverDnDestroyParams(params));
    CHECK(cudaFree(work));
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(pivots));
    CHECK(cudaFree(info));
}

int main()
{
    cusolverDnHandle_t handle;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamDefault));
    SOLVED(cusolverDnCreate(&handle));
    by_lu(handle, CUBLAS_OP_N);
    by_lu(handle, CUBLAS_OP_T);
    by_cholesky(handle, CUBLAS_FILL_MODE_LOWER);
    by_cholesky(handle, CUBLAS_FILL_MODE_UPPER);
    SOLVED(cusolverDnSetStream(handle, stream));
    by_qr(handle);
    of_64_bits(handle);
    SOLVED(cusolverDnDestroy(handle));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
