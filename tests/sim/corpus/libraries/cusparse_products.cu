// cuSPARSE's products: a sparse matrix of every format with a vector and with matrices of both orders, two sparse ones,
// dense ones sampled, a vector gathered and scattered.
#include "../corpus.h"
#include <cmath>
#include <cusparse.h>

#define DONE(call) REQUIRE((call) == CUSPARSE_STATUS_SUCCESS)

// 1 . 2 .
// . 3 . .
// 4 . 5 6
static const int offsets[] = {0, 2, 3, 6}, rows[] = {0, 0, 1, 2, 2, 2}, columns[] = {0, 2, 1, 0, 2, 3};
static const int column_offsets[] = {1, 3, 4, 6, 7}, row_indices[] = {1, 3, 2, 1, 3, 3}; // from 1
static const float values[] = {1, 2, 3, 4, 5, 6}, by_columns[] = {1, 4, 3, 2, 5, 6};
const int M = 3, N = 4, NNZ = 6;

static void times_vector(cusparseHandle_t handle, cusparseSpMatDescr_t a)
{
    const float plain[] = {1, 2, 3, 4}, ones[] = {1, 1, 1}, alpha = 2, beta = 1;
    float *x = device_copy(plain), *y = device_copy(ones), result[M], transposed[N];
    cusparseDnVecDescr_t vx, vy;
    size_t bytes = 0;
    void *buffer = NULL;
    DONE(cusparseCreateDnVec(&vx, N, x, CUDA_R_32F));
    DONE(cusparseCreateDnVec(&vy, M, y, CUDA_R_32F));
    DONE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta, vy, CUDA_R_32F,
                                 CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, vx, &beta, vy, CUDA_R_32F,
                      CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    fetch(result, y);
    REQUIRE(result[0] == 15 && result[1] == 13 && result[2] == 87);
    const float zero = 0;
    DONE(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &alpha, a, vy, &zero, vx, CUDA_R_32F,
                      CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    fetch(transposed, x);
    REQUIRE(transposed[0] == 726 && transposed[1] == 78 && transposed[2] == 930 && transposed[3] == 1044);
    DONE(cusparseDestroyDnVec(vx));
    DONE(cusparseDestroyDnVec(vy));
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

static void times_matrix(cusparseHandle_t handle, cusparseSpMatDescr_t a, cusparseOrder_t order)
{
    const float alpha = 1, beta = 0;
    float *b = device_ramp<float>(N * 2, 1, 1), *c = NULL, result[M * 2];
    cusparseDnMatDescr_t mb, mc;
    size_t bytes = 0;
    void *buffer = NULL;
    bool by_rows = order == CUSPARSE_ORDER_ROW;
    CHECK(cudaMalloc(&c, sizeof result)); // not initialised: beta is 0
    DONE(cusparseCreateDnMat(&mb, N, 2, by_rows ? 2 : N, b, CUDA_R_32F, order));
    DONE(cusparseCreateDnMat(&mc, M, 2, by_rows ? 2 : M, c, CUDA_R_32F, order));
    DONE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a,
                                 mb, &beta, mc, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    CHECK(cudaMalloc(&buffer, bytes));
    DONE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, a, mb, &beta,
                      mc, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    fetch(result, c);
    if (by_rows)
        REQUIRE(result[0] == 11 && result[1] == 14 && result[2] == 9 && result[5] == 86);
    else
        REQUIRE(result[0] == 7 && result[1] == 6 && result[2] == 43 && result[5] == 103);
    DONE(cusparseDestroyDnMat(mb));
    DONE(cusparseDestroyDnMat(mc));
    CHECK(cudaFree(buffer));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
}

// A A': [5 0 14; 0 9 0; 14 0 77]
static void two_sparse(cusparseHandle_t handle, cusparseSpMatDescr_t a, cusparseSpMatDescr_t a_transposed)
{
    const float alpha = 1, beta = 0;
    size_t one = 0, two = 0;
    void *first = NULL, *second = NULL;
    int64_t m, n, nnz;
    int c_columns[5], c_offsets[M + 1], *dc_offsets, *dc_columns;
    float c_values[5], *dc_values;
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t product;
    const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
    CHECK(cudaMalloc(&dc_offsets, sizeof c_offsets));
    DONE(cusparseCreateCsr(&c, M, M, 0, dc_offsets, NULL, NULL, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    DONE(cusparseSpGEMM_createDescr(&product));
    DONE(cusparseSpGEMM_workEstimation(handle, as_is, as_is, &alpha, a, a_transposed, &beta, c, CUDA_R_32F,
                                       CUSPARSE_SPGEMM_DEFAULT, product, &one, NULL));
    CHECK(cudaMalloc(&first, one));
    DONE(cusparseSpGEMM_workEstimation(handle, as_is, as_is, &alpha, a, a_transposed, &beta, c, CUDA_R_32F,
                                       CUSPARSE_SPGEMM_DEFAULT, product, &one, first));
    DONE(cusparseSpGEMM_compute(handle, as_is, as_is, &alpha, a, a_transposed, &beta, c, CUDA_R_32F,
                                CUSPARSE_SPGEMM_DEFAULT, product, &two, NULL));
    CHECK(cudaMalloc(&second, two));
    DONE(cusparseSpGEMM_compute(handle, as_is, as_is, &alpha, a, a_transposed, &beta, c, CUDA_R_32F,
                                CUSPARSE_SPGEMM_DEFAULT, product, &two, second));
    DONE(cusparseSpMatGetSize(c, &m, &n, &nnz));
    REQUIRE(m == M && n == M && nnz == 5);
    CHECK(cudaMalloc(&dc_columns, sizeof c_columns));
    CHECK(cudaMalloc(&dc_values, sizeof c_values));
    DONE(cusparseCsrSetPointers(c, dc_offsets, dc_columns, dc_values));
    DONE(cusparseSpGEMM_copy(handle, as_is, as_is, &alpha, a, a_transposed, &beta, c, CUDA_R_32F,
                             CUSPARSE_SPGEMM_DEFAULT, product));
    fetch(c_offsets, dc_offsets);
    fetch(c_columns, dc_columns);
    fetch(c_values, dc_values);
    REQUIRE(c_offsets[1] == 2 && c_offsets[2] == 3 && c_offsets[3] == 5 && c_columns[1] == 2);
    REQUIRE(c_values[0] == 5 && c_values[1] == 14 && c_values[2] == 9 && c_values[3] == 14 && c_values[4] == 77);
    DONE(cusparseSpGEMM_destroyDescr(product));
    DONE(cusparseDestroySpMat(c));
    CHECK(cudaFree(first));
    CHECK(cudaFree(second));
    CHECK(cudaFree(dc_offsets));
    CHECK(cudaFree(dc_columns));
    CHECK(cudaFree(dc_values));
}

static void sparse_vector(cusparseHandle_t handle)
{
    const int places[] = {3, 0};
    const float numbers[] = {10, 20}, alpha = 2, beta = 3;
    int *indices = device_copy(places);
    float *x = device_copy(numbers), *y = device_ramp<float>(N, 1, 1), result[N], gathered[2];
    cusparseSpVecDescr_t vx;
    cusparseDnVecDescr_t vy;
    DONE(cusparseCreateSpVec(&vx, N, 2, indices, x, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    DONE(cusparseCreateDnVec(&vy, N, y, CUDA_R_32F));
    DONE(cusparseAxpby(handle, &alpha, vx, &beta, vy));
    fetch(result, y);
    REQUIRE(result[0] == 43 && result[1] == 6 && result[2] == 9 && result[3] == 32);
    DONE(cusparseGather(handle, vy, vx));
    fetch(gathered, x);
    REQUIRE(gathered[0] == 32 && gathered[1] == 43);
    CHECK(cudaMemset(y, 0, sizeof result));
    DONE(cusparseScatter(handle, vx, vy));
    fetch(result, y);
    REQUIRE(result[0] == 43 && result[1] == 0 && result[3] == 32);
    DONE(cusparseDestroySpVec(vx));
    DONE(cusparseDestroyDnVec(vy));
    CHECK(cudaFree(indices));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main()
{
    int *d_offsets = device_copy(offsets), *d_rows = device_copy(rows), *d_columns = device_copy(columns);
    int *d_column_offsets = device_copy(column_offsets), *d_row_indices = device_copy(row_indices);
    float *d_values = device_copy(values), *d_by_columns = device_copy(by_columns);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t formats[3], transposed;
    const cusparseIndexType_t i32 = CUSPARSE_INDEX_32I;
    DONE(cusparseCreate(&handle));
    DONE(cusparseCreateCsr(&formats[0], M, N, NNZ, d_offsets, d_columns, d_values, i32, i32, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_32F));
    DONE(cusparseCreateCoo(&formats[1], M, N, NNZ, d_rows, d_columns, d_values, i32, CUSPARSE_INDEX_BASE_ZERO,
                           CUDA_R_32F));
    DONE(cusparseCreateCsc(&formats[2], M, N, NNZ, d_column_offsets, d_row_indices, d_by_columns, i32, i32,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    for (cusparseSpMatDescr_t a : formats) {
        times_vector(handle, a);
        times_matrix(handle, a, CUSPARSE_ORDER_COL);
        times_matrix(handle, a, CUSPARSE_ORDER_ROW);
    }
    // The columns of A are the rows of A'.
    DONE(cusparseCreateCsr(&transposed, N, M, NNZ, d_column_offsets, d_row_indices, d_by_columns, i32, i32,
                           CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    two_sparse(handle, formats[0], transposed);
    sparse_vector(handle);
    for (cusparseSpMatDescr_t a : formats)
        DONE(cusparseDestroySpMat(a));
    DONE(cusparseDestroySpMat(transposed));
    DONE(cusparseDestroy(handle));
    for (int *memory : {d_offsets, d_rows, d_columns, d_column_offsets, d_row_indices})
        CHECK(cudaFree(memory));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_by_columns));
    return 0;
}
