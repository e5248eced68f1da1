// What cuBLAS does in place, or beside its input in the same array: sums and scaled columns over an operand, triangular
// products and solves, interleaved and neighbouring vectors, the steps of a factorisation within one matrix.
#include "../corpus.h"
#include <cublas_v2.h>

enum { SIDE = 8, COUNT = SIDE * SIDE };

static float at(const float *matrix, int row, int column)
{
    return matrix[row + column * SIDE];
}

// B = op(A) B or B op(A) in place, of a triangular A, against the plain sum.
static void check_product(cublasHandle_t handle, const float *a, cublasSideMode_t side, cublasFillMode_t triangle,
                          cublasOperation_t operation)
{
    const float one = 1;
    float *b = device_ramp<float>(COUNT, 1, 1), stored[COUNT], before[COUNT], after[COUNT];
    fetch(stored, a);
    fetch(before, b);
    REQUIRE(!cublasStrmm(handle, side, triangle, operation, CUBLAS_DIAG_NON_UNIT, SIDE, SIDE, &one, a, SIDE, b, SIDE, b,
                         SIDE));
    fetch(after, b);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            float sum = 0;
            for (int l = 0; l < SIDE; l++) {
                int row = side == CUBLAS_SIDE_LEFT ? i : l, column = side == CUBLAS_SIDE_LEFT ? l : j;
                if (operation == CUBLAS_OP_T) {
                    int kept = row;
                    row = column;
                    column = kept;
                }
                if (triangle == CUBLAS_FILL_MODE_LOWER ? row >= column : row <= column)
                    sum += at(stored, row, column) * (side == CUBLAS_SIDE_LEFT ? at(before, l, j) : at(before, i, l));
            }
            REQUIRE(at(after, i, j) == sum);
        }
    CHECK(cudaFree(b));
}

int main()
{
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    const float one = 1, minus = -1, zero = 0;
    const int s = SIDE;
    float *a = device_ramp<float>(2 * COUNT, 1, 0), *b = device_ramp<float>(COUNT, 1, 1), result[COUNT];
    cublasHandle_t handle;
    REQUIRE(!cublasCreate(&handle));
    REQUIRE(!cublasSgeam(handle, n, t, s, s, &one, a, s, &one, b, s, a, s));
    REQUIRE(!cublasSgeam(handle, t, n, s, s, &one, b, s, &zero, a, s, a, s));
    REQUIRE(!cublasSdgmm(handle, CUBLAS_SIDE_LEFT, s, s, a, s, b, 1, a, s));
    REQUIRE(!cublasSaxpy(handle, COUNT, &one, a, 1, a + COUNT, 1));
    REQUIRE(!cublasSaxpy(handle, COUNT, &one, a, 1, a, 1));
    REQUIRE(!cublasScopy(handle, COUNT / 2, a, 2, a + 1, 2));
    REQUIRE(!cublasSswap(handle, s, a, s, a + 1, s)); // two rows
    REQUIRE(!cublasSgemv(handle, n, s, s, &one, b, s, a, 1, &zero, a + s, 1));
    // One step of a factorisation: a row, a column and the rest of one matrix.
    REQUIRE(!cublasSger(handle, s - 1, s - 1, &minus, b + 1, 1, b + s, s, b + s + 1, s));
    REQUIRE(!cublasSsyrk(handle, CUBLAS_FILL_MODE_LOWER, n, s - 2, 2, &minus, b + 2, s, &one, b + 2 * s + 2, s));
    REQUIRE(!cublasStrsm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, t, CUBLAS_DIAG_NON_UNIT, s - 2, 2, &one, b,
                         s, b + 2, s));
    // A vector in the triangle that is not read.
    REQUIRE(!cublasStrsv(handle, CUBLAS_FILL_MODE_LOWER, n, CUBLAS_DIAG_UNIT, 3, b, s, b + 2 * s, 1));
    for (int i = 0; i < 8; i++)
        check_product(handle, a, i & 1 ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
                      i & 2 ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER, i & 4 ? n : t);
    fetch(result, a);
    cublasDestroy(handle);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return 0;
}
