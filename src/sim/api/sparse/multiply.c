// cuSPARSE: a sparse matrix times a dense one (a vector is one of one column), dense times dense where a sparse matrix
// has entries, and sparse vectors. Sums are made in double.
#include <stdlib.h>

#include "api/sparse/sparse.h"

typedef struct multiply_work {
    sim_blas_call call;
    bool transpose_a, transpose_b;
    sim_blas_scalar alpha, beta;
    struct cusparseSpMatDescr sparse;
    struct cusparseDnMatDescr b, c; // of SDDMM: A and B
    void *buffer;
} multiply_work;

static bool is_transposed(cusparseOperation_t op)
{
    return op != CUSPARSE_OPERATION_NON_TRANSPOSE;
}

static double dense_at(const struct cusparseDnMatDescr *m, bool transposed, size_t row, size_t column)
{
    size_t at = transposed ? sim_sparse_place(m, column, row) : sim_sparse_place(m, row, column);
    return sim_blas_load(m->type, m->values, at);
}

static size_t buffer_bytes(const struct cusparseSpMatDescr *sparse)
{
    return ((size_t)sparse->rows + 1) * sizeof(int64_t);
}

static int batches_of(const multiply_work *w)
{
    int most = w->sparse.batches > w->b.batches ? w->sparse.batches : w->b.batches;
    most = w->c.batches > most ? w->c.batches : most;
    return most > 0 ? most : 1;
}

// --- C = alpha op(A) op(B) + beta C ---------------------------------------------------------------------------------

static void multiply_one(const multiply_work *w, const sparse_entry *entries, size_t count,
                         const struct cusparseDnMatDescr *b, const struct cusparseDnMatDescr *c, double alpha,
                         double beta)
{
    size_t rows = (size_t)c->rows, columns = (size_t)c->columns;
    double *sums = calloc(rows * columns + 1, sizeof *sums);
    for (size_t i = 0; sums && i < count; i++) {
        size_t row = w->transpose_a ? entries[i].column : entries[i].row;
        size_t inner = w->transpose_a ? entries[i].row : entries[i].column;
        for (size_t j = 0; j < columns; j++)
            sums[row * columns + j] += entries[i].value * dense_at(b, w->transpose_b, inner, j);
    }
    for (size_t i = 0; sums && i < rows * columns; i++) {
        size_t at = sim_sparse_place(c, i / columns, i % columns);
        double old = beta != 0 ? beta * sim_blas_load(c->type, c->values, at) : 0;
        sim_blas_store(c->type, c->values, at, alpha * sums[i] + old);
    }
    free(sums);
}

static void multiply_run(const void *work)
{
    const multiply_work *w = work;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    double beta = sim_blas_scalar_value(w->call, "beta", &w->beta);
    bool vectors = w->b.columns == 1 && w->c.columns == 1;
    sim_sparse_buffer(w->call, w->buffer, buffer_bytes(&w->sparse));
    for (int batch = 0; batch < batches_of(w); batch++) {
        struct cusparseSpMatDescr a = sim_sparse_batch(&w->sparse, batch);
        struct cusparseDnMatDescr b = sim_sparse_dense_batch(&w->b, batch), c = sim_sparse_dense_batch(&w->c, batch);
        sim_blas_span from = sim_sparse_dense(vectors ? "x" : "B", &b), to = sim_sparse_dense(vectors ? "y" : "C", &c);
        sparse_entry *entries = sim_sparse_entries(w->call, "A", &a, true);
        sim_blas_reads(w->call, &from);
        if (beta != 0)
            sim_blas_reads(w->call, &to);
        sim_blas_writes(w->call, &to);
        if (!entries)
            return;
        multiply_one(w, entries, (size_t)a.nnz, &b, &c, alpha, beta);
        free(entries);
        sim_blas_written(&to);
    }
}

static cusparseStatus_t multiply(cusparseHandle_t handle, sim_blas_call call, cusparseOperation_t op_a,
                                 cusparseOperation_t op_b, const void *alpha, cusparseConstSpMatDescr_t a,
                                 const struct cusparseDnMatDescr *b, const void *beta,
                                 const struct cusparseDnMatDescr *c, cudaDataType compute, void *buffer)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c || !alpha || !beta)
        return SPARSE_WRONG(call, "a descriptor, alpha or beta is NULL");
    bool ta = is_transposed(op_a), tb = is_transposed(op_b);
    int64_t rows = ta ? a->columns : a->rows, inner = ta ? a->rows : a->columns;
    int64_t b_rows = tb ? b->columns : b->rows, columns = tb ? b->rows : b->columns;
    if (inner != b_rows || rows != c->rows || columns != c->columns)
        return SPARSE_WRONG(call, "op(A) is %lld by %lld, op(B) %lld by %lld, the result %lld by %lld", (long long)rows,
                            (long long)inner, (long long)b_rows, (long long)columns, (long long)c->rows,
                            (long long)c->columns);
    multiply_work w = {.call = call,
                       .transpose_a = ta,
                       .transpose_b = tb,
                       .alpha = sim_sparse_scalar(handle, call, compute, alpha),
                       .beta = sim_sparse_scalar(handle, call, compute, beta),
                       .sparse = *a,
                       .b = *b,
                       .c = *c,
                       .buffer = buffer};
    return sim_sparse_queue(handle, call, multiply_run, &w, sizeof w, false);
}

static cusparseStatus_t size_for(cusparseHandle_t handle, cusparseConstSpMatDescr_t sparse, size_t *bytes)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!sparse || !bytes)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = buffer_bytes(sparse);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         size_t *bytes)
{
    (void)op, (void)alpha, (void)x, (void)beta, (void)y, (void)compute, (void)algorithm;
    return size_for(handle, a, bytes);
}

cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm,
                                         void *buffer)
{
    (void)op, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)compute, (void)algorithm, (void)buffer;
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, const void *beta,
                              cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpMVAlg_t algorithm, void *buffer)
{
    (void)algorithm;
    return multiply(handle, SPARSE_CALL("SpMV"), op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, a, x ? &x->matrix : NULL,
                    beta, y ? &y->matrix : NULL, compute, buffer);
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, size_t *bytes)
{
    (void)op_a, (void)op_b, (void)alpha, (void)b, (void)beta, (void)c, (void)compute, (void)algorithm;
    return size_for(handle, a, bytes);
}

cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpMMAlg_t algorithm, void *buffer)
{
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)compute, (void)algorithm;
    (void)buffer;
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void *beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t algorithm, void *buffer)
{
    (void)algorithm;
    return multiply(handle, SPARSE_CALL("SpMM"), op_a, op_b, alpha, a, b, beta, c, compute, buffer);
}

// --- where C has entries: C = alpha op(A) op(B) + beta C ------------------------------------------------------------

static void sampled_run(const void *work)
{
    const multiply_work *w = work;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    double beta = sim_blas_scalar_value(w->call, "beta", &w->beta);
    size_t inner = (size_t)(w->transpose_a ? w->b.rows : w->b.columns);
    sim_sparse_buffer(w->call, w->buffer, buffer_bytes(&w->sparse));
    for (int batch = 0; batch < batches_of(w); batch++) {
        struct cusparseSpMatDescr c = sim_sparse_batch(&w->sparse, batch);
        struct cusparseDnMatDescr a = sim_sparse_dense_batch(&w->b, batch), b = sim_sparse_dense_batch(&w->c, batch);
        sim_blas_span spans[] = {sim_sparse_dense("A", &a), sim_sparse_dense("B", &b)};
        sim_blas_span values = sim_sparse_values("the values of C", c.values, c.type, c.nnz);
        sparse_entry *entries = sim_sparse_entries(w->call, "C", &c, beta != 0);
        sim_blas_reads(w->call, &spans[0]);
        sim_blas_reads(w->call, &spans[1]);
        sim_blas_writes(w->call, &values);
        if (!entries)
            return;
        for (size_t i = 0; i < (size_t)c.nnz; i++) {
            double sum = 0;
            for (size_t k = 0; k < inner; k++)
                sum += dense_at(&a, w->transpose_a, entries[i].row, k) *
                       dense_at(&b, w->transpose_b, k, entries[i].column);
            sim_blas_store(c.type, c.values, entries[i].at, alpha * sum + beta * entries[i].value);
        }
        free(entries);
        sim_blas_written(&values);
    }
}

cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void *alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t algorithm, size_t *bytes)
{
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta, (void)compute, (void)algorithm;
    return size_for(handle, c, bytes);
}

cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                          const void *alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                                          const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                          cusparseSDDMMAlg_t algorithm, void *buffer)
{
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)compute, (void)algorithm;
    (void)buffer;
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                               const void *alpha, cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b,
                               const void *beta, cusparseSpMatDescr_t c, cudaDataType compute,
                               cusparseSDDMMAlg_t algorithm, void *buffer)
{
    (void)algorithm;
    sim_blas_call call = SPARSE_CALL("SDDMM");
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c || !alpha || !beta)
        return SPARSE_WRONG(call, "a descriptor, alpha or beta is NULL");
    bool ta = is_transposed(op_a), tb = is_transposed(op_b);
    if ((ta ? a->rows : a->columns) != (tb ? b->columns : b->rows) || (ta ? a->columns : a->rows) != c->rows ||
        (tb ? b->rows : b->columns) != c->columns)
        return SPARSE_WRONG(call, "the sizes of A, B and C do not fit together");
    multiply_work w = {.call = call,
                       .transpose_a = ta,
                       .transpose_b = tb,
                       .alpha = sim_sparse_scalar(handle, call, compute, alpha),
                       .beta = sim_sparse_scalar(handle, call, compute, beta),
                       .sparse = *c,
                       .b = *a,
                       .c = *b,
                       .buffer = buffer};
    return sim_sparse_queue(handle, call, sampled_run, &w, sizeof w, false);
}

// --- sparse vectors -------------------------------------------------------------------------------------------------

typedef enum vector_operation { AXPBY, GATHER, SCATTER } vector_operation;

typedef struct vector_work {
    sim_blas_call call;
    vector_operation operation;
    sim_blas_scalar alpha, beta;
    struct cusparseSpVecDescr x;
    struct cusparseDnMatDescr y;
} vector_work;

static void vector_run(const void *work)
{
    const vector_work *w = work;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    double beta = sim_blas_scalar_value(w->call, "beta", &w->beta);
    sim_blas_span y = sim_sparse_dense("y", &w->y);
    sim_blas_span values = sim_sparse_values("the values of x", w->x.values, w->x.type, w->x.nnz);
    sim_blas_span indices = sim_sparse_indices("the indices of x", w->x.indices, w->x.index_type, w->x.nnz);
    sim_blas_reads(w->call, &indices);
    if (w->operation != GATHER)
        sim_blas_reads(w->call, &values);
    if (w->operation != SCATTER)
        sim_blas_reads(w->call, &y);
    sim_blas_writes(w->call, w->operation == GATHER ? &values : &y);
    for (int64_t i = 0; w->operation == AXPBY && i < w->y.rows; i++)
        sim_blas_store(w->y.type, w->y.values, (size_t)i, beta * sim_blas_load(w->y.type, w->y.values, (size_t)i));
    for (size_t i = 0; i < (size_t)w->x.nnz; i++) {
        int64_t index = sim_sparse_index(w->x.indices, w->x.index_type, i) - (int64_t)w->x.base;
        if (index < 0 || index >= w->y.rows) {
            sim_library_wrong(w->call, "", "index %lld of entry %zu of x is outside the %lld elements of y",
                              (long long)index, i, (long long)w->y.rows);
            return;
        }
        size_t at = (size_t)index;
        if (w->operation == GATHER) {
            sim_blas_store(w->x.type, w->x.values, i, sim_blas_load(w->y.type, w->y.values, at));
        } else {
            double old = w->operation == AXPBY ? sim_blas_load(w->y.type, w->y.values, at) : 0;
            sim_blas_store(w->y.type, w->y.values, at, old + alpha * sim_blas_load(w->x.type, w->x.values, i));
            sim_blas_span element = {"y", (char *)w->y.values + at * sim_blas_size(w->y.type), w->y.type, 1, 1, 1};
            if (w->operation == SCATTER)
                sim_blas_written(&element);
        }
    }
    if (w->operation != SCATTER)
        sim_blas_written(w->operation == GATHER ? &values : &y);
}

static cusparseStatus_t vectors(cusparseHandle_t handle, sim_blas_call call, vector_operation operation,
                                const void *alpha, cusparseConstSpVecDescr_t x, const void *beta,
                                cusparseConstDnVecDescr_t y)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!x || !y || x->size != y->matrix.rows)
        return SPARSE_WRONG(call, "x and y differ in size, or one is NULL");
    vector_work w = {.call = call,
                     .operation = operation,
                     .alpha = {.type = x->type, .value = 1},
                     .beta = {.type = x->type, .value = 1},
                     .x = *x,
                     .y = y->matrix};
    if (operation == AXPBY) {
        w.alpha = sim_sparse_scalar(handle, call, x->type, alpha);
        w.beta = sim_sparse_scalar(handle, call, x->type, beta);
    }
    return sim_sparse_queue(handle, call, vector_run, &w, sizeof w, false);
}

cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void *alpha, cusparseConstSpVecDescr_t x,
                               const void *beta, cusparseDnVecDescr_t y)
{
    return vectors(handle, SPARSE_CALL("Axpby"), AXPBY, alpha, x, beta, y);
}

cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y, cusparseSpVecDescr_t x)
{
    return vectors(handle, SPARSE_CALL("Gather"), GATHER, NULL, x, NULL, y);
}

cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x, cusparseDnVecDescr_t y)
{
    return vectors(handle, SPARSE_CALL("Scatter"), SCATTER, NULL, x, NULL, y);
}
