// cuBLAS level 1: vectors. One work for all: a function over two strided vectors and a result. Sums are made in double.
#include <math.h>

#include "api/blas/blas.h"

typedef enum vector_operation { AXPY, SCAL, COPY, SWAP, DOT, NRM2, ASUM, AMAX, AMIN, ROT } vector_operation;

typedef struct vector_function {
    sim_blas_call call;
    vector_operation operation;
    cudaDataType type;
} vector_function;

typedef struct vector_work {
    sim_blas_call call;
    vector_operation operation;
    cudaDataType type;
    int n, incx, incy;
    sim_blas_scalar alpha, beta; // or cosine and sine
    void *x, *y, *result;
} vector_work;

static sim_blas_span vector_span(const char *name, const void *data, cudaDataType type, int n, int increment)
{
    size_t step = (size_t)(increment < 0 ? -increment : increment);
    return (sim_blas_span){
        name, data, type, step == 1 ? (size_t)n : 1, step == 1 ? 1 : (size_t)n, step == 1 ? (size_t)n : step};
}

static double combine(const vector_work *w)
{
    double sum = 0, best = w->operation == AMIN ? INFINITY : -1;
    int where = 0;
    for (int i = 0; i < w->n; i++) {
        double x = sim_blas_load(w->type, w->x, sim_blas_element(i, w->n, w->incx));
        if (w->operation == DOT)
            sum += x * sim_blas_load(w->type, w->y, sim_blas_element(i, w->n, w->incy));
        else if (w->operation == NRM2)
            sum += x * x;
        else if (w->operation == ASUM)
            sum += fabs(x);
        else if (w->operation == AMAX ? fabs(x) > best : fabs(x) < best) {
            best = fabs(x);
            where = i + 1; // counted from one, as in Fortran
        }
    }
    return w->operation == AMAX || w->operation == AMIN ? where : w->operation == NRM2 ? sqrt(sum) : sum;
}

static void change(const vector_work *w, double alpha, double beta)
{
    for (int i = 0; i < w->n; i++) {
        size_t at_x = sim_blas_element(i, w->n, w->incx), at_y = w->y ? sim_blas_element(i, w->n, w->incy) : 0;
        double x = sim_blas_load(w->type, w->x, at_x), y = w->y ? sim_blas_load(w->type, w->y, at_y) : 0;
        switch (w->operation) {
        case AXPY: sim_blas_store(w->type, w->y, at_y, alpha * x + y); break;
        case SCAL: sim_blas_store(w->type, w->x, at_x, alpha * x); break;
        case COPY: sim_blas_store(w->type, w->y, at_y, x); break;
        case SWAP:
            sim_blas_store(w->type, w->x, at_x, y);
            sim_blas_store(w->type, w->y, at_y, x);
            break;
        default: // ROT
            sim_blas_store(w->type, w->x, at_x, alpha * x + beta * y);
            sim_blas_store(w->type, w->y, at_y, alpha * y - beta * x);
        }
    }
}

// Elements are taken in any order: y may be x itself, and share no element with it otherwise.
static void check_overlap(const vector_work *w, double alpha, const sim_blas_span *x, const sim_blas_span *y)
{
    const bool same = w->x == w->y && (w->incx == w->incy || w->n == 1);
    if (w->y && !same && (w->operation != AXPY || alpha != 0))
        sim_blas_apart(w->call, y, x);
}

static void vector_run(const void *work)
{
    const vector_work *w = work;
    sim_blas_span x = vector_span("x", w->x, w->type, w->n, w->incx),
                  y = vector_span("y", w->y, w->type, w->n, w->incy);
    sim_blas_reads(w->call, &x);
    if (w->y && w->operation != COPY)
        sim_blas_reads(w->call, &y);
    else if (w->y)
        sim_blas_writes(w->call, &y);
    if (!w->result) {
        double alpha = sim_blas_scalar_value(w->call, w->operation == ROT ? "c" : "alpha", &w->alpha);
        double beta = sim_blas_scalar_value(w->call, w->operation == ROT ? "s" : "beta", &w->beta);
        check_overlap(w, alpha, &x, &y);
        change(w, alpha, beta);
        if (w->operation != SCAL)
            sim_blas_written(&y);
        if (w->operation != AXPY && w->operation != COPY)
            sim_blas_written(&x);
        return;
    }
    bool index = w->operation == AMAX || w->operation == AMIN;
    sim_blas_span result = {"result", w->result, index ? CUDA_R_32I : w->type, 1, 1, 1};
    if (w->alpha.device)
        sim_blas_writes(w->call, &result);
    sim_blas_store(result.type, w->result, 0, combine(w));
    if (w->alpha.device)
        sim_blas_written(&result);
}

// Arguments that a function does not take are 0; a result on the host is there when this returns.
static cublasStatus_t queue_vector(cublasHandle_t handle, vector_function function, int n, const void *alpha,
                                   const void *beta, const void *x, int incx, const void *y, int incy, void *result)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    const bool on_device = sim_blas_numbers_on_device(handle), on_host = result && !on_device;
    const bool index = function.operation == AMAX || function.operation == AMIN;
    const cudaDataType result_type = index ? CUDA_R_32I : function.type;
    vector_work w = {.call = function.call, .operation = function.operation, .type = function.type};
    w.n = n, w.incx = incx, w.incy = incy;
    w.x = (void *)(uintptr_t)x, w.y = (void *)(uintptr_t)y, w.result = result;
    w.alpha = sim_blas_scalar_of(w.call, on_device, w.type, alpha);
    w.beta = sim_blas_scalar_of(w.call, on_device, w.type, beta);
    if (n <= 0) {
        if (on_host)
            sim_blas_store(result_type, result, 0, 0);
        return CUBLAS_STATUS_SUCCESS;
    }
    if (result && on_device)
        w.alpha.device = result; // marks that the result lies on the device
    cublasStatus_t status = sim_blas_queue(handle, w.call, vector_run, &w, sizeof w, on_host);
    if (on_host)
        sim_blas_used_by_host(w.call, result_type, result, true);
    return status;
}

#define FUNCTION(NAME, OPERATION, t) ((vector_function){SIM_BLAS_CALL("cublas" NAME), OPERATION, t})

#define VECTORS(L, l, T, t)                                                                                            \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y,        \
                                      int incy)                                                                        \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "axpy", AXPY, t), n, alpha, 0, x, incx, y, incy, 0);                   \
    }                                                                                                                  \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)                    \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "scal", SCAL, t), n, alpha, 0, x, incx, 0, 0, 0);                      \
    }                                                                                                                  \
    cublasStatus_t cublas##L##rot_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *c,         \
                                     const T *s)                                                                       \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "rot", ROT, t), n, c, s, x, incx, y, incy, 0);                         \
    }                                                                                                                  \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy)              \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "copy", COPY, t), n, 0, 0, x, incx, y, incy, 0);                       \
    }                                                                                                                  \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)                    \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "swap", SWAP, t), n, 0, 0, x, incx, y, incy, 0);                       \
    }                                                                                                                  \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,         \
                                     T *result)                                                                        \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#L "dot", DOT, t), n, 0, 0, x, incx, y, incy, result);                    \
    }                                                                                                                  \
    RESULT(L##nrm2, NRM2, T, T, t)                                                                                     \
    RESULT(L##asum, ASUM, T, T, t)                                                                                     \
    RESULT(I##l##amax, AMAX, T, int, t)                                                                                \
    RESULT(I##l##amin, AMIN, T, int, t)

#define RESULT(name, OPERATION, T, R, t)                                                                               \
    cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const T *x, int incx, R *result)                    \
    {                                                                                                                  \
        return queue_vector(handle, FUNCTION(#name, OPERATION, t), n, 0, 0, x, incx, 0, 0, result);                    \
    }

// NOLINTBEGIN(readability-non-const-parameter): vectors are written later, through the work they are put into
VECTORS(S, s, float, CUDA_R_32F)
VECTORS(D, d, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)

// Types that differ have rules of their own, which cuBLAS itself supports only in part.
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *result, cudaDataType result_type,
                           cudaDataType execution_type)
{
    (void)execution_type; // sums are made in double
    if (x_type != y_type || x_type != result_type || sim_blas_size(x_type) == 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return queue_vector(handle, FUNCTION("DotEx", DOT, x_type), n, 0, 0, x, incx, y, incy, result);
}
