// Sparse and dense matrices as memory: what work of cuSPARSE reads, checked, as entries.
#include <stdio.h>
#include <stdlib.h>

#include "api/sparse/sparse.h"

cusparseStatus_t sim_sparse_queue(cusparseHandle_t handle, sim_blas_call call, void (*run)(const void *work),
                                  const void *work, size_t bytes, bool wait)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    return sim_library_queue(handle->stream, call, run, work, bytes, wait) ? CUSPARSE_STATUS_SUCCESS
                                                                           : CUSPARSE_STATUS_EXECUTION_FAILED;
}

sim_blas_scalar sim_sparse_scalar(cusparseHandle_t handle, sim_blas_call call, cudaDataType type, const void *pointer)
{
    return sim_blas_scalar_of(call, handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE, type, pointer);
}

int64_t sim_sparse_index(const void *indices, cusparseIndexType_t type, size_t at)
{
    return type == CUSPARSE_INDEX_64I ? ((const int64_t *)indices)[at] : ((const int32_t *)indices)[at];
}

void sim_sparse_store_index(void *indices, cusparseIndexType_t type, size_t at, int64_t value)
{
    if (type == CUSPARSE_INDEX_64I)
        ((int64_t *)indices)[at] = value;
    else
        ((int32_t *)indices)[at] = (int32_t)value;
}

// 64-bit integers are looked at as bytes only, so any type of that size will do.
sim_blas_span sim_sparse_indices(const char *name, const void *data, cusparseIndexType_t type, int64_t count)
{
    return sim_sparse_values(name, data, type == CUSPARSE_INDEX_64I ? CUDA_R_64F : CUDA_R_32I, count);
}

sim_blas_span sim_sparse_values(const char *name, const void *data, cudaDataType type, int64_t count)
{
    return (sim_blas_span){name, data, type, (size_t)count, 1, (size_t)count};
}

sim_blas_span sim_sparse_dense(const char *name, const struct cusparseDnMatDescr *matrix)
{
    bool by_rows = matrix->order == CUSPARSE_ORDER_ROW;
    return (sim_blas_span){name,
                           matrix->values,
                           matrix->type,
                           (size_t)(by_rows ? matrix->columns : matrix->rows),
                           (size_t)(by_rows ? matrix->rows : matrix->columns),
                           (size_t)matrix->ld};
}

void sim_sparse_buffer(sim_blas_call call, const void *buffer, size_t bytes)
{
    sim_blas_span span = sim_sparse_values("the buffer", buffer, CUDA_R_8U, (int64_t)bytes);
    sim_blas_writes(call, &span);
    sim_blas_used(&span, true);
}

size_t sim_sparse_place(const struct cusparseDnMatDescr *matrix, size_t row, size_t column)
{
    size_t ld = (size_t)matrix->ld;
    return matrix->order == CUSPARSE_ORDER_ROW ? row * ld + column : row + column * ld;
}

struct cusparseDnMatDescr sim_sparse_dense_batch(const struct cusparseDnMatDescr *matrix, int batch)
{
    struct cusparseDnMatDescr one = *matrix;
    if (matrix->batches > 0)
        one.values = (char *)matrix->values + (int64_t)batch * matrix->stride * (int64_t)sim_blas_size(matrix->type);
    return one;
}

static int64_t index_bytes(cusparseIndexType_t type)
{
    return type == CUSPARSE_INDEX_64I ? 8 : 4;
}

struct cusparseSpMatDescr sim_sparse_batch(const struct cusparseSpMatDescr *matrix, int batch)
{
    struct cusparseSpMatDescr one = *matrix;
    int64_t values = batch * matrix->values_stride;
    if (matrix->batches > 0) {
        one.offsets = (char *)matrix->offsets + batch * matrix->offsets_stride * index_bytes(matrix->offset_type);
        one.indices = (char *)matrix->indices + values * index_bytes(matrix->index_type);
        one.values = (char *)matrix->values + values * (int64_t)sim_blas_size(matrix->type);
    }
    return one;
}

static bool is_index(sim_blas_call call, const char *name, const char *what, int64_t index, int64_t limit, size_t at)
{
    if (index >= 0 && index < limit)
        return true;
    sim_library_wrong(call, "", "%s %lld of entry %zu of %s is outside its %lld %ss (index base subtracted)", what,
                      (long long)index, at, name, (long long)limit, what);
    return false;
}

// Entries of CSR and CSC: lines are rows or columns.
static bool load_lines(sim_blas_call call, const char *name, const struct cusparseSpMatDescr *m, sparse_entry *entries)
{
    bool by_columns = m->format == CUSPARSE_FORMAT_CSC;
    int64_t lines = by_columns ? m->columns : m->rows, across = by_columns ? m->rows : m->columns;
    for (int64_t line = 0; line < lines; line++) {
        int64_t first = sim_sparse_index(m->offsets, m->offset_type, (size_t)line) - (int64_t)m->base;
        int64_t end = sim_sparse_index(m->offsets, m->offset_type, (size_t)line + 1) - (int64_t)m->base;
        if (first < 0 || end < first || end > m->nnz || (line == 0 && first != 0) ||
            (line + 1 == lines && end != m->nnz)) {
            sim_library_wrong(call, "", "the offsets of %s are wrong: row %lld has entries %lld to %lld of %lld", name,
                              (long long)line, (long long)first, (long long)end, (long long)m->nnz);
            return false;
        }
        for (int64_t at = first; at < end; at++) {
            int64_t index = sim_sparse_index(m->indices, m->index_type, (size_t)at) - (int64_t)m->base;
            if (!is_index(call, name, by_columns ? "row" : "column", index, across, (size_t)at))
                return false;
            entries[at].row = (size_t)(by_columns ? index : line);
            entries[at].column = (size_t)(by_columns ? line : index);
        }
    }
    return true;
}

static bool load_pairs(sim_blas_call call, const char *name, const struct cusparseSpMatDescr *m, sparse_entry *entries)
{
    for (size_t at = 0; at < (size_t)m->nnz; at++) {
        int64_t row = sim_sparse_index(m->offsets, m->index_type, at) - (int64_t)m->base;
        int64_t column = sim_sparse_index(m->indices, m->index_type, at) - (int64_t)m->base;
        if (!is_index(call, name, "row", row, m->rows, at) || !is_index(call, name, "column", column, m->columns, at))
            return false;
        entries[at].row = (size_t)row;
        entries[at].column = (size_t)column;
    }
    return true;
}

sparse_entry *sim_sparse_entries(sim_blas_call call, const char *name, const struct cusparseSpMatDescr *matrix,
                                 bool values)
{
    bool pairs = matrix->format == CUSPARSE_FORMAT_COO;
    int64_t lines = matrix->format == CUSPARSE_FORMAT_CSC ? matrix->columns : matrix->rows;
    char offsets_name[64], indices_name[64], values_name[64];
    snprintf(offsets_name, sizeof offsets_name, "%s of %s", pairs ? "the row indices" : "the offsets", name);
    snprintf(indices_name, sizeof indices_name, "the indices of %s", name);
    snprintf(values_name, sizeof values_name, "the values of %s", name);
    sim_blas_span spans[] = {
        sim_sparse_indices(offsets_name, matrix->offsets, matrix->offset_type, pairs ? matrix->nnz : lines + 1),
        sim_sparse_indices(indices_name, matrix->indices, matrix->index_type, matrix->nnz),
        sim_sparse_values(values_name, matrix->values, matrix->type, values ? matrix->nnz : 0)};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++)
        sim_blas_reads(call, &spans[i]);
    sparse_entry *entries = calloc((size_t)matrix->nnz + 1, sizeof *entries);
    if (!entries || !(pairs ? load_pairs : load_lines)(call, name, matrix, entries)) {
        free(entries);
        return NULL;
    }
    for (size_t at = 0; at < (size_t)matrix->nnz; at++) {
        entries[at].at = at;
        entries[at].value = values ? sim_blas_load(matrix->type, matrix->values, at) : 0;
    }
    return entries;
}

size_t *sim_sparse_rows(const sparse_entry *entries, size_t count, size_t rows)
{
    size_t *first = calloc(rows + 2, sizeof *first);
    for (size_t i = 0; first && i < count; i++)
        first[entries[i].row + 1]++;
    for (size_t row = 0; first && row < rows; row++)
        first[row + 1] += first[row];
    return first;
}

struct cusparseSpMatDescr sim_sparse_csr(int rows, int columns, int nnz, const int *offsets, const int *indices,
                                         const void *values, cudaDataType type, cusparseIndexBase_t base)
{
    return (struct cusparseSpMatDescr){.format = CUSPARSE_FORMAT_CSR,
                                       .rows = rows,
                                       .columns = columns,
                                       .nnz = nnz,
                                       .offsets = (void *)(uintptr_t)offsets,
                                       .indices = (void *)(uintptr_t)indices,
                                       .values = (void *)(uintptr_t)values,
                                       .offset_type = CUSPARSE_INDEX_32I,
                                       .index_type = CUSPARSE_INDEX_32I,
                                       .base = base,
                                       .type = type};
}
