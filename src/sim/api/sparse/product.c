// cuSPARSE's product of two CSR matrices, in its three steps: how much memory, the product, which the descriptor keeps
// on the host, and the copy into the arrays that the program has allocated meanwhile.
#include <stdlib.h>

#include "api/sparse/sparse.h"

struct cusparseSpGEMMDescr {
    int64_t *offsets, *columns;
    double *values;
};

typedef struct product_work {
    sim_blas_call call;
    sim_blas_scalar alpha, beta;
    struct cusparseSpMatDescr a, b, c;
    struct cusparseSpGEMMDescr *product;
    void *buffer;
    size_t bytes;
} product_work;

static void forget(struct cusparseSpGEMMDescr *product)
{
    free(product->offsets);
    free(product->columns);
    free(product->values);
    *product = (struct cusparseSpGEMMDescr){0};
}

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t *product)
{
    *product = calloc(1, sizeof **product);
    return *product ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t product)
{
    if (product)
        forget(product);
    free(product);
    return CUSPARSE_STATUS_SUCCESS;
}

static size_t bytes_for(const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b)
{
    return ((size_t)a->nnz + (size_t)b->nnz + 1) * sizeof(int64_t);
}

// One row: its columns that are not zero by structure, rising. `sums` and `used` are as long as a row and left clean.
static size_t multiply_row(const sparse_entry *a, size_t a_count, const sparse_entry *b, const size_t *b_first,
                           size_t columns, double *sums, bool *used, int64_t *to_columns, double *to_values)
{
    size_t count = 0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t k = b_first[a[i].column]; k < b_first[a[i].column + 1]; k++) {
            used[b[k].column] = true;
            sums[b[k].column] += a[i].value * b[k].value;
        }
    for (size_t j = 0; j < columns; j++)
        if (used[j]) {
            to_columns[count] = (int64_t)j;
            to_values[count++] = sums[j];
            used[j] = false;
            sums[j] = 0;
        }
    return count;
}

// An upper limit of the result's entries.
static size_t products(const sparse_entry *a, size_t count, const size_t *b_first)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += b_first[a[i].column + 1] - b_first[a[i].column];
    return sum;
}

static void compute(const product_work *w, const sparse_entry *a, const sparse_entry *b)
{
    size_t rows = (size_t)w->a.rows, columns = (size_t)w->b.columns, count = 0;
    size_t *a_first = sim_sparse_rows(a, (size_t)w->a.nnz, rows);
    size_t *b_first = sim_sparse_rows(b, (size_t)w->b.nnz, (size_t)w->b.rows);
    size_t most = b_first ? products(a, (size_t)w->a.nnz, b_first) : 0;
    struct cusparseSpGEMMDescr *p = w->product;
    double *sums = calloc(columns + 1, sizeof *sums);
    bool *used = calloc(columns + 1, sizeof *used);
    forget(p);
    p->offsets = calloc(rows + 1, sizeof *p->offsets);
    p->columns = calloc(most + 1, sizeof *p->columns);
    p->values = calloc(most + 1, sizeof *p->values);
    bool room = a_first && b_first && sums && used && p->offsets && p->columns && p->values;
    for (size_t row = 0; room && row < rows; row++) {
        count += multiply_row(a + a_first[row], a_first[row + 1] - a_first[row], b, b_first, columns, sums, used,
                              p->columns + count, p->values + count);
        p->offsets[row + 1] = (int64_t)count;
    }
    free(a_first);
    free(b_first);
    free(sums);
    free(used);
}

static void compute_run(const void *work)
{
    const product_work *w = work;
    sim_sparse_buffer(w->call, w->buffer, w->bytes);
    sparse_entry *a = sim_sparse_entries(w->call, "A", &w->a, true);
    sparse_entry *b = sim_sparse_entries(w->call, "B", &w->b, true);
    if (a && b)
        compute(w, a, b);
    free(a);
    free(b);
}

static void copy_run(const void *work)
{
    const product_work *w = work;
    const struct cusparseSpMatDescr *c = &w->c;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    double beta = sim_blas_scalar_value(w->call, "beta", &w->beta);
    sim_blas_span spans[] = {sim_sparse_indices("the offsets of C", c->offsets, c->offset_type, c->rows + 1),
                             sim_sparse_indices("the indices of C", c->indices, c->index_type, c->nnz),
                             sim_sparse_values("the values of C", c->values, c->type, c->nnz)};
    for (int i = 0; i < 3; i++)
        sim_blas_writes(w->call, &spans[i]);
    if (beta != 0)
        sim_blas_reads(w->call, &spans[2]);
    for (size_t row = 0; row <= (size_t)c->rows; row++)
        sim_sparse_store_index(c->offsets, c->offset_type, row, w->product->offsets[row] + (int64_t)c->base);
    for (size_t i = 0; i < (size_t)c->nnz; i++) {
        double old = beta != 0 ? beta * sim_blas_load(c->type, c->values, i) : 0;
        sim_sparse_store_index(c->indices, c->index_type, i, w->product->columns[i] + (int64_t)c->base);
        sim_blas_store(c->type, c->values, i, alpha * w->product->values[i] + old);
    }
    for (int i = 0; i < 3; i++)
        sim_blas_written(&spans[i]);
}

static cusparseStatus_t check(sim_blas_call call, cusparseOperation_t op_a, cusparseOperation_t op_b,
                              cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                              cusparseSpGEMMDescr_t product)
{
    if (!a || !b || !c || !product)
        return SPARSE_WRONG(call, "a descriptor is NULL");
    if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE ||
        a->format != CUSPARSE_FORMAT_CSR || b->format != CUSPARSE_FORMAT_CSR || c->format != CUSPARSE_FORMAT_CSR)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    if (a->columns != b->rows || a->rows != c->rows || b->columns != c->columns)
        return SPARSE_WRONG(call, "the sizes of A, B and C do not fit together");
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_workEstimation(cusparseHandle_t handle, cusparseOperation_t op_a,
                                               cusparseOperation_t op_b, const void *alpha, cusparseConstSpMatDescr_t a,
                                               cusparseConstSpMatDescr_t b, const void *beta, cusparseSpMatDescr_t c,
                                               cudaDataType compute_type, cusparseSpGEMMAlg_t algorithm,
                                               cusparseSpGEMMDescr_t product, size_t *bytes, void *buffer)
{
    (void)alpha, (void)beta, (void)compute_type, (void)algorithm, (void)buffer;
    cusparseStatus_t status = check(SPARSE_CALL("SpGEMM_workEstimation"), op_a, op_b, a, b, c, product);
    if (status != CUSPARSE_STATUS_SUCCESS || !handle)
        return handle ? status : CUSPARSE_STATUS_NOT_INITIALIZED;
    *bytes = bytes_for(a, b);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                        const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void *beta, cusparseSpMatDescr_t c, cudaDataType compute_type,
                                        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, size_t *bytes,
                                        void *buffer)
{
    (void)alpha, (void)beta, (void)compute_type, (void)algorithm;
    sim_blas_call call = SPARSE_CALL("SpGEMM_compute");
    cusparseStatus_t status = check(call, op_a, op_b, a, b, c, product);
    if (status != CUSPARSE_STATUS_SUCCESS || !handle)
        return handle ? status : CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!buffer) {
        *bytes = bytes_for(a, b);
        return CUSPARSE_STATUS_SUCCESS;
    }
    product_work w = {.call = call, .a = *a, .b = *b, .product = product, .buffer = buffer, .bytes = bytes_for(a, b)};
    status = sim_sparse_queue(handle, call, compute_run, &w, sizeof w, true);
    if (status == CUSPARSE_STATUS_SUCCESS && product->offsets)
        c->nnz = product->offsets[a->rows]; // which the program asks for next
    return status;
}

cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                     const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void *beta, cusparseSpMatDescr_t c, cudaDataType compute_type,
                                     cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product)
{
    (void)algorithm;
    sim_blas_call call = SPARSE_CALL("SpGEMM_copy");
    cusparseStatus_t status = check(call, op_a, op_b, a, b, c, product);
    if (status != CUSPARSE_STATUS_SUCCESS || !handle)
        return handle ? status : CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!product->offsets)
        return SPARSE_WRONG(call, "cusparseSpGEMM_compute has not run with this descriptor");
    product_work w = {.call = call,
                      .alpha = sim_sparse_scalar(handle, call, compute_type, alpha),
                      .beta = sim_sparse_scalar(handle, call, compute_type, beta),
                      .c = *c,
                      .product = product};
    return sim_sparse_queue(handle, call, copy_run, &w, sizeof w, true);
}
