// cuSPARSE: from one format to another, entries counted and sorted.
#include <stdlib.h>
#include <string.h>

#include "api/sparse/sparse.h"

// --- indices --------------------------------------------------------------------------------------------------------

typedef enum index_operation { TO_CSR, TO_COO, IDENTITY, SORT } index_operation;

typedef struct index_work {
    sim_blas_call call;
    index_operation operation;
    int m, n, nnz, base;
    const int *in;
    int *out, *permutation;
    void *buffer;
} index_work;

static sim_blas_span integers(const char *name, const int *data, int count)
{
    return sim_sparse_indices(name, data, CUSPARSE_INDEX_32I, count);
}

static bool in_range(const index_work *w, const char *what, int value, int limit, int at)
{
    if (value >= 0 && value <= limit)
        return true;
    sim_library_wrong(w->call, "", "%s %d of entry %d is outside 0 to %d (index base subtracted)", what, value, at,
                      limit);
    return false;
}

static void to_csr(const index_work *w)
{
    memset(w->out, 0, ((size_t)w->m + 1) * sizeof *w->out);
    for (int i = 0; i < w->nnz; i++) {
        int row = w->in[i] - w->base;
        if (!in_range(w, "row", row, w->m - 1, i))
            return;
        w->out[row + 1]++;
    }
    w->out[0] = w->base;
    for (int row = 0; row < w->m; row++)
        w->out[row + 1] += w->out[row];
}

static void to_coo(const index_work *w)
{
    for (int row = 0; row < w->m; row++)
        for (int i = w->in[row] - w->base; i < w->in[row + 1] - w->base; i++) {
            if (!in_range(w, "offset", i, w->nnz - 1, row))
                return;
            w->out[i] = row + w->base;
        }
}

typedef struct sorted_entry {
    int column, from, place; // `from`: where it was, so that equal columns keep their order
} sorted_entry;

static int compare_entries(const void *left, const void *right)
{
    const sorted_entry *a = left, *b = right;
    return a->column != b->column ? (a->column > b->column) - (a->column < b->column) : a->from - b->from;
}

static void sort_row(const index_work *w, int first, int end, sorted_entry *entries)
{
    for (int i = first; i < end; i++)
        entries[i - first] = (sorted_entry){w->out[i], i, w->permutation ? w->permutation[i] : 0};
    if (first < end)
        qsort(entries, (size_t)(end - first), sizeof *entries, compare_entries);
    for (int i = first; i < end; i++) {
        w->out[i] = entries[i - first].column;
        if (w->permutation)
            w->permutation[i] = entries[i - first].place;
    }
}

// Each row's columns in rising order.
static void sort_rows(const index_work *w)
{
    sorted_entry *entries = malloc(((size_t)w->nnz + 1) * sizeof *entries);
    for (int row = 0; entries && row < w->m; row++) {
        int first = w->in[row] - w->base, end = w->in[row + 1] - w->base;
        if (!in_range(w, "offset", first, w->nnz, row) || !in_range(w, "offset", end, w->nnz, row))
            break;
        sort_row(w, first, end, entries);
    }
    free(entries);
}

static void index_run(const void *work)
{
    const index_work *w = work;
    bool sorts = w->operation == SORT;
    int in_count = w->operation == TO_CSR ? w->nnz : w->operation == IDENTITY ? 0 : w->m + 1;
    int out_count = w->operation == TO_CSR ? w->m + 1 : w->operation == IDENTITY ? w->n : w->nnz;
    sim_blas_span in = integers(w->operation == TO_CSR ? "the row indices" : "the offsets", w->in, in_count);
    sim_blas_span out = integers("the result", w->out, out_count);
    sim_blas_span permutation = integers("the permutation", w->permutation, w->permutation ? w->nnz : 0);
    sim_blas_reads(w->call, &in);
    if (sorts)
        sim_blas_reads(w->call, &out);
    sim_blas_reads(w->call, &permutation);
    sim_blas_writes(w->call, &out);
    if (w->buffer)
        sim_sparse_buffer(w->call, w->buffer, ((size_t)w->nnz + 1) * sizeof(int));
    switch (w->operation) {
    case TO_CSR: to_csr(w); break;
    case TO_COO: to_coo(w); break;
    case SORT: sort_rows(w); break;
    case IDENTITY:
        for (int i = 0; i < w->n; i++)
            w->out[i] = i;
    }
    sim_blas_written(&out);
    sim_blas_written(&permutation);
}

static cusparseStatus_t convert(cusparseHandle_t handle, index_work w)
{
    if (w.m < 0 || w.n < 0 || w.nnz < 0)
        return SPARSE_WRONG(w.call, "a size is negative: m = %d, n = %d, nnz = %d", w.m, w.n, w.nnz);
    return sim_sparse_queue(handle, w.call, index_run, &w, sizeof w, false);
}

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int *rows, int nnz, int m, int *offsets,
                                  cusparseIndexBase_t base)
{
    return convert(handle, (index_work){.call = SPARSE_CALL("Xcoo2csr"),
                                        .operation = TO_CSR,
                                        .m = m,
                                        .nnz = nnz,
                                        .base = (int)base,
                                        .in = rows,
                                        .out = offsets});
}

cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int *offsets, int nnz, int m, int *rows,
                                  cusparseIndexBase_t base)
{
    return convert(handle, (index_work){.call = SPARSE_CALL("Xcsr2coo"),
                                        .operation = TO_COO,
                                        .m = m,
                                        .nnz = nnz,
                                        .base = (int)base,
                                        .in = offsets,
                                        .out = rows});
}

cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n, int *p)
{
    return convert(
        handle,
        (index_work){.call = SPARSE_CALL("CreateIdentityPermutation"), .operation = IDENTITY, .n = n, .out = p});
}

cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int m, int n, int nnz, const int *offsets,
                                                const int *columns, size_t *bytes)
{
    (void)m, (void)n, (void)offsets, (void)columns;
    *bytes = ((size_t)nnz + 1) * sizeof(int);
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int m, int n, int nnz, cusparseMatDescr_t matrix,
                                  const int *offsets, int *columns, int *p, void *buffer)
{
    return convert(handle, (index_work){.call = SPARSE_CALL("Xcsrsort"),
                                        .operation = SORT,
                                        .m = m,
                                        .n = n,
                                        .nnz = nnz,
                                        .base = matrix ? (int)matrix->base : 0,
                                        .in = offsets,
                                        .out = columns,
                                        .permutation = p,
                                        .buffer = buffer});
}

// --- CSR to CSC -----------------------------------------------------------------------------------------------------

typedef struct transpose_work {
    sim_blas_call call;
    struct cusparseSpMatDescr a;
    void *values;
    int *offsets, *rows;
    bool numeric;
    void *buffer;
} transpose_work;

static void transpose_run(const void *work)
{
    const transpose_work *w = work;
    int n = (int)w->a.columns, nnz = (int)w->a.nnz, base = (int)w->a.base;
    sim_blas_span spans[] = {
        integers("the offsets of the CSC matrix", w->offsets, n + 1),
        integers("the row indices of the CSC matrix", w->rows, nnz),
        sim_sparse_values("the values of the CSC matrix", w->values, w->a.type, w->numeric ? nnz : 0)};
    sim_sparse_buffer(w->call, w->buffer, ((size_t)n + 1) * sizeof(int));
    sparse_entry *entries = sim_sparse_entries(w->call, "the CSR matrix", &w->a, w->numeric);
    int *next = calloc((size_t)n + 2, sizeof *next);
    for (int i = 0; i < 3; i++)
        sim_blas_writes(w->call, &spans[i]);
    if (entries && next) {
        for (int i = 0; i < nnz; i++)
            next[entries[i].column + 1]++;
        for (int column = 0; column < n; column++)
            next[column + 1] += next[column];
        for (int column = 0; column <= n; column++)
            w->offsets[column] = next[column] + base;
        for (int i = 0; i < nnz; i++) {
            int to = next[entries[i].column]++;
            w->rows[to] = (int)entries[i].row + base;
            if (w->numeric)
                sim_blas_store(w->a.type, w->values, (size_t)to, entries[i].value);
        }
        for (int i = 0; i < 3; i++)
            sim_blas_written(&spans[i]);
    }
    free(entries);
    free(next);
}

cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t handle, int m, int n, int nnz, const void *csr_values,
                                               const int *csr_offsets, const int *csr_columns, void *csc_values,
                                               int *csc_offsets, int *csc_rows, cudaDataType type,
                                               cusparseAction_t action, cusparseIndexBase_t base,
                                               cusparseCsr2CscAlg_t algorithm, size_t *bytes)
{
    (void)m, (void)nnz, (void)csr_values, (void)csr_offsets, (void)csr_columns, (void)csc_values, (void)csc_offsets;
    (void)csc_rows, (void)type, (void)action, (void)base, (void)algorithm;
    *bytes = ((size_t)n + 1) * sizeof(int);
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int m, int n, int nnz, const void *csr_values,
                                    const int *csr_offsets, const int *csr_columns, void *csc_values, int *csc_offsets,
                                    int *csc_rows, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
                                    cusparseCsr2CscAlg_t algorithm, void *buffer)
{
    (void)algorithm;
    transpose_work w = {SPARSE_CALL("Csr2cscEx2"),
                        sim_sparse_csr(m, n, nnz, csr_offsets, csr_columns, csr_values, type, base),
                        csc_values,
                        csc_offsets,
                        csc_rows,
                        action == CUSPARSE_ACTION_NUMERIC,
                        buffer};
    if (m < 0 || n < 0 || nnz < 0)
        return SPARSE_WRONG(w.call, "a size is negative: m = %d, n = %d, nnz = %d", m, n, nnz);
    return sim_blas_size(type) ? sim_sparse_queue(handle, w.call, transpose_run, &w, sizeof w, false)
                               : CUSPARSE_STATUS_NOT_SUPPORTED;
}
// NOLINTEND(readability-non-const-parameter)

// --- sparse and dense -----------------------------------------------------------------------------------------------

typedef struct dense_work {
    sim_blas_call call;
    struct cusparseSpMatDescr sparse;
    struct cusparseDnMatDescr dense;
    int64_t *nnz; // of the analysis: the result
    void *buffer;
} dense_work;

static void spread_run(const void *work)
{
    const dense_work *w = work;
    sim_blas_span to = sim_sparse_dense("B", &w->dense);
    sim_sparse_buffer(w->call, w->buffer, sizeof(int64_t));
    sparse_entry *entries = sim_sparse_entries(w->call, "A", &w->sparse, true);
    sim_blas_writes(w->call, &to);
    if (!entries)
        return;
    for (size_t i = 0; i < to.rows * to.columns; i++)
        sim_blas_store(w->dense.type, w->dense.values, i % to.rows + i / to.rows * to.stride, 0);
    for (size_t i = 0; i < (size_t)w->sparse.nnz; i++)
        sim_blas_store(w->dense.type, w->dense.values, sim_sparse_place(&w->dense, entries[i].row, entries[i].column),
                       entries[i].value);
    free(entries);
    sim_blas_written(&to);
}

static double dense_at(const dense_work *w, int64_t line, int64_t across)
{
    bool by_columns = w->sparse.format == CUSPARSE_FORMAT_CSC;
    size_t row = (size_t)(by_columns ? across : line), column = (size_t)(by_columns ? line : across);
    return sim_blas_load(w->dense.type, w->dense.values, sim_sparse_place(&w->dense, row, column));
}

// Entries that are not 0, line after line. With the indices stored, or the offsets alone, as the analysis does.
static int64_t collect(const dense_work *w, bool all)
{
    const struct cusparseSpMatDescr *s = &w->sparse;
    bool pairs = s->format == CUSPARSE_FORMAT_COO;
    int64_t lines = s->format == CUSPARSE_FORMAT_CSC ? s->columns : s->rows;
    int64_t across = s->format == CUSPARSE_FORMAT_CSC ? s->rows : s->columns, count = 0, base = (int64_t)s->base;
    for (int64_t line = 0; line < lines; line++) {
        if (!pairs)
            sim_sparse_store_index(s->offsets, s->offset_type, (size_t)line, count + base);
        for (int64_t i = 0; i < across; i++) {
            double value = dense_at(w, line, i);
            if (value == 0)
                continue;
            if (all && pairs)
                sim_sparse_store_index(s->offsets, s->offset_type, (size_t)count, line + base);
            if (all) {
                sim_sparse_store_index(s->indices, s->index_type, (size_t)count, i + base);
                sim_blas_store(s->type, s->values, (size_t)count, value);
            }
            count++;
        }
    }
    if (!pairs)
        sim_sparse_store_index(s->offsets, s->offset_type, (size_t)lines, count + base);
    return count;
}

static void collect_run(const void *work)
{
    const dense_work *w = work;
    const struct cusparseSpMatDescr *s = &w->sparse;
    bool all = !w->nnz, pairs = s->format == CUSPARSE_FORMAT_COO;
    int64_t lines = s->format == CUSPARSE_FORMAT_CSC ? s->columns : s->rows, count = all ? s->nnz : 0;
    sim_blas_span from = sim_sparse_dense("A", &w->dense);
    sim_blas_span spans[] = {sim_sparse_indices(pairs ? "the row indices of B" : "the offsets of B", s->offsets,
                                                s->offset_type, pairs ? count : lines + 1),
                             sim_sparse_indices("the indices of B", s->indices, s->index_type, count),
                             sim_sparse_values("the values of B", s->values, s->type, count)};
    sim_sparse_buffer(w->call, w->buffer, sizeof(int64_t));
    sim_blas_reads(w->call, &from);
    for (int i = 0; i < 3; i++)
        sim_blas_writes(w->call, &spans[i]);
    int64_t found = 0;
    for (size_t i = 0; i < from.rows * from.columns; i++)
        found += sim_blas_load(from.type, from.data, i % from.rows + i / from.rows * from.stride) != 0;
    if (all && found != s->nnz) {
        sim_library_wrong(w->call, "", "A has %lld entries that are not 0, and the analysis found %lld",
                          (long long)found, (long long)s->nnz);
        return;
    }
    collect(w, all);
    if (w->nnz)
        *w->nnz = found;
    for (int i = 0; i < 3; i++)
        sim_blas_written(&spans[i]);
}

static cusparseStatus_t between(cusparseHandle_t handle, sim_blas_call call, cusparseConstSpMatDescr_t sparse,
                                cusparseConstDnMatDescr_t dense, void (*run)(const void *work),
                                int64_t *nnz, // NOLINT(readability-non-const-parameter): the work writes it
                                void *buffer)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!sparse || !dense || sparse->rows != dense->rows || sparse->columns != dense->columns)
        return SPARSE_WRONG(call, "the matrices differ in size, or one is NULL");
    dense_work w = {call, *sparse, *dense, nnz, buffer};
    return sim_sparse_queue(handle, call, run, &w, sizeof w, nnz != NULL);
}

static cusparseStatus_t size_for(cusparseHandle_t handle, size_t *bytes)
{
    *bytes = sizeof(int64_t);
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle, cusparseConstSpMatDescr_t a,
                                                  cusparseDnMatDescr_t b, cusparseSparseToDenseAlg_t algorithm,
                                                  size_t *bytes)
{
    (void)a, (void)b, (void)algorithm;
    return size_for(handle, bytes);
}

cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle, cusparseConstSpMatDescr_t a, cusparseDnMatDescr_t b,
                                       cusparseSparseToDenseAlg_t algorithm, void *buffer)
{
    (void)algorithm;
    return between(handle, SPARSE_CALL("SparseToDense"), a, b, spread_run, NULL, buffer);
}

cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                  cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                  size_t *bytes)
{
    (void)a, (void)b, (void)algorithm;
    return size_for(handle, bytes);
}

// The number of entries is known to the host behind this call, so that the program can allocate.
cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                                cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                                void *buffer)
{
    (void)algorithm;
    return between(handle, SPARSE_CALL("DenseToSparse_analysis"), b, a, collect_run, b ? &b->nnz : NULL, buffer);
}

cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle, cusparseConstDnMatDescr_t a,
                                               cusparseSpMatDescr_t b, cusparseDenseToSparseAlg_t algorithm,
                                               void *buffer)
{
    (void)algorithm;
    return between(handle, SPARSE_CALL("DenseToSparse_convert"), b, a, collect_run, NULL, buffer);
}

// --- entries of a dense matrix, counted -----------------------------------------------------------------------------

typedef struct count_work {
    sim_blas_call call;
    cudaDataType type;
    int m, n, lda;
    bool by_rows, total_on_device;
    const void *a;
    int *counts, *total;
} count_work;

static void count_run(const void *work)
{
    const count_work *w = work;
    sim_blas_span a = {"A", w->a, w->type, (size_t)w->m, (size_t)w->n, (size_t)w->lda};
    sim_blas_span counts = integers("nnzPerRowCol", w->counts, w->by_rows ? w->m : w->n);
    sim_blas_span total = integers("nnzTotalDevHostPtr", w->total, w->total_on_device ? 1 : 0);
    sim_blas_reads(w->call, &a);
    sim_blas_writes(w->call, &counts);
    sim_blas_writes(w->call, &total);
    *w->total = 0;
    memset(w->counts, 0, counts.rows * sizeof *w->counts);
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++)
            if (sim_blas_load(w->type, w->a, (size_t)i + (size_t)j * (size_t)w->lda) != 0) {
                w->counts[w->by_rows ? i : j]++;
                ++*w->total;
            }
    sim_blas_written(&counts);
    sim_blas_written(&total);
}

static cusparseStatus_t count(cusparseHandle_t handle, count_work w)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    w.total_on_device = handle->pointer_mode == CUSPARSE_POINTER_MODE_DEVICE;
    if (w.m < 0 || w.n < 0 || w.lda < w.m)
        return SPARSE_WRONG(w.call, "m = %d, n = %d, lda = %d", w.m, w.n, w.lda);
    if (!w.total_on_device)
        sim_blas_used_by_host(w.call, CUDA_R_32I, w.total, true);
    return sim_sparse_queue(handle, w.call, count_run, &w, sizeof w, !w.total_on_device);
}

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
#define COUNT(L, T, TYPE)                                                                                              \
    cusparseStatus_t cusparse##L##nnz(cusparseHandle_t handle, cusparseDirection_t direction, int m, int n,            \
                                      cusparseMatDescr_t matrix, const T *a, int lda, int *per_row_or_column,          \
                                      int *total)                                                                      \
    {                                                                                                                  \
        (void)matrix;                                                                                                  \
        return count(handle, (count_work){SPARSE_CALL(#L "nnz"), TYPE, m, n, lda, direction == CUSPARSE_DIRECTION_ROW, \
                                          false, a, per_row_or_column, total});                                        \
    }
COUNT(S, float, CUDA_R_32F)
COUNT(D, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)
