// cuBLAS level 1: vectors. One work for all: a function over two strided vectors and a result. Sums are made in double.
#include <math.h>

#include "api/blas/blas.h"

typedef enum vector_operation { AXPY, SCAL, COPY, SWAP, DOT, NRM2, ASUM, AMAX, AMIN, ROT } vector_operation;

typedef struct vector_work {
    sim_blas_call call;
    vector_operation operation;
    cudaDataType type;
    int n, incx, incy;
    sim_blas_scalar alpha, beta; // or cosine and sine
    void *x, *y, *result;
} vector_work;

// Where element i lies: a negative increment walks backwards from the far end.
static size_t element(int i, int n, int increment)
{
    return (size_t)(increment >= 0 ? (long)i * increment : (long)(i - n + 1) * increment);
}

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
        double x = sim_blas_load(w->type, w->x, element(i, w->n, w->incx));
        if (w->operation == DOT)
            sum += x * sim_blas_load(w->type, w->y, element(i, w->n, w->incy));
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
        size_t at_x = element(i, w->n, w->incx), at_y = w->y ? element(i, w->n, w->incy) : 0;
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

static cublasStatus_t queue_vector(cublasHandle_t handle, vector_work w)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    bool on_host = w.result && !sim_blas_numbers_on_device(handle);
    if (w.n <= 0) {
        if (on_host)
            sim_blas_store(w.operation == AMAX || w.operation == AMIN ? CUDA_R_32I : w.type, w.result, 0, 0);
        return CUBLAS_STATUS_SUCCESS;
    }
    if (w.result && !on_host)
        w.alpha.device = w.result; // marks that the result lies on the device
    cublasStatus_t status = sim_blas_queue(handle, w.call, vector_run, &w, sizeof w, on_host);
    if (on_host)
        sim_blas_used_by_host(w.call, w.operation == AMAX || w.operation == AMIN ? CUDA_R_32I : w.type, w.result, true);
    return status;
}

#define VECTORS(L, l, T, t)                                                                                            \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y,        \
                                      int incy)                                                                        \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #L "axpy");                                                        \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        return queue_vector(                                                                                           \
            handle, (vector_work){.call = call,                                                                        \
                                  .operation = AXPY,                                                                   \
                                  .type = t,                                                                           \
                                  .n = n,                                                                              \
                                  .incx = incx,                                                                        \
                                  .incy = incy,                                                                        \
                                  .alpha = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), t, alpha),     \
                                  .x = (void *)(uintptr_t)x,                                                           \
                                  .y = y});                                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)                    \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #L "scal");                                                        \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        return queue_vector(                                                                                           \
            handle, (vector_work){.call = call,                                                                        \
                                  .operation = SCAL,                                                                   \
                                  .type = t,                                                                           \
                                  .n = n,                                                                              \
                                  .incx = incx,                                                                        \
                                  .alpha = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), t, alpha),     \
                                  .x = x});                                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##L##rot_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy, const T *c,         \
                                     const T *s)                                                                       \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #L "rot");                                                         \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        return queue_vector(handle,                                                                                    \
                            (vector_work){.call = call,                                                                \
                                          .operation = ROT,                                                            \
                                          .type = t,                                                                   \
                                          .n = n,                                                                      \
                                          .incx = incx,                                                                \
                                          .incy = incy,                                                                \
                                          .alpha = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), t, c), \
                                          .beta = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), t, s),  \
                                          .x = x,                                                                      \
                                          .y = y});                                                                    \
    }                                                                                                                  \
    TWO_VECTORS(L, copy, COPY, const T, T, t)                                                                          \
    TWO_VECTORS(L, swap, SWAP, T, T, t)                                                                                \
    RESULT(L##nrm2, NRM2, T, T, t)                                                                                     \
    RESULT(L##asum, ASUM, T, T, t)                                                                                     \
    RESULT(I##l##amax, AMAX, T, int, t)                                                                                \
    RESULT(I##l##amin, AMIN, T, int, t)                                                                                \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy,         \
                                     T *result)                                                                        \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #L "dot");                                                         \
        return queue_vector(handle, (vector_work){.call = call,                                                        \
                                                  .operation = DOT,                                                    \
                                                  .type = t,                                                           \
                                                  .n = n,                                                              \
                                                  .incx = incx,                                                        \
                                                  .incy = incy,                                                        \
                                                  .x = (void *)(uintptr_t)x,                                           \
                                                  .y = (void *)(uintptr_t)y,                                           \
                                                  .result = result});                                                  \
    }
#define TWO_VECTORS(L, name, OPERATION, X, Y, t)                                                                       \
    cublasStatus_t cublas##L##name##_v2(cublasHandle_t handle, int n, X *x, int incx, Y *y, int incy)                  \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #L#name);                                                          \
        return queue_vector(handle, (vector_work){.call = call,                                                        \
                                                  .operation = OPERATION,                                              \
                                                  .type = t,                                                           \
                                                  .n = n,                                                              \
                                                  .incx = incx,                                                        \
                                                  .incy = incy,                                                        \
                                                  .x = (void *)(uintptr_t)x,                                           \
                                                  .y = y});                                                            \
    }
#define RESULT(name, OPERATION, T, R, t)                                                                               \
    cublasStatus_t cublas##name##_v2(cublasHandle_t handle, int n, const T *x, int incx, R *result)                    \
    {                                                                                                                  \
        sim_blas_call call = SIM_BLAS_CALL("cublas" #name);                                                            \
        return queue_vector(handle, (vector_work){.call = call,                                                        \
                                                  .operation = OPERATION,                                              \
                                                  .type = t,                                                           \
                                                  .n = n,                                                              \
                                                  .incx = incx,                                                        \
                                                  .x = (void *)(uintptr_t)x,                                           \
                                                  .result = result});                                                  \
    }
VECTORS(S, s, float, CUDA_R_32F)
VECTORS(D, d, double, CUDA_R_64F)
