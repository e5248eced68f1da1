// cuBLAS's factors of many small matrices, one after the other, from device arrays of pointers: LU with solutions and
// inverses, QR and least squares.
#include "api/solver/solver.h"

typedef enum batched_operation { FACTOR, SOLVE, INVERT, REFLECT, LEAST_SQUARES } batched_operation;

// What each function calls its second array of pointers and the matrices in it; NULL: it has none.
static const struct {
    const char *array, *matrix;
} second[] = {{NULL, NULL}, {"Barray", "B"}, {"Carray", "C"}, {"TauArray", "Tau"}, {"Carray", "C"}};

typedef struct batched_work {
    batched_operation operation;
    solver_work one; // of each matrix: all but its pointers
    const void *const *a;
    void *const *b;
    int *pivots, *infos; // infos: one for each matrix, in device memory; NULL: the function has none
    int batches;
} batched_work;

static void read_pointers(const batched_work *w, const char *name, const void *pointers)
{
    sim_blas_span span = {name, pointers, CUDA_R_64F, (size_t)w->batches, 1, (size_t)w->batches};
    sim_blas_reads(w->one.call, &span);
}

static void make_identity(const solver_work *one)
{
    size_t parts = one->is_complex ? 2 : 1;
    for (int j = 0; j < one->n; j++)
        for (size_t i = 0; i < parts * (size_t)one->n; i++)
            sim_blas_store(one->type, one->b, i + parts * (size_t)j * (size_t)one->ldb, i == parts * (size_t)j);
}

// Its matrix is overwritten, and perhaps a second one.
static int factor_one(const batched_work *w, const solver_work *one)
{
    int smaller = one->m < one->n ? one->m : one->n;
    size_t pivots_count = one->pivots ? (size_t)one->n : 0;
    sim_blas_span a = sim_solver_matrix(one, "A", one->a, one->m, one->n, one->lda);
    sim_blas_span pivots = {"P", one->pivots, CUDA_R_32I, pivots_count, 1, pivots_count};
    sim_blas_span tau = sim_solver_matrix(one, "Tau", one->tau, one->tau ? smaller : 0, 1, smaller);
    sim_blas_span b = sim_solver_matrix(one, "C", one->b, one->m, w->operation == LEAST_SQUARES ? one->k : 0, one->ldb);
    sim_blas_span *written[] = {&a, &pivots, &tau, &b};
    sim_blas_reads(one->call, &a);
    sim_blas_reads(one->call, &b);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        sim_blas_writes(one->call, written[i]);
    int info = sim_solver_run(one);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        sim_blas_written(written[i]);
    return info;
}

static void solve_one(const batched_work *w, const solver_work *one)
{
    sim_blas_span a = sim_solver_matrix(one, "A", one->a, one->n, one->n, one->lda);
    sim_blas_span b = sim_solver_matrix(one, second[w->operation].matrix, one->b, one->n, one->k, one->ldb);
    sim_blas_reads(one->call, &a);
    if (w->operation == SOLVE)
        sim_blas_reads(one->call, &b);
    sim_blas_writes(one->call, &b);
    if (!sim_solver_pivots(one))
        return;
    if (w->operation == INVERT)
        make_identity(one);
    sim_solver_run(one);
    sim_blas_written(&b);
}

static void batched_run(const void *work)
{
    const batched_work *w = work;
    size_t infos = w->infos ? (size_t)w->batches : 0;
    sim_blas_span info = {"info", w->infos, CUDA_R_32I, infos, 1, infos};
    bool factors = w->operation != SOLVE && w->operation != INVERT;
    read_pointers(w, "Aarray", w->a);
    if (second[w->operation].array)
        read_pointers(w, second[w->operation].array, w->b);
    sim_blas_writes(w->one.call, &info);
    for (int i = 0; i < w->batches; i++) {
        solver_work one = w->one;
        one.a = (void *)(uintptr_t)w->a[i];
        *(w->operation == REFLECT ? &one.tau : &one.b) = w->b ? w->b[i] : NULL;
        one.pivots = w->pivots ? w->pivots + (size_t)i * (size_t)one.n : NULL;
        int found = 0;
        if (factors)
            found = factor_one(w, &one);
        else
            solve_one(w, &one);
        if (w->infos)
            w->infos[i] = found;
    }
    sim_blas_written(&info);
}

// `info`: in host memory, written at the call; NULL: the function has none.
static cublasStatus_t queue(cublasHandle_t handle, batched_work w, int *info)
{
    const solver_work *one = &w.one;
    int least = one->m > 1 ? one->m : 1;
    bool has_second = w.operation != FACTOR && w.operation != REFLECT;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (info)
        *info = 0;
    if (one->m < 0 || one->n < 0 || one->k < 0 || w.batches < 0)
        return sim_blas_wrong(one->call, "m = %d, n = %d, %d right-hand sides, %d matrices: none may be negative",
                              one->m, one->n, one->k, w.batches);
    if (one->lda < least || (has_second && one->ldb < least))
        return sim_blas_wrong(one->call, "a leading dimension is smaller than the number of rows, %d", one->m);
    if (w.operation == LEAST_SQUARES && (one->transposed || one->m < one->n))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (one->m == 0 || one->n == 0 || w.batches == 0)
        return CUBLAS_STATUS_SUCCESS;
    return sim_blas_queue(handle, one->call, batched_run, &w, sizeof w, false);
}

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
#define ONE(L, NAME, OPERATION, TYPE, IS_COMPLEX, ...)                                                                 \
    {                                                                                                                  \
        .call = SIM_BLAS_CALL("cublas" #L NAME), .operation = (OPERATION), .type = (TYPE), .is_complex = (IS_COMPLEX), \
        .n = n, .lda = lda, __VA_ARGS__                                                                                \
    }
#define BATCHED(L, T, TYPE, IS_COMPLEX)                                                                                \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots,           \
                                           int *info, int batches)                                                     \
    {                                                                                                                  \
        solver_work one = ONE(L, "getrfBatched", GETRF, TYPE, IS_COMPLEX, .m = n);                                     \
        return queue(handle, (batched_work){FACTOR, one, (const void *const *)a, NULL, pivots, info, batches}, NULL);  \
    }                                                                                                                  \
    cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,            \
                                           const T *const a[], int lda, const int *pivots, T *const b[], int ldb,      \
                                           int *info, int batches)                                                     \
    {                                                                                                                  \
        solver_work one = ONE(L, "getrsBatched", GETRS, TYPE, IS_COMPLEX, .transposed = trans != CUBLAS_OP_N,          \
                              .conjugated = (IS_COMPLEX) && trans == CUBLAS_OP_C, .m = n, .k = nrhs, .ldb = ldb);      \
        return queue(handle,                                                                                           \
                     (batched_work){SOLVE, one, (const void *const *)a, (void *const *)b, (int *)(uintptr_t)pivots,    \
                                    NULL, batches},                                                                    \
                     info);                                                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const a[], int lda,                  \
                                           const int *pivots, T *const c[], int ldc, int *info, int batches)           \
    {                                                                                                                  \
        solver_work one = ONE(L, "getriBatched", GETRS, TYPE, IS_COMPLEX, .m = n, .k = n, .ldb = ldc);                 \
        return queue(handle,                                                                                           \
                     (batched_work){INVERT, one, (const void *const *)a, (void *const *)c, (int *)(uintptr_t)pivots,   \
                                    info, batches},                                                                    \
                     NULL);                                                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##L##geqrfBatched(cublasHandle_t handle, int m, int n, T *const a[], int lda, T *const tau[], \
                                           int *info, int batches)                                                     \
    {                                                                                                                  \
        solver_work one = ONE(L, "geqrfBatched", GEQRF, TYPE, IS_COMPLEX, .m = m);                                     \
        return queue(handle,                                                                                           \
                     (batched_work){REFLECT, one, (const void *const *)a, (void *const *)tau, NULL, NULL, batches},    \
                     info);                                                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##L##gelsBatched(cublasHandle_t handle, cublasOperation_t trans, int m, int n, int nrhs,      \
                                          T *const a[], int lda, T *const c[], int ldc, int *info, int *infos,         \
                                          int batches)                                                                 \
    {                                                                                                                  \
        solver_work one = ONE(L, "gelsBatched", GELS, TYPE, IS_COMPLEX, .transposed = trans != CUBLAS_OP_N, .m = m,    \
                              .k = nrhs, .ldb = ldc);                                                                  \
        return queue(                                                                                                  \
            handle,                                                                                                    \
            (batched_work){LEAST_SQUARES, one, (const void *const *)a, (void *const *)c, NULL, infos, batches}, info); \
    }
BATCHED(S, float, CUDA_R_32F, false)
BATCHED(D, double, CUDA_R_64F, false)
BATCHED(C, cuComplex, CUDA_R_32F, true)
BATCHED(Z, cuDoubleComplex, CUDA_R_64F, true)
// NOLINTEND(readability-non-const-parameter)
