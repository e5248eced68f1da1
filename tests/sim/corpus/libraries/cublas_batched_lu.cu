// cuBLAS's factors of two matrices at once: systems solved and an inverse, QR and least squares of complex ones; then a
// matrix that is too small for its order.
#include "../corpus.h"
#include <cmath>
#include <cublas_v2.h>

const int N = 3, BATCHES = 2;

#define DONE(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

// Four points on the line 1 + 2i + (3 - i) t, by complex least squares; then the reflectors alone.
static void least_squares(cublasHandle_t handle)
{
    const cuComplex ones_and_times[] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const cuComplex line[] = {{1, 2}, {4, 1}, {7, 0}, {10, -1}};
    cuComplex *a[] = {device_copy(ones_and_times)}, *b[] = {device_copy(line)}, found[4], factors[8];
    cuComplex *again[] = {device_copy(ones_and_times)}, *taus[] = {device_zeros<cuComplex>(2)}, tau[2];
    cuComplex **da = device_copy(a), **db = device_copy(b), **dagain = device_copy(again), **dtaus = device_copy(taus);
    int *infos = device_zeros<int>(1), info[1], here = 9;
    DONE(cublasCgelsBatched(handle, CUBLAS_OP_N, 4, 2, 1, da, 4, db, 4, &here, infos, 1));
    fetch(info, infos);
    fetch(found, b[0]);
    REQUIRE(here == 0 && info[0] == 0);
    REQUIRE(std::fabs(found[0].x - 1) < 1e-5 && std::fabs(found[0].y - 2) < 1e-5);
    REQUIRE(std::fabs(found[1].x - 3) < 1e-5 && std::fabs(found[1].y + 1) < 1e-5);
    REQUIRE(cublasCgelsBatched(handle, CUBLAS_OP_C, 4, 2, 1, da, 4, db, 4, &here, infos, 1) ==
            CUBLAS_STATUS_NOT_SUPPORTED);
    DONE(cublasCgeqrfBatched(handle, 4, 2, dagain, 4, dtaus, &here, 1));
    fetch(factors, again[0]);
    fetch(tau, taus[0]);
    REQUIRE(std::fabs(factors[0].x + 2) < 1e-5 && std::fabs(tau[0].x - 1.5) < 1e-5);
}

int main()
{
    // Columns; the first pivot of the first is 0.
    const double one[] = {0, 2, 1, 1, 0, 3, 4, 1, 0}, two[] = {2, 0, 0, 0, 4, 0, 0, 0, 8};
    const double b_one[] = {14, 5, 7}, b_two[] = {2, 8, 24}; // for 1, 2, 3
    double *a[] = {device_copy(one), device_copy(two)}, *b[] = {device_copy(b_one), device_copy(b_two)}, x[N];
    double *c[] = {device_zeros<double>(N * N), device_zeros<double>(N * N)}, inverse[N * N];
    double **da = device_copy(a), **db = device_copy(b), **dc = device_copy(c);
    int *pivots = device_zeros<int>(N * BATCHES), *infos = device_zeros<int>(BATCHES), info[BATCHES], here = 9;
    cublasHandle_t handle;
    DONE(cublasCreate(&handle));
    least_squares(handle);
    DONE(cublasDgetrfBatched(handle, N, da, N, pivots, infos, BATCHES));
    fetch(info, infos);
    REQUIRE(info[0] == 0 && info[1] == 0);
    DONE(cublasDgetrsBatched(handle, CUBLAS_OP_N, N, 1, da, N, pivots, db, N, &here, BATCHES));
    REQUIRE(here == 0);
    for (double *solved : b) {
        fetch(x, solved);
        for (int i = 0; i < N; i++)
            REQUIRE(std::fabs(x[i] - (i + 1)) < 1e-9);
    }
    DONE(cublasDgetriBatched(handle, N, da, N, pivots, dc, N, infos, BATCHES));
    fetch(inverse, c[1]);
    REQUIRE(inverse[0] == 0.5 && inverse[1] == 0 && inverse[4] == 0.25 && inverse[8] == 0.125);
    DONE(cublasDgetrfBatched(handle, N + 1, da, N + 1, NULL, infos, BATCHES)); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    return 0;
}
