// cuSPARSE's descriptors of vectors and matrices: what a program says about its arrays. Nothing is read here.
#include <stdlib.h>
#include <string.h>

#include "api/sparse/sparse.h"

static bool is_simulated(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

static cusparseStatus_t check_kind(cudaDataType type, cusparseIndexType_t one, cusparseIndexType_t two)
{
    bool integers = one != CUSPARSE_INDEX_16U && two != CUSPARSE_INDEX_16U;
    return is_simulated(type) && integers ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_SUPPORTED;
}

// A copy of `value` in `*result`, as every descriptor is made.
#define MAKE(result, value)                                                                                            \
    if (!(result))                                                                                                     \
        return CUSPARSE_STATUS_INVALID_VALUE;                                                                          \
    *(result) = malloc(sizeof **(result));                                                                             \
    if (!*(result))                                                                                                    \
        return CUSPARSE_STATUS_ALLOC_FAILED;                                                                           \
    **(result) = (value);                                                                                              \
    return CUSPARSE_STATUS_SUCCESS

#define DESTROY(Name, type, value)                                                                                     \
    cusparseStatus_t cusparseDestroy##Name(type value)                                                                 \
    {                                                                                                                  \
        free((void *)(uintptr_t)(value));                                                                              \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
DESTROY(SpVec, cusparseConstSpVecDescr_t, vector)
DESTROY(DnVec, cusparseConstDnVecDescr_t, vector)
DESTROY(SpMat, cusparseConstSpMatDescr_t, matrix)
DESTROY(DnMat, cusparseConstDnMatDescr_t, matrix)

// --- vectors --------------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t *vector, int64_t size, int64_t nnz, void *indices,
                                     void *values, cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                     cudaDataType type)
{
    struct cusparseSpVecDescr made = {size, nnz, indices, values, index_type, base, type};
    cusparseStatus_t status = check_kind(type, index_type, index_type);
    if (size < 0 || nnz < 0 || nnz > size)
        return SPARSE_WRONG(SPARSE_CALL("CreateSpVec"), "%lld entries in a vector of %lld", (long long)nnz,
                            (long long)size);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    MAKE(vector, made);
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t *vector, int64_t size, void *values, cudaDataType type)
{
    struct cusparseDnVecDescr made = {
        {.rows = size, .columns = 1, .ld = size, .values = values, .type = type, .order = CUSPARSE_ORDER_COL}};
    if (size < 0)
        return SPARSE_WRONG(SPARSE_CALL("CreateDnVec"), "the size is negative: %lld", (long long)size);
    if (!is_simulated(type))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    MAKE(vector, made);
}

cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t *size, void **values, cudaDataType *type)
{
    *size = vector->matrix.rows;
    *values = vector->matrix.values;
    *type = vector->matrix.type;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void **values)
{
    *values = vector->matrix.values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void *values)
{
    vector->matrix.values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

// --- dense matrices -------------------------------------------------------------------------------------------------

cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t ld,
                                     void *values, cudaDataType type, cusparseOrder_t order)
{
    struct cusparseDnMatDescr made = {rows, columns, ld, values, type, order, 0, 0};
    int64_t least = order == CUSPARSE_ORDER_ROW ? columns : rows;
    if (rows < 0 || columns < 0 || ld < least)
        return SPARSE_WRONG(SPARSE_CALL("CreateDnMat"), "%lld rows, %lld columns, leading dimension %lld",
                            (long long)rows, (long long)columns, (long long)ld);
    if (!is_simulated(type))
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    MAKE(matrix, made);
}

cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t matrix, int64_t *rows, int64_t *columns, int64_t *ld,
                                  void **values, cudaDataType *type, cusparseOrder_t *order)
{
    *rows = matrix->rows;
    *columns = matrix->columns;
    *ld = matrix->ld;
    *values = matrix->values;
    *type = matrix->type;
    *order = matrix->order;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void **values)
{
    *values = matrix->values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void *values)
{
    matrix->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int batches, int64_t stride)
{
    matrix->batches = batches;
    matrix->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}

// --- sparse matrices ------------------------------------------------------------------------------------------------

static cusparseStatus_t make_sparse(sim_blas_call call, cusparseSpMatDescr_t *matrix, struct cusparseSpMatDescr made)
{
    cusparseStatus_t status = check_kind(made.type, made.offset_type, made.index_type);
    if (made.rows < 0 || made.columns < 0 || made.nnz < 0)
        return SPARSE_WRONG(call, "%lld rows, %lld columns, %lld entries", (long long)made.rows,
                            (long long)made.columns, (long long)made.nnz);
    if (status != CUSPARSE_STATUS_SUCCESS)
        return status;
    MAKE(matrix, made);
}

#define LINES(Name, FORMAT)                                                                                            \
    cusparseStatus_t cusparseCreate##Name(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t nnz,    \
                                          void *offsets, void *indices, void *values, cusparseIndexType_t offset_type, \
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) \
    {                                                                                                                  \
        return make_sparse(SPARSE_CALL("Create" #Name), matrix,                                                        \
                           (struct cusparseSpMatDescr){.format = (FORMAT),                                             \
                                                       .rows = rows,                                                   \
                                                       .columns = columns,                                             \
                                                       .nnz = nnz,                                                     \
                                                       .offsets = offsets,                                             \
                                                       .indices = indices,                                             \
                                                       .values = values,                                               \
                                                       .offset_type = offset_type,                                     \
                                                       .index_type = index_type,                                       \
                                                       .base = base,                                                   \
                                                       .type = type});                                                 \
    }
LINES(Csr, CUSPARSE_FORMAT_CSR)
LINES(Csc, CUSPARSE_FORMAT_CSC)

cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t *matrix, int64_t rows, int64_t columns, int64_t nnz,
                                   void *row_indices, void *column_indices, void *values,
                                   cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type)
{
    return make_sparse(SPARSE_CALL("CreateCoo"), matrix,
                       (struct cusparseSpMatDescr){.format = CUSPARSE_FORMAT_COO,
                                                   .rows = rows,
                                                   .columns = columns,
                                                   .nnz = nnz,
                                                   .offsets = row_indices,
                                                   .indices = column_indices,
                                                   .values = values,
                                                   .offset_type = index_type,
                                                   .index_type = index_type,
                                                   .base = base,
                                                   .type = type});
}

cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t matrix, int64_t *rows, int64_t *columns, int64_t *nnz,
                                void **offsets, void **indices, void **values, cusparseIndexType_t *offset_type,
                                cusparseIndexType_t *index_type, cusparseIndexBase_t *base, cudaDataType *type)
{
    *rows = matrix->rows;
    *columns = matrix->columns;
    *nnz = matrix->nnz;
    *offsets = matrix->offsets;
    *indices = matrix->indices;
    *values = matrix->values;
    *offset_type = matrix->offset_type;
    *index_type = matrix->index_type;
    *base = matrix->base;
    *type = matrix->type;
    return CUSPARSE_STATUS_SUCCESS;
}

#define SET_POINTERS(Name, offsets_name, indices_name)                                                                 \
    cusparseStatus_t cusparse##Name##SetPointers(cusparseSpMatDescr_t matrix, void *offsets_name, void *indices_name,  \
                                                 void *values)                                                         \
    {                                                                                                                  \
        matrix->offsets = offsets_name;                                                                                \
        matrix->indices = indices_name;                                                                                \
        matrix->values = values;                                                                                       \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
SET_POINTERS(Csr, offsets, indices)
SET_POINTERS(Csc, offsets, indices)
SET_POINTERS(Coo, rows, columns)

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int batches, int64_t offsets_stride,
                                            int64_t values_stride)
{
    matrix->batches = batches;
    matrix->offsets_stride = offsets_stride;
    matrix->values_stride = values_stride;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t matrix, int batches, int64_t stride)
{
    return cusparseCsrSetStridedBatch(matrix, batches, stride, stride);
}

cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix, cusparseFormat_t *format)
{
    *format = matrix->format;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix, cusparseIndexBase_t *base)
{
    *base = matrix->base;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void **values)
{
    *values = matrix->values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void *values)
{
    matrix->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t *rows, int64_t *columns, int64_t *nnz)
{
    *rows = matrix->rows;
    *columns = matrix->columns;
    *nnz = matrix->nnz;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute,
                                           void *data, size_t bytes)
{
    if (bytes != sizeof(cusparseFillMode_t))
        return CUSPARSE_STATUS_INVALID_VALUE;
    memcpy(data, attribute == CUSPARSE_SPMAT_FILL_MODE ? (const void *)&matrix->fill : &matrix->diagonal, bytes);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix, cusparseSpMatAttribute_t attribute, void *data,
                                           size_t bytes)
{
    if (bytes != sizeof(cusparseFillMode_t))
        return CUSPARSE_STATUS_INVALID_VALUE;
    memcpy(attribute == CUSPARSE_SPMAT_FILL_MODE ? (void *)&matrix->fill : &matrix->diagonal, data, bytes);
    return CUSPARSE_STATUS_SUCCESS;
}
