// Blocks of one matrix are multiplied into another block of it: their columns lie between one another's, without an
// element in common. With beta = 1 the result is read, too.
#include "../corpus.h"
#include <cublas_v2.h>

enum { SIDE = 16, HALF = SIDE / 2 };

int main()
{
    const float one = 1, minus = -1;
    float *matrix = device_ramp<float>(SIDE * SIDE, 1, 0), result[SIDE * SIDE];
    float *ones = device_ramp<float>(HALF, 1, 0), *rows = device_zeros<float>(SIDE);
    cublasHandle_t handle;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const float *below = matrix + HALF, *right = matrix + HALF * SIDE;
    float *corner = matrix + HALF * SIDE + HALF;
    REQUIRE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, HALF, HALF, HALF, &minus, below, SIDE, right, SIDE, &one,
                        corner, SIDE) == CUBLAS_STATUS_SUCCESS);
    // Each product of a batch has every other row.
    REQUIRE(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, HALF, 1, &one, ones, 1, 0, ones, 1, 0, &one,
                                      rows, 2, 1, 2) == CUBLAS_STATUS_SUCCESS);
    fetch(result, matrix);
    REQUIRE(result[0] == 1 && result[SIDE * SIDE - 1] == 1 - HALF);
    REQUIRE(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaFree(matrix));
    CHECK(cudaFree(ones));
    CHECK(cudaFree(rows));
    return 0;
}
