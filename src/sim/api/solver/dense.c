// cuSOLVER for dense matrices: each function as work in its handle's stream, checked as cuBLAS calls are.
#include <stdlib.h>

#include "api/solver/solver.h"
#include "cusolverDn.h"
#include "sim/runtime_api.h"

struct cusolverDnContext {
    cudaStream_t stream;
    cusolverDeterministicMode_t mode;
};

struct cusolverDnParams {
    cusolverAlgMode_t algorithm;
};

// --- the handle -----------------------------------------------------------------------------------------------------

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    if (!*handle)
        return CUSOLVER_STATUS_ALLOC_FAILED;
    (*handle)->mode = CUSOLVER_DETERMINISTIC_RESULTS;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    if (!handle)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    cudaDeviceSynchronize(); // as cublasDestroy
    free(handle);
    return CUSOLVER_STATUS_SUCCESS;
}

#define SETTING(Name, type, value, field)                                                                              \
    cusolverStatus_t cusolverDnSet##Name(cusolverDnHandle_t handle, type value)                                        \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUSOLVER_STATUS_NOT_INITIALIZED;                                                                    \
        handle->field = value;                                                                                         \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    cusolverStatus_t cusolverDnGet##Name(cusolverDnHandle_t handle, type *value)                                       \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUSOLVER_STATUS_NOT_INITIALIZED;                                                                    \
        *value = handle->field;                                                                                        \
        return CUSOLVER_STATUS_SUCCESS;                                                                                \
    }
SETTING(Stream, cudaStream_t, stream, stream)
SETTING(DeterministicMode, cusolverDeterministicMode_t, mode, mode)

cusolverStatus_t cusolverGetVersion(int *version)
{
    *version = CUSOLVER_VERSION;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value)
{
    static const int version[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
    if (type > PATCH_LEVEL)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *value = version[type];
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
    *params = calloc(1, sizeof **params);
    return *params ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
    free(params);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm)
{
    (void)function;
    if (!params)
        return CUSOLVER_STATUS_INVALID_VALUE;
    params->algorithm = algorithm;
    return CUSOLVER_STATUS_SUCCESS;
}

// --- what is read and written ---------------------------------------------------------------------------------------

// A complex matrix is one of twice as many rows.
sim_blas_span sim_solver_matrix(const solver_work *w, const char *name, const void *data, int rows, int columns,
                                int stride)
{
    size_t parts = w->is_complex ? 2 : 1;
    return (sim_blas_span){name, data, w->type, parts * (size_t)rows, (size_t)columns, parts * (size_t)stride};
}

static void reads(const solver_work *w, const char *name, const void *data, int rows, int columns, int stride)
{
    sim_blas_span span = sim_solver_matrix(w, name, data, rows, columns, stride);
    sim_blas_reads(w->call, &span);
}

// Before the work (`done` false) that there is room, after it that it is there.
static void writes(const solver_work *w, bool done, const char *name, const void *data, int rows, int columns,
                   int stride)
{
    sim_blas_span span = sim_solver_matrix(w, name, data, rows, columns, stride);
    if (done)
        sim_blas_written(&span);
    else
        sim_blas_writes(w->call, &span);
}

// Columns of the triangle that is stored.
static void triangle(const solver_work *w, bool write, bool done)
{
    for (int j = 0; j < w->n; j++) {
        int first = w->upper ? 0 : j, rows = w->upper ? j + 1 : w->n - j;
        size_t at = ((size_t)first + (size_t)j * (size_t)w->lda) * sim_blas_size(w->type) * (w->is_complex ? 2 : 1);
        if (write)
            writes(w, done, "A", (const char *)w->a + at, rows, 1, rows);
        else
            reads(w, "A", (const char *)w->a + at, rows, 1, rows);
    }
}

static sim_blas_span plain(const char *name, const void *data, cudaDataType type, int n)
{
    return (sim_blas_span){name, data, type, (size_t)n, 1, (size_t)n};
}

static int smaller(int m, int n)
{
    return m < n ? m : n;
}

bool sim_solver_pivots(const solver_work *w)
{
    sim_blas_span span = plain("devIpiv", w->pivots, w->wide_pivots ? CUDA_R_64F : CUDA_R_32I, w->n);
    if (!w->pivots)
        return true;
    sim_blas_reads(w->call, &span);
    for (int i = 0; i < w->n; i++) {
        int64_t pivot = w->wide_pivots ? ((const int64_t *)w->pivots)[i] : ((const int32_t *)w->pivots)[i];
        if (pivot < 1 || pivot > w->n) {
            sim_library_wrong(w->call, "", "devIpiv[%d] is %lld, which is not a row of A", i, (long long)pivot);
            return false;
        }
    }
    return true;
}

static bool check_reads(const solver_work *w)
{
    switch (w->operation) {
    case GETRF:
    case GEQRF:
    case GESVD: reads(w, "A", w->a, w->m, w->n, w->lda); return true;
    case POTRF:
    case SYEVD: triangle(w, false, false); return true;
    case GETRS:
        reads(w, "A", w->a, w->n, w->n, w->lda);
        reads(w, "B", w->b, w->n, w->k, w->ldb);
        return sim_solver_pivots(w);
    case POTRS:
        triangle(w, false, false);
        reads(w, "B", w->b, w->n, w->k, w->ldb);
        return true;
    case ORMQR: reads(w, "C", w->b, w->m, w->n, w->ldb); break;
    case ORGQR:
    case GELS: break; // batched.c's alone
    }
    reads(w, "A", w->a, w->right ? w->n : w->m, w->k, w->lda);
    reads(w, "tau", w->tau, w->k, 1, w->k);
    return true;
}

static void check_values(const solver_work *w, bool done, const char *name, int n)
{
    sim_blas_span span = plain(name, w->tau, w->type, n);
    if (done)
        sim_blas_written(&span);
    else
        sim_blas_writes(w->call, &span);
}

static void check_writes_of_gesvd(const solver_work *w, bool done)
{
    check_values(w, done, "S", w->n);
    writes(w, done, "A", w->a, w->m, w->n, w->lda);
    if (w->jobu == 'A' || w->jobu == 'S')
        writes(w, done, "U", w->u, w->m, w->jobu == 'A' ? w->m : w->n, w->ldu);
    if (w->jobvt == 'A' || w->jobvt == 'S')
        writes(w, done, "VT", w->vt, w->n, w->n, w->ldvt);
}

static void check_writes(const solver_work *w, bool done)
{
    sim_blas_span info = plain("devInfo", w->info, CUDA_R_32I, 1);
    sim_blas_span pivots = plain("devIpiv", w->pivots, w->wide_pivots ? CUDA_R_64F : CUDA_R_32I, smaller(w->m, w->n));
    switch (w->operation) {
    case GETRF:
        if (w->pivots && done)
            sim_blas_written(&pivots);
        else if (w->pivots)
            sim_blas_writes(w->call, &pivots);
        writes(w, done, "A", w->a, w->m, w->n, w->lda);
        break;
    case GEQRF:
        writes(w, done, "tau", w->tau, smaller(w->m, w->n), 1, smaller(w->m, w->n)); // and A
    // fall through
    case ORGQR: writes(w, done, "A", w->a, w->m, w->n, w->lda); break;
    case POTRF: triangle(w, true, done); break;
    case GETRS:
    case POTRS: writes(w, done, "B", w->b, w->n, w->k, w->ldb); break;
    case ORMQR: writes(w, done, "C", w->b, w->m, w->n, w->ldb); break;
    case GESVD: check_writes_of_gesvd(w, done); break;
    case GELS: break;
    case SYEVD: check_values(w, done, "W", w->n); writes(w, done, "A", w->a, w->n, w->n, w->lda);
    }
    if (done)
        sim_blas_written(&info);
    else
        sim_blas_writes(w->call, &info);
}

static void solver_run(const void *work)
{
    const solver_work *w = work;
    sim_blas_span space =
        sim_solver_matrix(w, "the workspace", w->work, (int)w->work_elements, 1, (int)w->work_elements);
    sim_blas_writes(w->call, &space);
    check_writes(w, false);
    if (!check_reads(w))
        return;
    *(int *)w->info = sim_solver_run(w);
    sim_blas_used(&space, true);
    check_writes(w, true);
}

// --- arguments ------------------------------------------------------------------------------------------------------

// Elements of workspace. The library's own numbers change from version to version; these are enough to be noticed when
// they are not asked for.
static size_t workspace(solver_operation operation, int m, int n)
{
    enum { BLOCK = 32 };
    switch (operation) {
    case GETRF: return (size_t)m * (size_t)n;
    case POTRF: return (size_t)n * BLOCK + 1;
    case SYEVD: return 2 * (size_t)n * (size_t)n + 1;
    default: return (size_t)(m + n) * BLOCK + 1;
    }
}

#define WRONG(...)                                                                                                     \
    (sim_library_wrong(w.call, "CUSOLVER_STATUS_INVALID_VALUE", __VA_ARGS__), CUSOLVER_STATUS_INVALID_VALUE)

static cusolverStatus_t queue(cusolverDnHandle_t handle, solver_work w, int a_rows, int b_rows)
{
    if (!handle)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    bool tall = w.operation == GESVD || w.operation == ORGQR;
    if (w.m < 0 || w.n < 0 || w.k < 0)
        return WRONG("a size is negative: m = %d, n = %d, k or nrhs = %d", w.m, w.n, w.k);
    if (tall && w.m < w.n)
        return WRONG("m = %d is smaller than n = %d", w.m, w.n);
    if (w.lda < (a_rows > 1 ? a_rows : 1))
        return WRONG("lda = %d is smaller than A's %d rows", w.lda, a_rows);
    if (w.b && w.ldb < (b_rows > 1 ? b_rows : 1))
        return WRONG("the leading dimension %d is smaller than the %d rows of %s", w.ldb, b_rows,
                     w.operation == ORMQR ? "C" : "B");
    size_t needed = w.operation == GETRS || w.operation == POTRS ? 0 : workspace(w.operation, w.m, w.n);
    if (w.work_elements < needed)
        return WRONG("a workspace of %zu elements, and _bufferSize says %zu", w.work_elements, needed);
    if (w.m == 0 || w.n == 0)
        return CUSOLVER_STATUS_SUCCESS;
    return sim_library_queue(handle->stream, w.call, solver_run, &w, sizeof w, false)
               ? CUSOLVER_STATUS_SUCCESS
               : CUSOLVER_STATUS_EXECUTION_FAILED;
}

static cusolverStatus_t size_of(cusolverDnHandle_t handle, solver_operation operation, int m, int n, int *elements)
{
    if (!handle)
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || !elements)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *elements = (int)workspace(operation, m, n);
    return CUSOLVER_STATUS_SUCCESS;
}

#define ELEMENTS(count) ((count) > 0 ? (size_t)(count) : 0)
#define WORK(Name, OPERATION, ...)                                                                                     \
    ((solver_work){.call = SIM_BLAS_CALL("cusolverDn" Name),                                                           \
                   .operation = OPERATION,                                                                             \
                   .type = REAL_TYPE,                                                                                  \
                   .is_complex = IS_COMPLEX,                                                                           \
                   __VA_ARGS__})

#define T          float
#define R          float
#define F(part)    cusolverDnS##part
#define LETTER     "S"
#define OR(part)   cusolverDnSor##part
#define OR_NAME    "or"
#define SY(part)   cusolverDnSsy##part
#define SY_NAME    "sy"
#define REAL_TYPE  CUDA_R_32F
#define IS_COMPLEX false
#include "api/solver/dense_calls.h"
#define T          double
#define R          double
#define F(part)    cusolverDnD##part
#define LETTER     "D"
#define OR(part)   cusolverDnDor##part
#define OR_NAME    "or"
#define SY(part)   cusolverDnDsy##part
#define SY_NAME    "sy"
#define REAL_TYPE  CUDA_R_64F
#define IS_COMPLEX false
#include "api/solver/dense_calls.h"
#define T          cuComplex
#define R          float
#define F(part)    cusolverDnC##part
#define LETTER     "C"
#define OR(part)   cusolverDnCun##part
#define OR_NAME    "un"
#define SY(part)   cusolverDnChe##part
#define SY_NAME    "he"
#define REAL_TYPE  CUDA_R_32F
#define IS_COMPLEX true
#include "api/solver/dense_calls.h"
#define T          cuDoubleComplex
#define R          double
#define F(part)    cusolverDnZ##part
#define LETTER     "Z"
#define OR(part)   cusolverDnZun##part
#define OR_NAME    "un"
#define SY(part)   cusolverDnZhe##part
#define SY_NAME    "he"
#define REAL_TYPE  CUDA_R_64F
#define IS_COMPLEX true
#include "api/solver/dense_calls.h"

// --- the 64-bit functions -------------------------------------------------------------------------------------------

static bool is_type(cudaDataType type)
{
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
}

static size_t bytes_of(cudaDataType type)
{
    return type == CUDA_R_32F ? 4 : type == CUDA_C_64F ? 16 : 8;
}

#define REAL_TYPE  (a_type == CUDA_R_32F || a_type == CUDA_C_32F ? CUDA_R_32F : CUDA_R_64F)
#define IS_COMPLEX (a_type == CUDA_C_32F || a_type == CUDA_C_64F)

static cusolverStatus_t bytes_needed(cusolverDnHandle_t handle, solver_operation operation, int64_t m, int64_t n,
                                     cudaDataType a_type, size_t *on_device, size_t *on_host)
{
    int elements = 0;
    if (!is_type(a_type))
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    cusolverStatus_t status = size_of(handle, operation, (int)m, (int)n, &elements);
    *on_device = (size_t)elements * bytes_of(a_type);
    *on_host = 0;
    return status;
}

static cusolverStatus_t queue_64(cusolverDnHandle_t handle, cudaDataType a_type, solver_work w, size_t bytes,
                                 int64_t a_rows, int64_t b_rows)
{
    if (!is_type(a_type))
        return CUSOLVER_STATUS_NOT_SUPPORTED;
    w.wide_pivots = true;
    w.work_elements = bytes / bytes_of(a_type);
    return queue(handle, w, (int)a_rows, (int)b_rows);
}

// NOLINTBEGIN(readability-non-const-parameter): results are written later, through the work they are put into
cusolverStatus_t cusolverDnXgetrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType compute,
                                             size_t *bytes_on_device, size_t *bytes_on_host)
{
    (void)params, (void)A, (void)lda, (void)compute;
    return bytes_needed(handle, GETRF, m, n, a_type, bytes_on_device, bytes_on_host);
}

cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType a_type, void *A, int64_t lda, int64_t *ipiv, cudaDataType compute,
                                  void *on_device, size_t bytes_on_device, void *on_host, size_t bytes_on_host,
                                  int *info)
{
    (void)params, (void)compute, (void)on_host, (void)bytes_on_host;
    solver_work w = WORK("Xgetrf", GETRF, .m = (int)m, .n = (int)n, .lda = (int)lda, .a = A, .pivots = ipiv,
                         .info = info, .work = on_device);
    return queue_64(handle, a_type, w, bytes_on_device, m, 0);
}

cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasOperation_t trans,
                                  int64_t n, int64_t nrhs, cudaDataType a_type, const void *A, int64_t lda,
                                  const int64_t *ipiv, cudaDataType b_type, void *B, int64_t ldb, int *info)
{
    (void)params, (void)b_type;
    solver_work w = WORK("Xgetrs", GETRS, .transposed = trans != CUBLAS_OP_N, .conjugated = trans == CUBLAS_OP_C,
                         .m = (int)n, .n = (int)n, .k = (int)nrhs, .lda = (int)lda, .ldb = (int)ldb,
                         .a = (void *)(uintptr_t)A, .b = B, .pivots = (void *)(uintptr_t)ipiv, .info = info);
    return queue_64(handle, a_type, w, 0, n, n);
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n, cudaDataType a_type, const void *A,
                                             int64_t lda, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host)
{
    (void)params, (void)uplo, (void)A, (void)lda, (void)compute;
    return bytes_needed(handle, POTRF, n, n, a_type, bytes_on_device, bytes_on_host);
}

cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, cudaDataType a_type, void *A, int64_t lda, cudaDataType compute,
                                  void *on_device, size_t bytes_on_device, void *on_host, size_t bytes_on_host,
                                  int *info)
{
    (void)params, (void)compute, (void)on_host, (void)bytes_on_host;
    solver_work w = WORK("Xpotrf", POTRF, .upper = uplo == CUBLAS_FILL_MODE_UPPER, .m = (int)n, .n = (int)n,
                         .lda = (int)lda, .a = A, .info = info, .work = on_device);
    return queue_64(handle, a_type, w, bytes_on_device, n, 0);
}

cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t params, cublasFillMode_t uplo,
                                  int64_t n, int64_t nrhs, cudaDataType a_type, const void *A, int64_t lda,
                                  cudaDataType b_type, void *B, int64_t ldb, int *info)
{
    (void)params, (void)b_type;
    solver_work w =
        WORK("Xpotrs", POTRS, .upper = uplo == CUBLAS_FILL_MODE_UPPER, .m = (int)n, .n = (int)n, .k = (int)nrhs,
             .lda = (int)lda, .ldb = (int)ldb, .a = (void *)(uintptr_t)A, .b = B, .info = info);
    return queue_64(handle, a_type, w, 0, n, n);
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType tau_type,
                                             const void *tau, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host)
{
    (void)params, (void)A, (void)lda, (void)tau_type, (void)tau, (void)compute;
    return bytes_needed(handle, GEQRF, m, n, a_type, bytes_on_device, bytes_on_host);
}

cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m, int64_t n,
                                  cudaDataType a_type, void *A, int64_t lda, cudaDataType tau_type, void *tau,
                                  cudaDataType compute, void *on_device, size_t bytes_on_device, void *on_host,
                                  size_t bytes_on_host, int *info)
{
    (void)params, (void)tau_type, (void)compute, (void)on_host, (void)bytes_on_host;
    solver_work w = WORK("Xgeqrf", GEQRF, .m = (int)m, .n = (int)n, .lda = (int)lda, .a = A, .tau = tau, .info = info,
                         .work = on_device);
    return queue_64(handle, a_type, w, bytes_on_device, m, 0);
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t params,
                                             cusolverEigMode_t jobz, cublasFillMode_t uplo, int64_t n,
                                             cudaDataType a_type, const void *A, int64_t lda, cudaDataType w_type,
                                             const void *W, cudaDataType compute, size_t *bytes_on_device,
                                             size_t *bytes_on_host)
{
    (void)params, (void)jobz, (void)uplo, (void)A, (void)lda, (void)w_type, (void)W, (void)compute;
    return bytes_needed(handle, SYEVD, n, n, a_type, bytes_on_device, bytes_on_host);
}

cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t params, cusolverEigMode_t jobz,
                                  cublasFillMode_t uplo, int64_t n, cudaDataType a_type, void *A, int64_t lda,
                                  cudaDataType w_type, void *W, cudaDataType compute, void *on_device,
                                  size_t bytes_on_device, void *on_host, size_t bytes_on_host, int *info)
{
    (void)params, (void)w_type, (void)compute, (void)on_host, (void)bytes_on_host;
    solver_work w =
        WORK("Xsyevd", SYEVD, .upper = uplo == CUBLAS_FILL_MODE_UPPER, .vectors = jobz == CUSOLVER_EIG_MODE_VECTOR,
             .m = (int)n, .n = (int)n, .lda = (int)lda, .a = A, .tau = W, .info = info, .work = on_device);
    return queue_64(handle, a_type, w, bytes_on_device, n, 0);
}
// NOLINTEND(readability-non-const-parameter)
