// cuSPARSE: the handle, its settings, names of statuses, and the descriptors of the older functions.
#include <stdlib.h>

#include "api/sparse/sparse.h"
#include "sim/runtime_api.h"

cusparseStatus_t cusparseCreate(cusparseHandle_t *handle)
{
    if (!handle)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle)
{
    if (!handle)
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    cudaDeviceSynchronize(); // as cublasDestroy
    free(handle);
    return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
    *version = CUSPARSE_VERSION;
    return handle ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_NOT_INITIALIZED;
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int *value)
{
    static const int version[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
    if (type > PATCH_LEVEL)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *value = version[type];
    return CUSPARSE_STATUS_SUCCESS;
}

#define SETTING(Name, type, value, field)                                                                              \
    cusparseStatus_t cusparseSet##Name(cusparseHandle_t handle, type value)                                            \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUSPARSE_STATUS_NOT_INITIALIZED;                                                                    \
        handle->field = value;                                                                                         \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    cusparseStatus_t cusparseGet##Name(cusparseHandle_t handle, type *value)                                           \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUSPARSE_STATUS_NOT_INITIALIZED;                                                                    \
        *value = handle->field;                                                                                        \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }
SETTING(Stream, cudaStream_t, stream, stream)
SETTING(PointerMode, cusparsePointerMode_t, mode, pointer_mode)

static const struct {
    const char *name, *text;
} statuses[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "texture binding error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};

const char *cusparseGetErrorName(cusparseStatus_t status)
{
    return (size_t)status < sizeof statuses / sizeof statuses[0] ? statuses[status].name : "unrecognized error code";
}

const char *cusparseGetErrorString(cusparseStatus_t status)
{
    return (size_t)status < sizeof statuses / sizeof statuses[0] ? statuses[status].text : "unrecognized error code";
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t *matrix)
{
    *matrix = calloc(1, sizeof **matrix);
    return *matrix ? CUSPARSE_STATUS_SUCCESS : CUSPARSE_STATUS_ALLOC_FAILED;
}

cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix)
{
    free(matrix);
    return CUSPARSE_STATUS_SUCCESS;
}

#define PROPERTY(Name, T, value, field)                                                                                \
    cusparseStatus_t cusparseSet##Name(cusparseMatDescr_t matrix, T value)                                             \
    {                                                                                                                  \
        if (!matrix)                                                                                                   \
            return CUSPARSE_STATUS_INVALID_VALUE;                                                                      \
        matrix->field = value;                                                                                         \
        return CUSPARSE_STATUS_SUCCESS;                                                                                \
    }                                                                                                                  \
    T cusparseGet##Name(cusparseMatDescr_t matrix)                                                                     \
    {                                                                                                                  \
        return matrix->field;                                                                                          \
    }
PROPERTY(MatType, cusparseMatrixType_t, type, type)
PROPERTY(MatFillMode, cusparseFillMode_t, fill, fill)
PROPERTY(MatDiagType, cusparseDiagType_t, diagonal, diagonal)
PROPERTY(MatIndexBase, cusparseIndexBase_t, base, base)
