// cuBLAS's LU of many small matrices: factors, solutions and inverses, one matrix after the other, from device arrays
// of pointers.
#include "api/solver/solver.h"

typedef enum batched_operation { FACTOR, SOLVE, INVERT } batched_operation;

typedef struct batched_work {
    batched_operation operation;
    solver_work one; // of each matrix: all but its pointers
    const void *const *a;
    void *const *b;
    int *pivots, *info;
    int batches;
} batched_work;

static void read_pointers(const batched_work *w, const char *name, const void *pointers)
{
    sim_blas_span span = {name, pointers, CUDA_R_64F, (size_t)w->batches, 1, (size_t)w->batches};
    sim_blas_reads(w->one.call, &span);
}

static void make_identity(const solver_work *one)
{
    for (int j = 0; j < one->n; j++)
        for (int i = 0; i < one->n; i++)
            sim_blas_store(one->type, one->b, (size_t)i + (size_t)j * (size_t)one->ldb, i == j);
}

static void factor_one(const solver_work *one, int *info)
{
    size_t n = (size_t)one->n;
    sim_blas_span a = {"A", one->a, one->type, n, n, (size_t)one->lda};
    sim_blas_span pivots = {"P", one->pivots, CUDA_R_32I, one->pivots ? n : 0, 1, n};
    sim_blas_reads(one->call, &a);
    sim_blas_writes(one->call, &pivots);
    *info = sim_solver_run(one);
    sim_blas_written(&a);
    sim_blas_written(&pivots);
}

static void solve_one(const batched_work *w, const solver_work *one)
{
    size_t n = (size_t)one->n;
    sim_blas_span a = {"A", one->a, one->type, n, n, (size_t)one->lda};
    sim_blas_span b = {w->operation == INVERT ? "C" : "B", one->b, one->type, n, (size_t)one->k, (size_t)one->ldb};
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
    // The info of a solution is in host memory and was written at the call.
    size_t infos = w->operation == SOLVE ? 0 : (size_t)w->batches;
    sim_blas_span info = {"info", w->info, CUDA_R_32I, infos, 1, infos};
    read_pointers(w, "Aarray", w->a);
    if (w->operation != FACTOR)
        read_pointers(w, w->operation == INVERT ? "Carray" : "Barray", w->b);
    sim_blas_writes(w->one.call, &info);
    for (int i = 0; i < w->batches; i++) {
        solver_work one = w->one;
        one.a = (void *)(uintptr_t)w->a[i];
        one.b = w->operation == FACTOR ? NULL : w->b[i];
        one.pivots = w->pivots ? w->pivots + (size_t)i * (size_t)one.n : NULL;
        if (w->operation == FACTOR) {
            factor_one(&one, &w->info[i]);
        } else {
            solve_one(w, &one);
            if (w->operation == INVERT)
                w->info[i] = 0;
        }
    }
    sim_blas_written(&info);
}

static cublasStatus_t queue(cublasHandle_t handle, batched_work w)
{
    int least = w.one.n > 1 ? w.one.n : 1;
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (w.one.n < 0 || w.one.k < 0 || w.batches < 0)
        return sim_blas_wrong(w.one.call, "n = %d, %d right-hand sides, %d matrices: none may be negative", w.one.n,
                              w.one.k, w.batches);
    if (w.one.lda < least || (w.operation != FACTOR && w.one.ldb < least))
        return sim_blas_wrong(w.one.call, "a leading dimension is smaller than n = %d", w.one.n);
    if (w.operation == SOLVE)
        *w.info = 0;
    if (w.one.n == 0 || w.batches == 0)
        return CUBLAS_STATUS_SUCCESS;
    return sim_blas_queue(handle, w.one.call, batched_run, &w, sizeof w, false);
}

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
#define BATCHED(L, T, TYPE)                                                                                            \
    cublasStatus_t cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots,           \
                                           int *info, int batches)                                                     \
    {                                                                                                                  \
        solver_work one = {.call = SIM_BLAS_CALL("cublas" #L "getrfBatched"),                                          \
                           .operation = GETRF,                                                                         \
                           .type = TYPE,                                                                               \
                           .m = n,                                                                                     \
                           .n = n,                                                                                     \
                           .lda = lda};                                                                                \
        return queue(handle, (batched_work){FACTOR, one, (const void *const *)a, NULL, pivots, info, batches});        \
    }                                                                                                                  \
    cublasStatus_t cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int nrhs,            \
                                           const T *const a[], int lda, const int *pivots, T *const b[], int ldb,      \
                                           int *info, int batches)                                                     \
    {                                                                                                                  \
        solver_work one = {.call = SIM_BLAS_CALL("cublas" #L "getrsBatched"),                                          \
                           .operation = GETRS,                                                                         \
                           .type = TYPE,                                                                               \
                           .transposed = trans != CUBLAS_OP_N,                                                         \
                           .m = n,                                                                                     \
                           .n = n,                                                                                     \
                           .k = nrhs,                                                                                  \
                           .lda = lda,                                                                                 \
                           .ldb = ldb};                                                                                \
        return queue(handle, (batched_work){SOLVE, one, (const void *const *)a, (void *const *)b,                      \
                                            (int *)(uintptr_t)pivots, info, batches});                                 \
    }                                                                                                                  \
    cublasStatus_t cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const a[], int lda,                  \
                                           const int *pivots, T *const c[], int ldc, int *info, int batches)           \
    {                                                                                                                  \
        solver_work one = {.call = SIM_BLAS_CALL("cublas" #L "getriBatched"),                                          \
                           .operation = GETRS,                                                                         \
                           .type = TYPE,                                                                               \
                           .m = n,                                                                                     \
                           .n = n,                                                                                     \
                           .k = n,                                                                                     \
                           .lda = lda,                                                                                 \
                           .ldb = ldc};                                                                                \
        return queue(handle, (batched_work){INVERT, one, (const void *const *)a, (void *const *)c,                     \
                                            (int *)(uintptr_t)pivots, info, batches});                                 \
    }
BATCHED(S, float, CUDA_R_32F)
BATCHED(D, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)
