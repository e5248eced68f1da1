// cuSPARSE: triangular systems, incomplete LU without fill-in, tridiagonal systems. Sums are made in double.
#include <math.h>
#include <stdlib.h>

#include "api/sparse/sparse.h"
#include "sim/runtime_api.h"

// What the analysis was given: the solution uses the same buffer.
struct cusparseSpSVDescr {
    void *buffer;
    bool analysed;
};

struct cusparseSpSMDescr {
    struct cusparseSpSVDescr plan;
};

struct csrilu02Info {
    int zero_pivot; // -1: none
};

static size_t buffer_bytes(int64_t rows)
{
    return ((size_t)rows + 1) * sizeof(double);
}

static cusparseStatus_t size_for(cusparseHandle_t handle, int64_t rows, size_t *bytes)
{
    *bytes = buffer_bytes(rows);
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

// --- op(A) C = alpha op(B), A a triangle ----------------------------------------------------------------------------

typedef struct triangle_work {
    sim_blas_call call;
    bool transpose_a, transpose_b;
    sim_blas_scalar alpha;
    struct cusparseSpMatDescr a;
    struct cusparseDnMatDescr b, c;
    void *buffer;
} triangle_work;

static int by_row(const void *one, const void *other)
{
    size_t a = ((const sparse_entry *)one)->row, b = ((const sparse_entry *)other)->row;
    return (a > b) - (a < b);
}

// The entries of op(A), ordered by rows.
static sparse_entry *entries_of(const triangle_work *w)
{
    sparse_entry *entries = sim_sparse_entries(w->call, "A", &w->a, true);
    for (size_t i = 0; entries && w->transpose_a && i < (size_t)w->a.nnz; i++) {
        size_t row = entries[i].row;
        entries[i].row = entries[i].column;
        entries[i].column = row;
    }
    if (entries && (w->transpose_a || w->a.format != CUSPARSE_FORMAT_CSR))
        qsort(entries, (size_t)w->a.nnz, sizeof *entries, by_row);
    return entries;
}

// One column, x in place. Entries of the other triangle are ignored.
static void solve_column(const triangle_work *w, const sparse_entry *entries, const size_t *first, double *x)
{
    size_t n = (size_t)w->a.rows;
    bool upper = (w->a.fill == CUSPARSE_FILL_MODE_UPPER) != w->transpose_a;
    bool unit = w->a.diagonal == CUSPARSE_DIAG_TYPE_UNIT;
    for (size_t step = 0; step < n; step++) {
        size_t row = upper ? n - 1 - step : step;
        double diagonal = unit ? 1 : 0;
        for (size_t k = first[row]; k < first[row + 1]; k++) {
            size_t column = entries[k].column;
            if (column == row && !unit)
                diagonal += entries[k].value;
            else if (upper ? column > row : column < row)
                x[row] -= entries[k].value * x[column];
        }
        x[row] /= diagonal;
    }
}

static void triangle_run(const void *work)
{
    const triangle_work *w = work;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    size_t n = (size_t)w->a.rows;
    sim_blas_span from = sim_sparse_dense(w->b.columns == 1 ? "x" : "B", &w->b);
    sim_blas_span to = sim_sparse_dense(w->c.columns == 1 ? "y" : "C", &w->c);
    sim_sparse_buffer(w->call, w->buffer, buffer_bytes(w->a.rows));
    sim_blas_reads(w->call, &from);
    sim_blas_writes(w->call, &to);
    sparse_entry *entries = entries_of(w);
    size_t *first = entries ? sim_sparse_rows(entries, (size_t)w->a.nnz, n) : NULL;
    double *x = calloc(n + 1, sizeof *x);
    for (size_t j = 0; first && x && j < (size_t)w->c.columns; j++) {
        for (size_t i = 0; i < n; i++)
            x[i] =
                alpha * sim_blas_load(w->b.type, w->b.values,
                                      w->transpose_b ? sim_sparse_place(&w->b, j, i) : sim_sparse_place(&w->b, i, j));
        solve_column(w, entries, first, x);
        for (size_t i = 0; i < n; i++)
            sim_blas_store(w->c.type, w->c.values, sim_sparse_place(&w->c, i, j), x[i]);
    }
    if (first && x)
        sim_blas_written(&to);
    free(entries);
    free(first);
    free(x);
}

static cusparseStatus_t solve(cusparseHandle_t handle, sim_blas_call call, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void *alpha, cusparseConstSpMatDescr_t a,
                              const struct cusparseDnMatDescr *b, const struct cusparseDnMatDescr *c,
                              cudaDataType compute, const struct cusparseSpSVDescr *plan)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!a || !b || !c || !alpha || !plan)
        return SPARSE_WRONG(call, "a descriptor or alpha is NULL");
    if (!plan->analysed)
        return SPARSE_WRONG(call, "the analysis has not been called with this descriptor");
    bool tb = op_b != CUSPARSE_OPERATION_NON_TRANSPOSE;
    if (a->rows != a->columns || (tb ? b->columns : b->rows) != a->rows || c->rows != a->rows ||
        (tb ? b->rows : b->columns) != c->columns)
        return SPARSE_WRONG(call, "A is not square, or the sizes of A, the right-hand side and the result differ");
    triangle_work w = {.call = call,
                       .transpose_a = op_a != CUSPARSE_OPERATION_NON_TRANSPOSE,
                       .transpose_b = tb,
                       .alpha = sim_sparse_scalar(handle, call, compute, alpha),
                       .a = *a,
                       .b = *b,
                       .c = *c,
                       .buffer = plan->buffer};
    return sim_sparse_queue(handle, call, triangle_run, &w, sizeof w, false);
}

static cusparseStatus_t analyse(cusparseHandle_t handle, struct cusparseSpSVDescr *plan, void *buffer)
{
    if (!handle || !plan)
        return handle ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_NOT_INITIALIZED;
    *plan = (struct cusparseSpSVDescr){buffer, true};
    return CUSPARSE_STATUS_SUCCESS;
}

#define PLANS(Name)                                                                                                    \
    cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t *plan)                                       \
    {                                                                                                                  \
        *plan = calloc(1, sizeof **plan);                                                                              \
        return *plan ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;                                         \
    }                                                                                                                  \
    cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t plan)                                       \
    {                                                                                                                  \
        free(plan);                                                                                                    \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
PLANS(SpSV)
PLANS(SpSM)

cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                         cusparseDnVecDescr_t y, cudaDataType compute, cusparseSpSVAlg_t algorithm,
                                         cusparseSpSVDescr_t plan, size_t *bytes)
{
    (void)op, (void)alpha, (void)x, (void)y, (void)compute, (void)algorithm, (void)plan;
    return size_for(handle, a->rows, bytes);
}

cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t plan,
                                       void *buffer)
{
    (void)op, (void)alpha, (void)a, (void)x, (void)y, (void)compute, (void)algorithm;
    return analyse(handle, plan, buffer);
}

cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op, const void *alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t plan)
{
    (void)algorithm;
    return solve(handle, SPARSE_CALL("SpSV_solve"), op, CUSPARSE_OPERATION_NON_TRANSPOSE, alpha, a,
                 x ? &x->matrix : NULL, y ? &y->matrix : NULL, compute, plan);
}

cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                         const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                         cusparseSpSMDescr_t plan, size_t *bytes)
{
    (void)op_a, (void)op_b, (void)alpha, (void)b, (void)c, (void)compute, (void)algorithm, (void)plan;
    return size_for(handle, a->rows, bytes);
}

cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                       const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                       cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                       cusparseSpSMDescr_t plan, void *buffer)
{
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)c, (void)compute, (void)algorithm;
    return analyse(handle, plan ? &plan->plan : NULL, buffer);
}

cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
                                    const void *alpha, cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute, cusparseSpSMAlg_t algorithm,
                                    cusparseSpSMDescr_t plan)
{
    (void)algorithm;
    return solve(handle, SPARSE_CALL("SpSM_solve"), op_a, op_b, alpha, a, b, c, compute, plan ? &plan->plan : NULL);
}

// --- incomplete LU --------------------------------------------------------------------------------------------------

typedef struct ilu_work {
    sim_blas_call call;
    struct cusparseSpMatDescr a;
    struct csrilu02Info *info;
    void *buffer;
} ilu_work;

// The entry of a row and column, or NULL.
static sparse_entry *entry_at(sparse_entry *entries, const size_t *first, size_t row, size_t column)
{
    for (size_t k = first[row]; k < first[row + 1]; k++)
        if (entries[k].column == column)
            return &entries[k];
    return NULL;
}

static void eliminate(const ilu_work *w, sparse_entry *entries, const size_t *first)
{
    for (size_t row = 0; row < (size_t)w->a.rows; row++) {
        for (size_t k = first[row]; k < first[row + 1] && entries[k].column < row; k++) {
            size_t pivot_row = entries[k].column;
            const sparse_entry *pivot = entry_at(entries, first, pivot_row, pivot_row);
            if (!pivot || pivot->value == 0)
                continue;
            entries[k].value /= pivot->value;
            for (size_t l = k + 1; l < first[row + 1]; l++) {
                const sparse_entry *above = entry_at(entries, first, pivot_row, entries[l].column);
                if (above)
                    entries[l].value -= entries[k].value * above->value;
            }
        }
        const sparse_entry *diagonal = entry_at(entries, first, row, row);
        if ((!diagonal || diagonal->value == 0) && w->info->zero_pivot < 0)
            w->info->zero_pivot = (int)row + (int)w->a.base;
    }
}

static void ilu_run(const void *work)
{
    const ilu_work *w = work;
    sim_blas_span values = sim_sparse_values("the values of A", w->a.values, w->a.type, w->a.nnz);
    sim_sparse_buffer(w->call, w->buffer, buffer_bytes(w->a.rows));
    sparse_entry *entries = sim_sparse_entries(w->call, "A", &w->a, true);
    size_t *first = entries ? sim_sparse_rows(entries, (size_t)w->a.nnz, (size_t)w->a.rows) : NULL;
    sim_blas_writes(w->call, &values);
    if (first) {
        eliminate(w, entries, first);
        for (size_t i = 0; i < (size_t)w->a.nnz; i++)
            sim_blas_store(w->a.type, w->a.values, i, entries[i].value);
        sim_blas_written(&values);
    }
    free(entries);
    free(first);
}

cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t *info)
{
    *info = calloc(1, sizeof **info);
    if (!*info)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    (*info)->zero_pivot = -1;
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info)
{
    cudaDeviceSynchronize(); // queued work writes into it
    free(info);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int *position)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    cudaStreamSynchronize(handle->stream);
    *position = info->zero_pivot;
    return info->zero_pivot < 0 ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ZERO_PIVOT;
}

static cusparseStatus_t factor(cusparseHandle_t handle, sim_blas_call call, struct cusparseSpMatDescr a,
                               csrilu02Info_t info, void *buffer)
{
    ilu_work w = {call, a, info, buffer};
    if (!info)
        return SPARSE_WRONG(call, "info is NULL");
    return sim_sparse_queue(handle, call, ilu_run, &w, sizeof w, false);
}

// --- tridiagonal systems --------------------------------------------------------------------------------------------

typedef struct tridiagonal_work {
    sim_blas_call call;
    cudaDataType type;
    int m, n, ldb;
    bool pivots;
    const void *lower, *diagonal, *upper;
    void *b, *buffer;
} tridiagonal_work;

typedef struct tridiagonal_row {
    double at[3]; // from the diagonal on
} tridiagonal_row;

// The rows i and i + 1, where the lower element of the latter is given: eliminates it. Returns whether they changed.
static bool eliminate_below(tridiagonal_row *row, double lower, bool pivots, double *factor)
{
    bool swapped = pivots && fabs(lower) > fabs(row[0].at[0]);
    double below[3] = {lower, row[1].at[0], row[1].at[1]};
    if (swapped)
        for (int k = 0; k < 3; k++) {
            double kept = row[0].at[k];
            row[0].at[k] = below[k];
            below[k] = kept;
        }
    *factor = below[0] / row[0].at[0];
    row[1].at[0] = below[1] - *factor * row[0].at[1];
    row[1].at[1] = below[2] - *factor * row[0].at[2];
    return swapped;
}

static void solve_tridiagonal(const tridiagonal_work *w, tridiagonal_row *rows, double *x, size_t column)
{
    size_t m = (size_t)w->m, first = column * (size_t)w->ldb;
    for (size_t i = 0; i < m; i++) {
        rows[i].at[0] = sim_blas_load(w->type, w->diagonal, i);
        rows[i].at[1] = i + 1 < m ? sim_blas_load(w->type, w->upper, i) : 0;
        rows[i].at[2] = 0;
        x[i] = sim_blas_load(w->type, w->b, first + i);
    }
    for (size_t i = 0; i + 1 < m; i++) {
        double factor;
        if (eliminate_below(rows + i, sim_blas_load(w->type, w->lower, i + 1), w->pivots, &factor)) {
            double kept = x[i];
            x[i] = x[i + 1];
            x[i + 1] = kept;
        }
        x[i + 1] -= factor * x[i];
    }
    for (size_t i = m; i-- > 0;) {
        for (size_t k = 1; k < 3 && i + k < m; k++)
            x[i] -= rows[i].at[k] * x[i + k];
        x[i] /= rows[i].at[0];
        sim_blas_store(w->type, w->b, first + i, x[i]);
    }
}

static void tridiagonal_run(const void *work)
{
    const tridiagonal_work *w = work;
    sim_blas_span b = {"B", w->b, w->type, (size_t)w->m, (size_t)w->n, (size_t)w->ldb};
    sim_blas_span diagonals[] = {sim_sparse_values("dl", w->lower, w->type, w->m),
                                 sim_sparse_values("d", w->diagonal, w->type, w->m),
                                 sim_sparse_values("du", w->upper, w->type, w->m)};
    sim_sparse_buffer(w->call, w->buffer, buffer_bytes(w->m));
    for (int i = 0; i < 3; i++)
        sim_blas_reads(w->call, &diagonals[i]);
    sim_blas_reads(w->call, &b);
    tridiagonal_row *rows = calloc((size_t)w->m + 1, sizeof *rows);
    double *x = calloc((size_t)w->m + 1, sizeof *x);
    for (size_t j = 0; rows && x && j < (size_t)w->n; j++)
        solve_tridiagonal(w, rows, x, j);
    free(rows);
    free(x);
    sim_blas_written(&b);
}

static cusparseStatus_t tridiagonal(cusparseHandle_t handle, tridiagonal_work w)
{
    if (w.m < 3 || w.n < 0 || w.ldb < w.m)
        return SPARSE_WRONG(w.call, "m = %d, n = %d, ldb = %d: m must be at least 3 and ldb at least m", w.m, w.n,
                            w.ldb);
    return sim_sparse_queue(handle, w.call, tridiagonal_run, &w, sizeof w, false);
}

// --- the functions of one type --------------------------------------------------------------------------------------

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
#define SOLVE(L, T, TYPE)                                                                                              \
    cusparseStatus_t cusparse##L##csrilu02_bufferSize(cusparseHandle_t handle, int m, int nnz,                         \
                                                      cusparseMatDescr_t matrix, T *values, const int *offsets,        \
                                                      const int *columns, csrilu02Info_t info, int *bytes)             \
    {                                                                                                                  \
        (void)nnz, (void)matrix, (void)values, (void)offsets, (void)columns, (void)info;                               \
        *bytes = (int)buffer_bytes(m);                                                                                 \
        return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;                                     \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##csrilu02_analysis(                                                                   \
        cusparseHandle_t handle, int m, int nnz, cusparseMatDescr_t matrix, const T *values, const int *offsets,       \
        const int *columns, csrilu02Info_t info, cusparseSolvePolicy_t policy, void *buffer)                           \
    {                                                                                                                  \
        (void)m, (void)nnz, (void)matrix, (void)values, (void)offsets, (void)columns, (void)policy, (void)buffer;      \
        return handle && info ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;                             \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##csrilu02(cusparseHandle_t handle, int m, int nnz, cusparseMatDescr_t matrix,         \
                                           T *values, const int *offsets, const int *columns, csrilu02Info_t info,     \
                                           cusparseSolvePolicy_t policy, void *buffer)                                 \
    {                                                                                                                  \
        (void)policy;                                                                                                  \
        return factor(handle, SPARSE_CALL(#L "csrilu02"),                                                              \
                      sim_sparse_csr(m, m, nnz, offsets, columns, values, TYPE,                                        \
                                     matrix ? matrix->base : CUSPARSE_INDEX_BASE_ZERO),                                \
                      info, buffer);                                                                                   \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##gtsv2_bufferSizeExt(cusparseHandle_t handle, int m, int n, const T *dl, const T *d,  \
                                                      const T *du, const T *b, int ldb, size_t *bytes)                 \
    {                                                                                                                  \
        (void)n, (void)dl, (void)d, (void)du, (void)b, (void)ldb;                                                      \
        return size_for(handle, m, bytes);                                                                             \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##gtsv2(cusparseHandle_t handle, int m, int n, const T *dl, const T *d, const T *du,   \
                                        T *b, int ldb, void *buffer)                                                   \
    {                                                                                                                  \
        return tridiagonal(handle,                                                                                     \
                           (tridiagonal_work){SPARSE_CALL(#L "gtsv2"), TYPE, m, n, ldb, true, dl, d, du, b, buffer});  \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##gtsv2_nopivot_bufferSizeExt(cusparseHandle_t handle, int m, int n, const T *dl,      \
                                                              const T *d, const T *du, const T *b, int ldb,            \
                                                              size_t *bytes)                                           \
    {                                                                                                                  \
        (void)n, (void)dl, (void)d, (void)du, (void)b, (void)ldb;                                                      \
        return size_for(handle, m, bytes);                                                                             \
    }                                                                                                                  \
    cusparseStatus_t cusparse##L##gtsv2_nopivot(cusparseHandle_t handle, int m, int n, const T *dl, const T *d,        \
                                                const T *du, T *b, int ldb, void *buffer)                              \
    {                                                                                                                  \
        return tridiagonal(handle, (tridiagonal_work){SPARSE_CALL(#L "gtsv2_nopivot"), TYPE, m, n, ldb, false, dl, d,  \
                                                      du, b, buffer});                                                 \
    }
SOLVE(S, float, CUDA_R_32F)
SOLVE(D, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)
