// Inside cuSPARSE: descriptors, and how a sparse matrix in any format becomes a list of entries once it was checked.
#pragma once

#include "api/blas/blas.h"
#include "cusparse.h"

struct cusparseContext {
    cudaStream_t stream;
    cusparsePointerMode_t pointer_mode;
};

struct cusparseMatDescr {
    cusparseMatrixType_t type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    cusparseIndexBase_t base;
};

struct cusparseSpVecDescr {
    int64_t size, nnz;
    void *indices, *values;
    cusparseIndexType_t index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};

// Columns of `ld` elements, or rows where the order says so. A vector is a matrix of one column.
struct cusparseDnMatDescr {
    int64_t rows, columns, ld;
    void *values;
    cudaDataType type;
    cusparseOrder_t order;
    int batches; // 0: not batched
    int64_t stride;
};

struct cusparseDnVecDescr {
    struct cusparseDnMatDescr matrix;
};

struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, nnz;
    void *offsets; // of COO: the rows
    void *indices, *values;
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill;
    cusparseDiagType_t diagonal;
    int batches; // 0: not batched
    int64_t offsets_stride, values_stride;
};

typedef struct sparse_entry {
    size_t row, column, at; // at: of its value in memory
    double value;
} sparse_entry;

#define SPARSE_CALL(name) SIM_BLAS_CALL("cusparse" name)
// A wrong argument: a finding, and the status for it.
#define SPARSE_WRONG(call, ...)                                                                                        \
    (sim_library_wrong(call, "CUSPARSE_STATUS_INVALID_VALUE", __VA_ARGS__), CUSPARSE_STATUS_INVALID_VALUE)

// matrix.c
cusparseStatus_t sim_sparse_queue(cusparseHandle_t handle, sim_blas_call call, void (*run)(const void *work),
                                  const void *work, size_t bytes, bool wait);
sim_blas_scalar sim_sparse_scalar(cusparseHandle_t handle, sim_blas_call call, cudaDataType type, const void *pointer);
int64_t sim_sparse_index(const void *indices, cusparseIndexType_t type, size_t at);
void sim_sparse_store_index(void *indices, cusparseIndexType_t type, size_t at, int64_t value);
sim_blas_span sim_sparse_indices(const char *name, const void *data, cusparseIndexType_t type, int64_t count);
sim_blas_span sim_sparse_values(const char *name, const void *data, cudaDataType type, int64_t count);
sim_blas_span sim_sparse_dense(const char *name, const struct cusparseDnMatDescr *matrix);
void sim_sparse_buffer(sim_blas_call call, const void *buffer, size_t bytes); // the caller's, which the work may use
size_t sim_sparse_place(const struct cusparseDnMatDescr *matrix, size_t row, size_t column);
struct cusparseDnMatDescr sim_sparse_dense_batch(const struct cusparseDnMatDescr *matrix, int batch);
struct cusparseSpMatDescr sim_sparse_batch(const struct cusparseSpMatDescr *matrix, int batch);
// While work runs: the entries in the order of memory, to be freed, or NULL after a finding. `values`: are read, too.
sparse_entry *sim_sparse_entries(sim_blas_call call, const char *name, const struct cusparseSpMatDescr *matrix,
                                 bool values);
// Where each row begins, and the last one ends, in entries that are ordered by rows. To be freed.
size_t *sim_sparse_rows(const sparse_entry *entries, size_t count, size_t rows);
struct cusparseSpMatDescr sim_sparse_csr(int rows, int columns, int nnz, const int *offsets, const int *indices,
                                         const void *values, cudaDataType type, cusparseIndexBase_t base);
