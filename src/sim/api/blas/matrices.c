// cuBLAS level 2 and the rest of level 3: matrix and vector, sums, triangular and symmetric matrices. Small and plain:
// what programs spend their time in is gemm.c. All sums are made in double.
#include "api/blas/blas.h"

typedef enum matrix_operation { GEMV, SYMV, GER, TRSV, GEAM, DGMM, SYMM, SYRK, TRSM, TRMM } matrix_operation;

// Which function, of which type.
typedef struct matrix_function {
    sim_blas_call call;
    matrix_operation operation;
    cudaDataType type;
} matrix_function;

// How the matrices are to be read; what is not set is cuBLAS's 0: as stored, on the left, lower, not unit.
typedef struct matrix_reading {
    cublasOperation_t transa, transb;
    cublasSideMode_t side;
    cublasFillMode_t uplo;
    cublasDiagType_t diag;
} matrix_reading;

// Every argument that one of them takes; `right`, `upper`, `unit`: the side, triangle and diagonal asked for.
typedef struct matrix_work {
    sim_blas_call call;
    matrix_operation operation;
    cudaDataType type;
    bool transa, transb, right, upper, unit;
    int m, n, k, lda, ldb, ldc; // of vectors the increments
    sim_blas_scalar alpha, beta;
    const void *a, *b;
    void *c;
} matrix_work;

static double at(const matrix_work *w, const void *data, int row, int column, int stride)
{
    return sim_blas_load(w->type, data, (size_t)row + (size_t)column * (size_t)stride);
}

// Element of a symmetric matrix of which one triangle is stored.
static double symmetric(const matrix_work *w, int row, int column)
{
    bool stored = w->upper ? row <= column : row >= column;
    return stored ? at(w, w->a, row, column, w->lda) : at(w, w->a, column, row, w->lda);
}

// Element of op(A) for a triangular A.
static double triangular(const matrix_work *w, bool transposed, int row, int column)
{
    int i = transposed ? column : row, j = transposed ? row : column;
    if (i == j)
        return w->unit ? 1 : at(w, w->a, i, j, w->lda);
    return (w->upper ? i < j : i > j) ? at(w, w->a, i, j, w->lda) : 0;
}

static void update(const matrix_work *w, size_t index, double sum, double alpha, double beta)
{
    double value = alpha * sum;
    if (beta != 0)
        value += beta * sim_blas_load(w->type, w->c, index);
    sim_blas_store(w->type, w->c, index, value);
}

static void run_gemv(const matrix_work *w, double alpha, double beta)
{
    int rows = w->transa ? w->n : w->m, columns = w->transa ? w->m : w->n;
    for (int i = 0; i < rows; i++) {
        double sum = 0;
        for (int j = 0; j < columns; j++) {
            double element = w->operation == SYMV ? symmetric(w, i, j)
                             : w->transa          ? at(w, w->a, j, i, w->lda)
                                                  : at(w, w->a, i, j, w->lda);
            sum += element * sim_blas_load(w->type, w->b, sim_blas_element(j, columns, w->ldb));
        }
        update(w, sim_blas_element(i, rows, w->ldc), sum, alpha, beta);
    }
}

static void run_ger(const matrix_work *w, double alpha)
{
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++) {
            double x = sim_blas_load(w->type, w->a, sim_blas_element(i, w->m, w->lda));
            double y = sim_blas_load(w->type, w->b, sim_blas_element(j, w->n, w->ldb));
            update(w, (size_t)i + (size_t)j * (size_t)w->ldc, x * y, alpha, 1);
        }
}

static void run_geam(const matrix_work *w, double alpha, double beta)
{
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++) {
            double sum = 0;
            if (alpha != 0)
                sum += alpha * (w->transa ? at(w, w->a, j, i, w->lda) : at(w, w->a, i, j, w->lda));
            if (beta != 0)
                sum += beta * (w->transb ? at(w, w->b, j, i, w->ldb) : at(w, w->b, i, j, w->ldb));
            sim_blas_store(w->type, w->c, (size_t)i + (size_t)j * (size_t)w->ldc, sum);
        }
}

static void run_dgmm(const matrix_work *w)
{
    int length = w->right ? w->n : w->m;
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++) {
            double factor = sim_blas_load(w->type, w->b, sim_blas_element(w->right ? j : i, length, w->ldb));
            sim_blas_store(w->type, w->c, (size_t)i + (size_t)j * (size_t)w->ldc, at(w, w->a, i, j, w->lda) * factor);
        }
}

static void run_symm(const matrix_work *w, double alpha, double beta)
{
    for (int j = 0; j < w->n; j++)
        for (int i = 0; i < w->m; i++) {
            double sum = 0;
            if (w->right)
                for (int l = 0; l < w->n; l++)
                    sum += at(w, w->b, i, l, w->ldb) * symmetric(w, l, j);
            else
                for (int l = 0; l < w->m; l++)
                    sum += symmetric(w, i, l) * at(w, w->b, l, j, w->ldb);
            update(w, (size_t)i + (size_t)j * (size_t)w->ldc, sum, alpha, beta);
        }
}

static void run_syrk(const matrix_work *w, double alpha, double beta)
{
    for (int j = 0; j < w->n; j++)
        for (int i = w->upper ? 0 : j; i < (w->upper ? j + 1 : w->n); i++) {
            double sum = 0;
            for (int l = 0; l < w->k; l++)
                sum += w->transa ? at(w, w->a, l, i, w->lda) * at(w, w->a, l, j, w->lda)
                                 : at(w, w->a, i, l, w->lda) * at(w, w->a, j, l, w->lda);
            update(w, (size_t)i + (size_t)j * (size_t)w->ldc, sum, alpha, beta);
        }
}

// Solves op(A) x = alpha x in place for one vector of C, from the end of the triangle that has one unknown.
static void solve(const matrix_work *w, bool transposed, int n, size_t first, size_t increment, double alpha)
{
    bool upper = w->upper != transposed;
    for (int k = 0; k < n; k++) {
        int i = upper ? n - 1 - k : k;
        double value = alpha * sim_blas_load(w->type, w->c, first + (size_t)i * increment);
        for (int j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
            value -= triangular(w, transposed, i, j) * sim_blas_load(w->type, w->c, first + (size_t)j * increment);
        sim_blas_store(w->type, w->c, first + (size_t)i * increment, value / triangular(w, transposed, i, i));
    }
}

// X op(A) = B is op(A)' X' = B': the rows of B are then the vectors.
static void run_trsm(const matrix_work *w, double alpha)
{
    if (w->operation == TRSV)
        solve(w, w->transa, w->n, 0, (size_t)w->ldc, 1);
    else if (w->right)
        for (int i = 0; i < w->m; i++)
            solve(w, !w->transa, w->n, (size_t)i, (size_t)w->ldc, alpha);
    else
        for (int j = 0; j < w->n; j++)
            solve(w, w->transa, w->m, (size_t)j * (size_t)w->ldc, 1, alpha);
}

// The product may replace B: each element is made before those of B that it needs are overwritten, and no other is
// read.
static void run_trmm(const matrix_work *w, double alpha)
{
    const bool upper = w->upper != w->transa, from_here = upper != w->right;
    for (int k = 0; k < w->m * w->n; k++) {
        int element = from_here ? k : w->m * w->n - 1 - k, j = element / w->m, i = element % w->m;
        int here = w->right ? j : i, size = w->right ? w->n : w->m;
        double sum = 0;
        for (int l = from_here ? here : 0; l < (from_here ? size : here + 1); l++)
            sum += w->right ? at(w, w->b, i, l, w->ldb) * triangular(w, w->transa, l, j)
                            : triangular(w, w->transa, i, l) * at(w, w->b, l, j, w->ldb);
        sim_blas_store(w->type, w->c, (size_t)i + (size_t)j * (size_t)w->ldc, alpha * sum);
    }
}

// --- what is read and written ---------------------------------------------------------------------------------------

static sim_blas_span matrix(const char *name, const void *data, cudaDataType type, int rows, int columns, int stride)
{
    return (sim_blas_span){name, data, type, (size_t)rows, (size_t)columns, (size_t)stride};
}

static sim_blas_span vector(const char *name, const void *data, cudaDataType type, int n, int increment)
{
    return matrix(name, data, type, 1, n, increment < 0 ? -increment : increment);
}

static void spans_of(const matrix_work *w, sim_blas_span *a, sim_blas_span *b, sim_blas_span *c)
{
    int order = w->right ? w->n : w->m; // of a square A
    *a = matrix("A", w->a, w->type, w->transa ? w->n : w->m, w->transa ? w->m : w->n, w->lda);
    *b = matrix("B", w->b, w->type, w->m, w->n, w->ldb);
    *c = matrix("C", w->c, w->type, w->m, w->n, w->ldc);
    switch (w->operation) {
    case GEMV:
    case SYMV:
        *a = matrix("A", w->a, w->type, w->m, w->n, w->lda);
        *b = vector("x", w->b, w->type, w->transa ? w->m : w->n, w->ldb);
        *c = vector("y", w->c, w->type, w->transa ? w->n : w->m, w->ldc);
        break;
    case GER:
        *a = vector("x", w->a, w->type, w->m, w->lda);
        *b = vector("y", w->b, w->type, w->n, w->ldb);
        break;
    case TRSV:
        *a = matrix("A", w->a, w->type, w->n, w->n, w->lda);
        *c = vector("x", w->c, w->type, w->n, w->ldc);
        break;
    case GEAM: *b = matrix("B", w->b, w->type, w->transb ? w->n : w->m, w->transb ? w->m : w->n, w->ldb); break;
    case DGMM: *b = vector("x", w->b, w->type, w->right ? w->n : w->m, w->ldb); break;
    case SYRK: *a = matrix("A", w->a, w->type, w->transa ? w->k : w->n, w->transa ? w->n : w->k, w->lda); break;
    default: *a = matrix("A", w->a, w->type, order, order, w->lda);
    }
}

static bool one_triangle(matrix_operation operation)
{
    return operation == SYMV || operation == TRSV || operation == SYMM || operation == TRSM || operation == TRMM;
}

// Of a square matrix of which one triangle counts: a column of it.
static sim_blas_span triangle_column(const matrix_work *w, const sim_blas_span *square, size_t column, bool diagonal)
{
    sim_blas_span part = *square;
    const size_t first = w->upper ? 0 : column + !diagonal, end = w->upper ? column + diagonal : square->rows;
    const size_t offset = (column * square->stride + first) * sim_blas_size(square->type);
    part.data = (const char *)square->data + offset;
    part.rows = first < end ? end - first : 0;
    part.columns = part.rows > 0;
    return part;
}

// That the result keeps off a matrix of which one triangle is stored, or, of a symmetric result, the reverse.
static void check_triangle(const matrix_work *w, const sim_blas_span *written, const sim_blas_span *read)
{
    const bool result = w->operation == SYRK;
    const sim_blas_span *square = result ? written : read, *whole = result ? read : written;
    for (size_t column = 0; column < square->columns && sim_blas_overlap(square, whole); column++) {
        const sim_blas_span part = triangle_column(w, square, column, !w->unit);
        if (sim_blas_overlap(&part, whole)) {
            sim_blas_apart(w->call, written, read);
            return;
        }
    }
}

// The result may replace an operand of its own shape, element for element; otherwise it may share no element with what
// is read while it is written.
static void check_overlaps(const matrix_work *w, double alpha, double beta, const sim_blas_span *a,
                           const sim_blas_span *b, const sim_blas_span *c)
{
    const bool over_a = a->data == c->data && a->stride == c->stride && !w->transa;
    const bool over_b = b->data == c->data && b->stride == c->stride && !w->transb;
    switch (w->operation) {
    case GEAM:
        if (alpha != 0 && !over_a)
            sim_blas_apart(w->call, c, a);
        if (beta != 0 && !over_b)
            sim_blas_apart(w->call, c, b);
        break;
    case DGMM:
        if (!over_a)
            sim_blas_apart(w->call, c, a);
        sim_blas_apart(w->call, c, b);
        break;
    case TRSV: check_triangle(w, c, a); break;
    default:
        if (alpha == 0)
            return;
        if (w->operation == SYRK || one_triangle(w->operation))
            check_triangle(w, c, a);
        else
            sim_blas_apart(w->call, c, a);
        if (w->b && !(w->operation == TRMM && over_b))
            sim_blas_apart(w->call, c, b);
    }
}

static void check(const matrix_work *w, double alpha, double beta, sim_blas_span *c)
{
    sim_blas_span a, b;
    bool in_place = w->operation == TRSM || w->operation == TRSV;
    spans_of(w, &a, &b, c);
    // The other triangle of A may be anything, and the last column of a lower one starts late: only its place is
    // checked.
    if (one_triangle(w->operation)) {
        sim_blas_writes(w->call, &a);
        sim_blas_used(&a, false);
    } else if (alpha != 0 || w->operation != GEAM) {
        sim_blas_reads(w->call, &a);
    }
    if (w->b && (w->operation != GEAM || beta != 0))
        sim_blas_reads(w->call, &b);
    if (in_place || w->operation == GER || (beta != 0 && w->operation != GEAM && w->operation != SYRK))
        sim_blas_reads(w->call, c);
    sim_blas_writes(w->call, c);
    check_overlaps(w, alpha, beta, &a, &b, c);
}

static void matrix_run(const void *work)
{
    const matrix_work *w = work;
    double alpha = sim_blas_scalar_value(w->call, "alpha", &w->alpha);
    double beta = sim_blas_scalar_value(w->call, "beta", &w->beta);
    sim_blas_span c;
    check(w, alpha, beta, &c);
    switch (w->operation) {
    case GEMV:
    case SYMV: run_gemv(w, alpha, beta); break;
    case GER: run_ger(w, alpha); break;
    case GEAM: run_geam(w, alpha, beta); break;
    case DGMM: run_dgmm(w); break;
    case SYMM: run_symm(w, alpha, beta); break;
    case SYRK: run_syrk(w, alpha, beta); break;
    case TRMM: run_trmm(w, alpha); break;
    default: run_trsm(w, alpha);
    }
    sim_blas_written(&c);
}

// Arguments in the order of BLAS; what a function does not take is 0.
static cublasStatus_t queue_matrix(cublasHandle_t handle, matrix_function function, matrix_reading reading, int m,
                                   int n, int k, const void *alpha, const void *a, int lda, const void *b, int ldb,
                                   const void *beta, void *c, int ldc)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || k < 0)
        return sim_blas_wrong(function.call, "a size is negative: m = %d, n = %d, k = %d", m, n, k);
    if (lda == 0 || (b && ldb == 0) || ldc == 0)
        return sim_blas_wrong(function.call, "a leading dimension or increment is 0");
    if (m == 0 || n == 0)
        return CUBLAS_STATUS_SUCCESS;
    const bool on_device = sim_blas_numbers_on_device(handle);
    matrix_work w = {.call = function.call, .operation = function.operation, .type = function.type};
    w.transa = reading.transa != CUBLAS_OP_N;
    w.transb = reading.transb != CUBLAS_OP_N;
    w.right = reading.side == CUBLAS_SIDE_RIGHT;
    w.upper = reading.uplo == CUBLAS_FILL_MODE_UPPER;
    w.unit = reading.diag == CUBLAS_DIAG_UNIT;
    w.m = m, w.n = n, w.k = k;
    w.lda = lda, w.ldb = ldb, w.ldc = ldc;
    w.a = a, w.b = b, w.c = c;
    w.alpha = sim_blas_scalar_of(w.call, on_device, w.type, alpha);
    w.beta = sim_blas_scalar_of(w.call, on_device, w.type, beta);
    if (w.operation == GEAM && c == a && (w.transa || lda != ldc) && (w.alpha.device || w.alpha.value != 0))
        return sim_blas_wrong(w.call, "C is A, which needs CUBLAS_OP_N for A and lda = ldc");
    if (w.operation == GEAM && c == b && (w.transb || ldb != ldc) && (w.beta.device || w.beta.value != 0))
        return sim_blas_wrong(w.call, "C is B, which needs CUBLAS_OP_N for B and ldb = ldc");
    return sim_blas_queue(handle, w.call, matrix_run, &w, sizeof w, false);
}

// --- the functions --------------------------------------------------------------------------------------------------

#define FUNCTION(L, NAME, OPERATION, t) ((matrix_function){SIM_BLAS_CALL("cublas" #L NAME), OPERATION, t})

#define MATRICES(L, T, t)                                                                                              \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,    \
                                      const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy)        \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "gemv", GEMV, t), (matrix_reading){.transa = trans}, m, n, 0, alpha,   \
                            a, lda, x, incx, beta, y, incy);                                                           \
    }                                                                                                                  \
    cublasStatus_t cublas##L##symv_v2(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T *alpha, const T *a, \
                                      int lda, const T *x, int incx, const T *beta, T *y, int incy)                    \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "symv", SYMV, t), (matrix_reading){.uplo = uplo}, n, n, 0, alpha, a,   \
                            lda, x, incx, beta, y, incy);                                                              \
    }                                                                                                                  \
    cublasStatus_t cublas##L##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,        \
                                     const T *y, int incy, T *a, int lda)                                              \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "ger", GER, t), (matrix_reading){0}, m, n, 0, alpha, x, incx, y, incy, \
                            0, a, lda);                                                                                \
    }                                                                                                                  \
    cublasStatus_t cublas##L##trsv_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,           \
                                      cublasDiagType_t diag, int n, const T *a, int lda, T *x, int incx)               \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "trsv", TRSV, t),                                                      \
                            (matrix_reading){.transa = trans, .uplo = uplo, .diag = diag}, n, n, 0, 0, a, lda, 0, 0,   \
                            0, x, incx);                                                                               \
    }                                                                                                                  \
    cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,   \
                                   int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb,     \
                                   T *c, int ldc)                                                                      \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "geam", GEAM, t),                                                      \
                            (matrix_reading){.transa = transa, .transb = transb}, m, n, 0, alpha, a, lda, b, ldb,      \
                            beta, c, ldc);                                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const T *a, int lda,    \
                                   const T *x, int incx, T *c, int ldc)                                                \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "dgmm", DGMM, t), (matrix_reading){.side = mode}, m, n, 0, 0, a, lda,  \
                            x, incx, 0, c, ldc);                                                                       \
    }                                                                                                                  \
    cublasStatus_t cublas##L##symm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,      \
                                      int n, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta,  \
                                      T *c, int ldc)                                                                   \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "symm", SYMM, t), (matrix_reading){.side = side, .uplo = uplo}, m, n,  \
                            0, alpha, a, lda, b, ldb, beta, c, ldc);                                                   \
    }                                                                                                                  \
    cublasStatus_t cublas##L##syrk_v2(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,    \
                                      int k, const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc)        \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "syrk", SYRK, t), (matrix_reading){.transa = trans, .uplo = uplo}, n,  \
                            n, k, alpha, a, lda, 0, 0, beta, c, ldc);                                                  \
    }                                                                                                                  \
    cublasStatus_t cublas##L##trsm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha,    \
                                      const T *a, int lda, T *b, int ldb)                                              \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "trsm", TRSM, t),                                                      \
                            (matrix_reading){.transa = trans, .side = side, .uplo = uplo, .diag = diag}, m, n, 0,      \
                            alpha, a, lda, 0, 0, 0, b, ldb);                                                           \
    }                                                                                                                  \
    cublasStatus_t cublas##L##trmm_v2(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
                                      cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const T *alpha,    \
                                      const T *a, int lda, const T *b, int ldb, T *c, int ldc)                         \
    {                                                                                                                  \
        return queue_matrix(handle, FUNCTION(L, "trmm", TRMM, t),                                                      \
                            (matrix_reading){.transa = trans, .side = side, .uplo = uplo, .diag = diag}, m, n, 0,      \
                            alpha, a, lda, b, ldb, 0, c, ldc);                                                         \
    }
// NOLINTBEGIN(readability-non-const-parameter): the result is written later, through the work it is put into
MATRICES(S, float, CUDA_R_32F)
MATRICES(D, double, CUDA_R_64F)

// cuBLASXt: the same, after a look at the sizes.
#define XT_FUNCTION(L, NAME, OPERATION, t) ((matrix_function){SIM_BLAS_XT_CALL("cublasXt" #L NAME), OPERATION, t})
#define XT_QUEUE(FUNCTION, READING, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)                                      \
    if (!handle)                                                                                                       \
        return CUBLAS_STATUS_NOT_INITIALIZED;                                                                          \
    if (!SIM_BLAS_XT_FITS(m, n, k, lda, ldb, ldc))                                                                     \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                                            \
    return sim_blas_xt_wait(handle, queue_matrix(&handle->blas, FUNCTION, READING, (int)(m), (int)(n), (int)(k),       \
                                                 alpha, a, (int)(lda), b, (int)(ldb), beta, c, (int)(ldc)))

#define XT_MATRICES(L, T, t)                                                                                           \
    cublasStatus_t cublasXt##L##symm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, size_t m,  \
                                     size_t n, const T *alpha, const T *a, size_t lda, const T *b, size_t ldb,         \
                                     const T *beta, T *c, size_t ldc)                                                  \
    {                                                                                                                  \
        matrix_reading reading = {.side = side, .uplo = uplo};                                                         \
        XT_QUEUE(XT_FUNCTION(L, "symm", SYMM, t), reading, m, n, 0, alpha, a, lda, b, ldb, beta, c, ldc);              \
    }                                                                                                                  \
    cublasStatus_t cublasXt##L##syrk(cublasXtHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,          \
                                     size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *beta, T *c,  \
                                     size_t ldc)                                                                       \
    {                                                                                                                  \
        matrix_reading reading = {.transa = trans, .uplo = uplo};                                                      \
        XT_QUEUE(XT_FUNCTION(L, "syrk", SYRK, t), reading, n, n, k, alpha, a, lda, NULL, 0, beta, c, ldc);             \
    }                                                                                                                  \
    cublasStatus_t cublasXt##L##trsm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                     cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,               \
                                     const T *alpha, const T *a, size_t lda, T *b, size_t ldb)                         \
    {                                                                                                                  \
        matrix_reading reading = {.transa = trans, .side = side, .uplo = uplo, .diag = diag};                          \
        XT_QUEUE(XT_FUNCTION(L, "trsm", TRSM, t), reading, m, n, 0, alpha, a, lda, NULL, 0, NULL, b, ldb);             \
    }                                                                                                                  \
    cublasStatus_t cublasXt##L##trmm(cublasXtHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,            \
                                     cublasOperation_t trans, cublasDiagType_t diag, size_t m, size_t n,               \
                                     const T *alpha, const T *a, size_t lda, const T *b, size_t ldb, T *c, size_t ldc) \
    {                                                                                                                  \
        matrix_reading reading = {.transa = trans, .side = side, .uplo = uplo, .diag = diag};                          \
        XT_QUEUE(XT_FUNCTION(L, "trmm", TRMM, t), reading, m, n, 0, alpha, a, lda, b, ldb, NULL, c, ldc);              \
    }
XT_MATRICES(S, float, CUDA_R_32F)
XT_MATRICES(D, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)
