// cuSPARSE's systems and conversions: incomplete LU and its two triangles, a tridiagonal matrix that needs pivots,
// COO to CSR, CSR to CSC, columns sorted, dense to sparse and back.
#include "../corpus.h"
#include <cmath>
#include <cusparse.h>

#define DONE(call) REQUIRE((call) == CUSPARSE_STATUS_SUCCESS)

const int N = 4, NNZ = 10;
// Tridiagonal, so that the incomplete factors are the whole ones: 4 on the diagonal, -1 beside it.
static const int rows[] = {0, 0, 1, 1, 1, 2, 2, 2, 3, 3}, columns[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
static const double values[] = {4, -1, -1, 4, -1, -1, 4, -1, -1, 4};

static bool close(double got, double wanted)
{
    return std::fabs(got - wanted) < 1e-9;
}

static void triangle(cusparseHandle_t handle, cusparseSpMatDescr_t a, double *from, double *to)
{
    const double one = 1;
    cusparseDnVecDescr_t x, y;
    cusparseSpSVDescr_t plan;
    size_t bytes = 0;
    void *buffer = NULL;
    DONE(cusparseCreateDnVec(&x, N, from, CUDA_R_64F));
    DONE(cusparseCreateDnVec(&y, N, to, CUDA_R_64F));
    DONE(cusparseSpSV_createDescr(&plan));
    DONE(cusparseSpSV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, y, CUDA_R_64F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseSpSV_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, y, CUDA_R_64F,
                               CUSPARSE_SPSV_ALG_DEFAULT, plan, buffer));
    DONE(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, x, y, CUDA_R_64F,
                            CUSPARSE_SPSV_ALG_DEFAULT, plan));
    CHECK(cudaDeviceSynchronize());
    DONE(cusparseSpSV_destroyDescr(plan));
    DONE(cusparseDestroyDnVec(x));
    DONE(cusparseDestroyDnVec(y));
    CHECK(cudaFree(buffer));
}

static void by_incomplete_lu(cusparseHandle_t handle, int *offsets, int *d_columns, double *d_values)
{
    const double right[] = {2, 4, 6, 13}; // for 1, 2, 3, 4
    double *b = device_copy(right), *half = device_zeros<double>(N), *x = device_zeros<double>(N), result[N];
    int bytes = 0, position = 0;
    void *buffer = NULL;
    cusparseMatDescr_t plain;
    csrilu02Info_t info;
    cusparseSpMatDescr_t lower, upper;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t unit = CUSPARSE_DIAG_TYPE_UNIT;
    DONE(cusparseCreateMatDescr(&plain));
    DONE(cusparseCreateCsrilu02Info(&info));
    DONE(cusparseDcsrilu02_bufferSize(handle, N, NNZ, plain, d_values, offsets, d_columns, info, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseDcsrilu02_analysis(handle, N, NNZ, plain, d_values, offsets, d_columns, info,
                                    CUSPARSE_SOLVE_POLICY_USE_LEVEL, buffer));
    DONE(cusparseDcsrilu02(handle, N, NNZ, plain, d_values, offsets, d_columns, info, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                           buffer));
    DONE(cusparseXcsrilu02_zeroPivot(handle, info, &position));
    DONE(cusparseCreateCsr(&lower, N, N, NNZ, offsets, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    DONE(cusparseCreateCsr(&upper, N, N, NNZ, offsets, d_columns, d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    DONE(cusparseSpMatSetAttribute(lower, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    DONE(cusparseSpMatSetAttribute(lower, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof unit));
    fill = CUSPARSE_FILL_MODE_UPPER;
    DONE(cusparseSpMatSetAttribute(upper, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    triangle(handle, lower, b, half);
    triangle(handle, upper, half, x);
    fetch(result, x);
    for (int i = 0; i < N; i++)
        REQUIRE(close(result[i], i + 1));
    DONE(cusparseDestroySpMat(lower));
    DONE(cusparseDestroySpMat(upper));
    DONE(cusparseDestroyCsrilu02Info(info));
    DONE(cusparseDestroyMatDescr(plain));
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(b));
    CHECK(cudaFree(half));
    CHECK(cudaFree(x));
}

// 0 1 . / 2 3 1 / . 2 1, for 1, 2, 3
static void tridiagonal(cusparseHandle_t handle)
{
    const float below[] = {0, 2, 2}, on[] = {0, 3, 1}, above[] = {1, 1, 0}, right[] = {2, 11, 7};
    float *dl = device_copy(below), *d = device_copy(on), *du = device_copy(above), *b = device_copy(right), result[3];
    size_t bytes = 0;
    void *buffer = NULL;
    DONE(cusparseSgtsv2_bufferSizeExt(handle, 3, 1, dl, d, du, b, 3, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseSgtsv2(handle, 3, 1, dl, d, du, b, 3, buffer));
    fetch(result, b);
    REQUIRE(close(result[0], 1) && close(result[1], 2) && close(result[2], 3));
    CHECK(cudaFree(buffer));
    for (float *memory : {dl, d, du, b})
        CHECK(cudaFree(memory));
}

static void transposed(cusparseHandle_t handle, const int *offsets, const int *d_columns, const double *d_values)
{
    int *to_offsets = device_zeros<int>(N + 1), *to_rows = device_zeros<int>(NNZ), got_rows[NNZ], got_offsets[N + 1];
    double *to_values = device_zeros<double>(NNZ), got_values[NNZ];
    size_t bytes = 0;
    void *buffer = NULL;
    DONE(cusparseCsr2cscEx2_bufferSize(handle, N, N, NNZ, d_values, offsets, d_columns, to_values, to_offsets, to_rows,
                                       CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                       CUSPARSE_CSR2CSC_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseCsr2cscEx2(handle, N, N, NNZ, d_values, offsets, d_columns, to_values, to_offsets, to_rows, CUDA_R_64F,
                            CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG_DEFAULT, buffer));
    fetch(got_offsets, to_offsets);
    fetch(got_rows, to_rows);
    fetch(got_values, to_values);
    REQUIRE(got_offsets[0] == 0 && got_offsets[1] == 2 && got_offsets[4] == NNZ);
    REQUIRE(got_rows[0] == 0 && got_rows[1] == 1 && got_rows[4] == 2 && got_values[2] == -1 && got_values[3] == 4);
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(to_offsets));
    CHECK(cudaFree(to_rows));
    CHECK(cudaFree(to_values));
}

// A short row, then a long one in falling order in which each column is there twice.
static void sorted(cusparseHandle_t handle)
{
    const int count = 1 << 16, ends[] = {1, 3, count + 1};
    static int from[count], got[count], places[count];
    from[0] = 9, from[1] = 5;
    for (int i = 2; i < count; i++)
        from[i] = (count - i + 1) / 2;
    int *offsets = device_copy(ends), *d_columns = device_copy(from), *permutation = device_zeros<int>(count);
    size_t bytes = 0;
    void *buffer = NULL;
    cusparseMatDescr_t plain;
    DONE(cusparseCreateMatDescr(&plain));
    DONE(cusparseSetMatIndexBase(plain, CUSPARSE_INDEX_BASE_ONE));
    DONE(cusparseCreateIdentityPermutation(handle, count, permutation));
    DONE(cusparseXcsrsort_bufferSizeExt(handle, 2, count, count, offsets, d_columns, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseXcsrsort(handle, 2, count, count, plain, offsets, d_columns, permutation, buffer));
    fetch(got, d_columns);
    fetch(places, permutation);
    REQUIRE(got[0] == 5 && got[1] == 9 && places[0] == 1 && places[1] == 0);
    for (int i = 2; i < count; i++) {
        REQUIRE(got[i] == i / 2 && from[places[i]] == got[i]);
        REQUIRE(i % 2 == 0 || places[i] == places[i - 1] + 1);
    }
    DONE(cusparseDestroyMatDescr(plain));
    CHECK(cudaFree(buffer));
    for (int *memory : {offsets, d_columns, permutation})
        CHECK(cudaFree(memory));
}

static void from_dense_and_back(cusparseHandle_t handle)
{
    const float dense[] = {0, 7, 0, 8, 0, 9};
    float *from = device_copy(dense), *back = device_zeros<float>(6), *d_values, got[6], *got_values = got;
    int *offsets = device_zeros<int>(3), *d_columns;
    int64_t m, n, nnz;
    size_t bytes = 0;
    void *buffer = NULL;
    cusparseDnMatDescr_t a, b;
    cusparseSpMatDescr_t s;
    DONE(cusparseCreateDnMat(&a, 2, 3, 3, from, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    DONE(cusparseCreateDnMat(&b, 2, 3, 3, back, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    DONE(cusparseCreateCsr(&s, 2, 3, 0, offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    DONE(cusparseDenseToSparse_bufferSize(handle, a, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseDenseToSparse_analysis(handle, a, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    DONE(cusparseSpMatGetSize(s, &m, &n, &nnz));
    REQUIRE(nnz == 3);
    CHECK(cudaMalloc(&d_columns, nnz * sizeof *d_columns));
    CHECK(cudaMalloc(&d_values, nnz * sizeof *d_values));
    DONE(cusparseCsrSetPointers(s, offsets, d_columns, d_values));
    DONE(cusparseDenseToSparse_convert(handle, a, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer));
    DONE(cusparseSparseToDense(handle, s, b, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
    fetch(got, back);
    for (int i = 0; i < 6; i++)
        REQUIRE(got_values[i] == dense[i]);
    DONE(cusparseDestroyDnMat(a));
    DONE(cusparseDestroyDnMat(b));
    DONE(cusparseDestroySpMat(s));
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(from));
    CHECK(cudaFree(back));
    CHECK(cudaFree(offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
}

int main()
{
    int *d_rows = device_copy(rows), *d_columns = device_copy(columns), *offsets = device_zeros<int>(N + 1);
    double *d_values = device_copy(values);
    cusparseHandle_t handle;
    DONE(cusparseCreate(&handle));
    DONE(cusparseXcoo2csr(handle, d_rows, NNZ, N, offsets, CUSPARSE_INDEX_BASE_ZERO));
    transposed(handle, offsets, d_columns, d_values);
    by_incomplete_lu(handle, offsets, d_columns, d_values);
    tridiagonal(handle);
    sorted(handle);
    from_dense_and_back(handle);
    DONE(cusparseDestroy(handle));
    CHECK(cudaFree(d_rows));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(offsets));
    CHECK(cudaFree(d_values));
    return 0;
}
