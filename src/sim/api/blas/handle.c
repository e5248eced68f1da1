// cuBLAS: the handle and its settings, names of statuses, and copies of vectors and matrices between host and device.
#include <stdlib.h>

#include "api/blas/blas.h"
#include "sim/runtime_api.h"

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (!handle)
        return sim_blas_wrong(SIM_BLAS_CALL("cublasCreate"), "the output argument for the handle is NULL");
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    // cuBLAS waits for the device here, and programs have come to rely on it.
    cudaDeviceSynchronize();
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    static const int version[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    if (type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = version[type];
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion(void)
{
    return CUDART_VERSION;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    (void)workspace;
    (void)bytes;
    return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#define SETTING(Name, type, value, field)                                                                              \
    cublasStatus_t cublasSet##Name(cublasHandle_t handle, type value)                                                  \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        handle->field = value;                                                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }                                                                                                                  \
    cublasStatus_t cublasGet##Name(cublasHandle_t handle, type *value)                                                 \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        *value = handle->field;                                                                                        \
        return CUBLAS_STATUS_SUCCESS;                                                                                  \
    }
SETTING(Stream_v2, cudaStream_t, stream, stream)
SETTING(PointerMode_v2, cublasPointerMode_t, mode, pointer_mode)
SETTING(AtomicsMode, cublasAtomicsMode_t, mode, atomics_mode)
SETTING(MathMode, cublasMath_t, mode, math_mode)
SETTING(SmCountTarget, int, count, processors)

cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
    (void)on;
    (void)to_stdout;
    (void)to_stderr;
    (void)file;
    return CUBLAS_STATUS_SUCCESS;
}

typedef struct status_text {
    cublasStatus_t status;
    const char *name, *text;
} status_text;

static const status_text *status_find(cublasStatus_t status)
{
    static const status_text known[] = {
        {CUBLAS_STATUS_SUCCESS, "CUBLAS_STATUS_SUCCESS", "success"},
        {CUBLAS_STATUS_NOT_INITIALIZED, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized"},
        {CUBLAS_STATUS_ALLOC_FAILED, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed"},
        {CUBLAS_STATUS_INVALID_VALUE, "CUBLAS_STATUS_INVALID_VALUE",
         "an unsupported value or parameter was passed to the function"},
        {CUBLAS_STATUS_ARCH_MISMATCH, "CUBLAS_STATUS_ARCH_MISMATCH",
         "the function requires an architectural feature absent from the device"},
        {CUBLAS_STATUS_MAPPING_ERROR, "CUBLAS_STATUS_MAPPING_ERROR", "an access to GPU memory space failed"},
        {CUBLAS_STATUS_EXECUTION_FAILED, "CUBLAS_STATUS_EXECUTION_FAILED", "the GPU program failed to execute"},
        {CUBLAS_STATUS_INTERNAL_ERROR, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed"},
        {CUBLAS_STATUS_NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED", "the requested functionality is not supported"},
        {CUBLAS_STATUS_LICENSE_ERROR, "CUBLAS_STATUS_LICENSE_ERROR", "the requested functionality requires a license"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].status == status)
            return &known[i];
    return NULL;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    const status_text *found = status_find(status);
    return found ? found->name : "unknown";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    const status_text *found = status_find(status);
    return found ? found->text : "unknown status";
}

// --- copies ---------------------------------------------------------------------------------------------------------

static cublasStatus_t copy_columns(sim_blas_call call, int rows, int columns, int size, const void *from,
                                   int from_stride, void *to, int to_stride, enum cudaMemcpyKind kind,
                                   cudaStream_t stream, int async)
{
    if (rows < 0 || columns < 0 || size <= 0 || from_stride < (rows > 1 ? rows : 1) ||
        to_stride < (rows > 1 ? rows : 1))
        return sim_blas_wrong(call, "%d rows, %d columns, elements of %d bytes, strides %d and %d", rows, columns, size,
                              from_stride, to_stride);
    if (rows == 0 || columns == 0)
        return CUBLAS_STATUS_SUCCESS;
    size_t bytes = (size_t)size, width = (size_t)rows * bytes;
    cudaError_t error = async ? cudaMemcpy2DAsync(to, (size_t)to_stride * bytes, from, (size_t)from_stride * bytes,
                                                  width, (size_t)columns, kind, stream)
                              : cudaMemcpy2D(to, (size_t)to_stride * bytes, from, (size_t)from_stride * bytes, width,
                                             (size_t)columns, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb)
{
    return copy_columns(SIM_BLAS_CALL("cublasSetMatrix"), rows, columns, size, a, lda, b, ldb, cudaMemcpyHostToDevice,
                        0, 0);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void *a, int lda, void *b, int ldb)
{
    return copy_columns(SIM_BLAS_CALL("cublasGetMatrix"), rows, columns, size, a, lda, b, ldb, cudaMemcpyDeviceToHost,
                        0, 0);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *b, int ldb,
                                    cudaStream_t stream)
{
    return copy_columns(SIM_BLAS_CALL("cublasSetMatrixAsync"), rows, columns, size, a, lda, b, ldb,
                        cudaMemcpyHostToDevice, stream, 1);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int size, const void *a, int lda, void *b, int ldb,
                                    cudaStream_t stream)
{
    return copy_columns(SIM_BLAS_CALL("cublasGetMatrixAsync"), rows, columns, size, a, lda, b, ldb,
                        cudaMemcpyDeviceToHost, stream, 1);
}

// A vector is a matrix of one row; a dense one is copied in one piece.
static cublasStatus_t copy_vector(sim_blas_call call, int n, int size, const void *x, int incx, void *y, int incy,
                                  enum cudaMemcpyKind kind, cudaStream_t stream, int async)
{
    if (incx == 1 && incy == 1)
        return copy_columns(call, n, 1, size, x, n, y, n, kind, stream, async);
    return copy_columns(call, 1, n, size, x, incx, y, incy, kind, stream, async);
}

cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy)
{
    return copy_vector(SIM_BLAS_CALL("cublasSetVector"), n, size, x, incx, y, incy, cudaMemcpyHostToDevice, 0, 0);
}

cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy)
{
    return copy_vector(SIM_BLAS_CALL("cublasGetVector"), n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, 0, 0);
}

cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t stream)
{
    return copy_vector(SIM_BLAS_CALL("cublasSetVectorAsync"), n, size, x, incx, y, incy, cudaMemcpyHostToDevice, stream,
                       1);
}

cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t stream)
{
    return copy_vector(SIM_BLAS_CALL("cublasGetVectorAsync"), n, size, x, incx, y, incy, cudaMemcpyDeviceToHost, stream,
                       1);
}
