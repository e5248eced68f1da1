// cuBLAS's matrix products: all of them, plain, batched by pointers or by stride, are one piece of work here.
#include "api/blas/blas.h"

typedef struct product {
    sim_blas_call call;
    size_t m, n, k, batches;
    sim_blas_scalar alpha, beta;
    sim_blas_operand a, b;
    void *c;
    cudaDataType c_type;
    size_t c_stride;
    long long a_step, b_step, c_step; // elements from one batch to the next
    bool by_pointers;                 // a.data, b.data, c: device arrays of pointers instead
} product;

static const void *batch_of(const void *data, bool by_pointers, cudaDataType type, long long step, size_t batch)
{
    if (by_pointers)
        return ((const void *const *)data)[batch];
    return (const char *)data + step * (long long)batch * (long long)sim_blas_size(type);
}

static void check_pointers(const product *p, const char *name, const void *data)
{
    sim_blas_span list = {name, data, CUDA_R_64F, p->batches, 1, p->batches};
    sim_blas_reads(p->call, &list);
}

static void product_one(const product *p, double alpha, double beta, sim_blas_operand a, sim_blas_operand b, void *c)
{
    sim_blas_span span_a = {"A", a.data, a.type, a.transposed ? p->k : p->m, a.transposed ? p->m : p->k, a.stride};
    sim_blas_span span_b = {"B", b.data, b.type, b.transposed ? p->n : p->k, b.transposed ? p->k : p->n, b.stride};
    sim_blas_span span_c = {"C", c, p->c_type, p->m, p->n, p->c_stride};
    if (alpha != 0 && p->k > 0) {
        sim_blas_reads(p->call, &span_a);
        sim_blas_reads(p->call, &span_b);
        sim_blas_apart(p->call, &span_c, &span_a);
        sim_blas_apart(p->call, &span_c, &span_b);
    }
    if (beta != 0)
        sim_blas_reads(p->call, &span_c);
    sim_blas_writes(p->call, &span_c);
    sim_blas_multiply(p->m, p->n, p->k, alpha, a, b, beta, c, p->c_type, p->c_stride);
    sim_blas_written(&span_c);
}

// The matrices of a strided batch are written in any order, so no two may share an element; what neighbours do, all do.
static void check_batches(const product *p)
{
    if (p->batches < 2 || p->by_pointers)
        return;
    const void *next = batch_of(p->c, false, p->c_type, p->c_step, 1);
    const sim_blas_span c[2] = {{"C", p->c, p->c_type, p->m, p->n, p->c_stride},
                                {"C", next, p->c_type, p->m, p->n, p->c_stride}};
    if (sim_blas_overlap(&c[0], &c[1]))
        sim_library_wrong(
            p->call, "", "stridec = %lld: C of one product overlaps C of the next: the result is undefined", p->c_step);
}

static void product_run(const void *work)
{
    const product *p = work;
    double alpha = sim_blas_scalar_value(p->call, "alpha", &p->alpha);
    double beta = sim_blas_scalar_value(p->call, "beta", &p->beta);
    if (p->by_pointers) {
        check_pointers(p, "Aarray", p->a.data);
        check_pointers(p, "Barray", p->b.data);
        check_pointers(p, "Carray", p->c);
    }
    check_batches(p);
    for (size_t batch = 0; batch < p->batches; batch++) {
        sim_blas_operand a = p->a, b = p->b;
        a.data = batch_of(p->a.data, p->by_pointers, a.type, p->a_step, batch);
        b.data = batch_of(p->b.data, p->by_pointers, b.type, p->b_step, batch);
        void *c = (void *)(uintptr_t)batch_of(p->c, p->by_pointers, p->c_type, p->c_step, batch);
        product_one(p, alpha, beta, a, b, c);
    }
}

typedef struct shape {
    cublasOperation_t transa, transb;
    int m, n, k, lda, ldb, ldc, batches;
} shape;

static cublasStatus_t check_shape(sim_blas_call call, const shape *s)
{
    int a_rows = s->transa == CUBLAS_OP_N ? s->m : s->k, b_rows = s->transb == CUBLAS_OP_N ? s->k : s->n;
    if (s->m < 0 || s->n < 0 || s->k < 0 || s->batches < 0)
        return sim_blas_wrong(call, "m = %d, n = %d, k = %d, %d batches: none may be negative", s->m, s->n, s->k,
                              s->batches);
    if (s->lda < (a_rows > 1 ? a_rows : 1))
        return sim_blas_wrong(call, "lda = %d is smaller than A's %d rows", s->lda, a_rows);
    if (s->ldb < (b_rows > 1 ? b_rows : 1))
        return sim_blas_wrong(call, "ldb = %d is smaller than B's %d rows", s->ldb, b_rows);
    if (s->ldc < (s->m > 1 ? s->m : 1))
        return sim_blas_wrong(call, "ldc = %d is smaller than C's %d rows", s->ldc, s->m);
    return CUBLAS_STATUS_SUCCESS;
}

typedef struct operands {
    cudaDataType scalar_type, a_type, b_type, c_type;
    const void *alpha, *beta, *a, *b;
    void *c;
    long long a_step, b_step, c_step;
    bool by_pointers;
} operands;

static cublasStatus_t queue_product(cublasHandle_t handle, sim_blas_call call, const shape *s, const operands *o)
{
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    cublasStatus_t status = check_shape(call, s);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (!o->alpha || !o->beta)
        return sim_blas_wrong(call, "alpha and beta must not be NULL");
    if (!sim_blas_size(o->a_type) || !sim_blas_size(o->b_type) || !sim_blas_size(o->c_type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (s->m == 0 || s->n == 0 || s->batches == 0)
        return CUBLAS_STATUS_SUCCESS;
    product p = {.call = call,
                 .m = (size_t)s->m,
                 .n = (size_t)s->n,
                 .k = (size_t)s->k,
                 .batches = (size_t)s->batches,
                 .alpha = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), o->scalar_type, o->alpha),
                 .beta = sim_blas_scalar_of(call, sim_blas_numbers_on_device(handle), o->scalar_type, o->beta),
                 .a = {o->a, o->a_type, (size_t)s->lda, s->transa != CUBLAS_OP_N},
                 .b = {o->b, o->b_type, (size_t)s->ldb, s->transb != CUBLAS_OP_N},
                 .c = o->c,
                 .c_type = o->c_type,
                 .c_stride = (size_t)s->ldc,
                 .a_step = o->a_step,
                 .b_step = o->b_step,
                 .c_step = o->c_step,
                 .by_pointers = o->by_pointers};
    return sim_blas_queue(handle, call, product_run, &p, sizeof p, false);
}

// --- one type -------------------------------------------------------------------------------------------------------

#define XT_PRODUCT(L, T, type)                                                                                         \
    cublasStatus_t cublasXt##L##gemm(cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,      \
                                     size_t m, size_t n, size_t k, const T *alpha, const T *a, size_t lda, const T *b, \
                                     size_t ldb, const T *beta, T *c, size_t ldc)                                      \
    {                                                                                                                  \
        if (!handle)                                                                                                   \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                                      \
        if (!SIM_BLAS_XT_FITS(m, n, k, lda, ldb, ldc))                                                                 \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                                        \
        shape s = {transa, transb, (int)m, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc, 1};                           \
        operands o = {type, type, type, type, alpha, beta, a, b, c, 0, 0, 0, false};                                   \
        return sim_blas_xt_wait(handle, queue_product(&handle->blas, SIM_BLAS_XT_CALL("cublasXt" #L "gemm"), &s, &o)); \
    }
// NOLINTBEGIN(readability-non-const-parameter): the result is written through the work it is put into
XT_PRODUCT(S, float, CUDA_R_32F)
XT_PRODUCT(D, double, CUDA_R_64F)
// NOLINTEND(readability-non-const-parameter)

#define PRODUCTS(L, suffix, T, type)                                                                                   \
    cublasStatus_t cublas##L##gemm##suffix(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,  \
                                           int m, int n, int k, const T *alpha, const T *a, int lda, const T *b,       \
                                           int ldb, const T *beta, T *c, int ldc)                                      \
    {                                                                                                                  \
        shape s = {transa, transb, m, n, k, lda, ldb, ldc, 1};                                                         \
        operands o = {type, type, type, type, alpha, beta, a, b, c, 0, 0, 0, false};                                   \
        return queue_product(handle, SIM_BLAS_CALL("cublas" #L "gemm"), &s, &o);                                       \
    }                                                                                                                  \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,   \
                                          int m, int n, int k, const T *alpha, const T *const a[], int lda,            \
                                          const T *const b[], int ldb, const T *beta, T *const c[], int ldc,           \
                                          int batches)                                                                 \
    {                                                                                                                  \
        shape s = {transa, transb, m, n, k, lda, ldb, ldc, batches};                                                   \
        operands o = {type, type, type, type, alpha, beta, a, b, (void *)(uintptr_t)c, 0, 0, 0, true};                 \
        return queue_product(handle, SIM_BLAS_CALL("cublas" #L "gemmBatched"), &s, &o);                                \
    }                                                                                                                  \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,                \
        const T *alpha, const T *a, int lda, long long int stridea, const T *b, int ldb, long long int strideb,        \
        const T *beta, T *c, int ldc, long long int stridec, int batches)                                              \
    {                                                                                                                  \
        shape s = {transa, transb, m, n, k, lda, ldb, ldc, batches};                                                   \
        operands o = {type, type, type, type, alpha, beta, a, b, c, stridea, strideb, stridec, false};                 \
        return queue_product(handle, SIM_BLAS_CALL("cublas" #L "gemmStridedBatched"), &s, &o);                         \
    }
// NOLINTBEGIN(readability-non-const-parameter): the result is written later, through the operands it is put into
PRODUCTS(S, _v2, float, CUDA_R_32F)
PRODUCTS(D, _v2, double, CUDA_R_64F)
PRODUCTS(H, , __half, CUDA_R_16F)
// NOLINTEND(readability-non-const-parameter)

// --- any type -------------------------------------------------------------------------------------------------------

static cudaDataType scalar_of_compute(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    default: return CUDA_R_32F;
    }
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                             cudaDataType b_type, int ldb, const float *beta, void *c, cudaDataType c_type, int ldc)
{
    shape s = {transa, transb, m, n, k, lda, ldb, ldc, 1};
    operands o = {CUDA_R_32F, a_type, b_type, c_type, alpha, beta, a, b, c, 0, 0, 0, false};
    return queue_product(handle, SIM_BLAS_CALL("cublasSgemmEx"), &s, &o);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                            cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    shape s = {transa, transb, m, n, k, lda, ldb, ldc, 1};
    operands o = {scalar_of_compute(compute), a_type, b_type, c_type, alpha, beta, a, b, c, 0, 0, 0, false};
    return queue_product(handle, SIM_BLAS_CALL("cublasGemmEx"), &s, &o);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void *alpha, const void *const a[], cudaDataType a_type, int lda,
                                   const void *const b[], cudaDataType b_type, int ldb, const void *beta,
                                   void *const c[], cudaDataType c_type, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    shape s = {transa, transb, m, n, k, lda, ldb, ldc, batches};
    operands o = {scalar_of_compute(compute), a_type, b_type, c_type, alpha, beta, a, b,
                  (void *)(uintptr_t)c,       0,      0,      0,      true};
    return queue_product(handle, SIM_BLAS_CALL("cublasGemmBatchedEx"), &s, &o);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                                          int lda, long long int stridea, const void *b, cudaDataType b_type, int ldb,
                                          long long int strideb, const void *beta, void *c, cudaDataType c_type,
                                          int ldc, long long int stridec, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    shape s = {transa, transb, m, n, k, lda, ldb, ldc, batches};
    operands o = {
        scalar_of_compute(compute), a_type, b_type, c_type, alpha, beta, a, b, c, stridea, strideb, stridec, false};
    return queue_product(handle, SIM_BLAS_CALL("cublasGemmStridedBatchedEx"), &s, &o);
}
