// cuBLASLt: descriptors as plain records, and its matrix product with epilogue as one piece of work in the stream.
// Products themselves are multiply.c's; here a batch is computed in float (or the output's own wide type), finished
// with bias and activation, and stored.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"
#include "cublasLt.h"

typedef struct matrix_layout {
    cudaDataType type;
    cublasLtOrder_t order;
    uint64_t rows, columns;
    int64_t stride, batch_step;
    int32_t batches;
} matrix_layout;

typedef struct description {
    cublasComputeType_t compute;
    cudaDataType scale;
    cublasLtPointerMode_t pointer_mode;
    cublasOperation_t transa, transb;
    cublasLtEpilogue_t epilogue;
    const void *bias;
    int64_t bias_step;
    void *auxiliary; // what the activation was applied to, kept for the backward pass
    int64_t auxiliary_stride, auxiliary_step;
    int32_t bias_type, auxiliary_type; // -1: the output's
} description;

_Static_assert(sizeof(matrix_layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "a layout fits in its handle");
_Static_assert(sizeof(description) <= sizeof(cublasLtMatmulDescOpaque_t), "a description fits in its handle");

// --- descriptors ----------------------------------------------------------------------------------------------------

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate_v2((cublasHandle_t *)handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy_v2((cublasHandle_t)handle);
}

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

size_t cublasLtGetCudartVersion(void)
{
    return cublasGetCudartVersion();
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusString(status);
}

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size, cudaDataType type,
                                                 uint64_t rows, uint64_t cols, int64_t ld)
{
    matrix_layout fresh = {type, CUBLASLT_ORDER_COL, rows, cols, ld, 0, 1};
    memset(layout, 0, size);
    memcpy(layout, &fresh, sizeof fresh);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size, cublasComputeType_t compute,
                                               cudaDataType scale)
{
    description fresh = {.compute = compute,
                         .scale = scale,
                         .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                         .bias_type = -1,
                         .auxiliary_type = -1};
    memset(desc, 0, size);
    memcpy(desc, &fresh, sizeof fresh);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size)
{
    memset(preference, 0, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t ld)
{
    *layout = malloc(sizeof **layout);
    return *layout ? cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld) : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale)
{
    *desc = malloc(sizeof **desc);
    return *desc ? cublasLtMatmulDescInit(*desc, compute, scale) : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    *preference = malloc(sizeof **preference);
    return *preference ? cublasLtMatmulPreferenceInit(*preference) : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    free(desc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}

// --- attributes -----------------------------------------------------------------------------------------------------

typedef struct place {
    void *field; // NULL: an attribute that changes nothing here
    size_t bytes;
} place;
#define PLACE(field) ((place){&(field), sizeof(field)})

static place layout_place(matrix_layout *l, cublasLtMatrixLayoutAttribute_t attribute)
{
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return PLACE(l->type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return PLACE(l->order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return PLACE(l->rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return PLACE(l->columns);
    case CUBLASLT_MATRIX_LAYOUT_LD: return PLACE(l->stride);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return PLACE(l->batches);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return PLACE(l->batch_step);
    default: return (place){NULL, 0};
    }
}

static place description_place(description *d, cublasLtMatmulDescAttributes_t attribute)
{
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return PLACE(d->compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return PLACE(d->scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return PLACE(d->pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return PLACE(d->transa);
    case CUBLASLT_MATMUL_DESC_TRANSB: return PLACE(d->transb);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return PLACE(d->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return PLACE(d->bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return PLACE(d->bias_step);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return PLACE(d->bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return PLACE(d->auxiliary);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return PLACE(d->auxiliary_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return PLACE(d->auxiliary_step);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE: return PLACE(d->auxiliary_type);
    default: return (place){NULL, 0};
    }
}

static cublasStatus_t set(sim_blas_call call, place to, const void *value, size_t bytes)
{
    if (!to.field)
        return CUBLAS_STATUS_SUCCESS;
    if (!value || bytes < to.bytes)
        return sim_blas_wrong(call, "the attribute takes %zu bytes, %zu are given", to.bytes, bytes);
    memcpy(to.field, value, to.bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get(sim_blas_call call, place from, void *value, size_t bytes, size_t *written)
{
    if (!from.field)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (written)
        *written = from.bytes;
    if (!value || bytes < from.bytes)
        return sim_blas_wrong(call, "the attribute has %zu bytes, %zu are wanted", from.bytes, bytes);
    memcpy(value, from.field, from.bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void *value,
                                                size_t bytes)
{
    return set(SIM_BLAS_CALL("cublasLtMatrixLayoutSetAttribute"), layout_place((matrix_layout *)layout, attribute),
               value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, void *value, size_t bytes,
                                                size_t *written)
{
    return get(SIM_BLAS_CALL("cublasLtMatrixLayoutGetAttribute"), layout_place((matrix_layout *)layout, attribute),
               value, bytes, written);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    return set(SIM_BLAS_CALL("cublasLtMatmulDescSetAttribute"), description_place((description *)desc, attribute),
               value, bytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
                                              void *value, size_t bytes, size_t *written)
{
    return get(SIM_BLAS_CALL("cublasLtMatmulDescGetAttribute"), description_place((description *)desc, attribute),
               value, bytes, written);
}

// Preferences choose among algorithms, and there is one.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                                                    size_t bytes)
{
    (void)attribute;
    (void)bytes;
    return preference && value ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// --- the product ----------------------------------------------------------------------------------------------------

typedef struct product {
    sim_blas_call call;
    description how;
    matrix_layout a, b, c, d;
    const void *a_data, *b_data, *c_data;
    void *d_data;
    sim_blas_scalar alpha, beta;
    size_t m, n, k;
} product;

enum { RELU_BIT = 2, BIAS_BIT = 4, GELU_BIT = 32, AUXILIARY_BIT = 128 };

// A row-major matrix is a column-major one transposed.
static sim_blas_span span_of(const char *name, const void *data, const matrix_layout *l)
{
    bool by_rows = l->order == CUBLASLT_ORDER_ROW;
    return (sim_blas_span){
        name, data, l->type, by_rows ? l->columns : l->rows, by_rows ? l->rows : l->columns, (size_t)l->stride};
}

static size_t index_in(const matrix_layout *l, size_t row, size_t column)
{
    bool by_rows = l->order == CUBLASLT_ORDER_ROW;
    return by_rows ? row * (size_t)l->stride + column : column * (size_t)l->stride + row;
}

static const void *batch_of(const void *data, const matrix_layout *l, size_t batch)
{
    return (const char *)data + l->batch_step * (int64_t)batch * (int64_t)sim_blas_size(l->type);
}

// CUDA's approximation with tanh.
static double gelu(double x)
{
    const double scale = 0.7978845608028654, cubic = 0.044715;
    return 0.5 * x * (1 + tanh(scale * (x + cubic * x * x * x)));
}

static double activated(const product *p, double value)
{
    if (p->how.epilogue & RELU_BIT)
        return value > 0 ? value : 0;
    return p->how.epilogue & GELU_BIT ? gelu(value) : value;
}

static void finish(const product *p, const void *sums, cudaDataType sums_type, const void *bias, void *auxiliary,
                   void *d)
{
    cudaDataType bias_type = p->how.bias_type < 0 ? p->d.type : (cudaDataType)p->how.bias_type;
    cudaDataType auxiliary_type = p->how.auxiliary_type < 0 ? p->d.type : (cudaDataType)p->how.auxiliary_type;
    for (size_t column = 0; column < p->n; column++) {
        for (size_t row = 0; row < p->m; row++) {
            double value = sim_blas_load(sums_type, sums, column * p->m + row);
            if (bias)
                value += sim_blas_load(bias_type, bias, row);
            if (auxiliary)
                sim_blas_store(auxiliary_type, auxiliary, column * (size_t)p->how.auxiliary_stride + row, value);
            sim_blas_store(p->d.type, d, index_in(&p->d, row, column), activated(p, value));
        }
    }
}

static void product_one(const product *p, double alpha, double beta, size_t batch)
{
    const void *a = batch_of(p->a_data, &p->a, batch), *b = batch_of(p->b_data, &p->b, batch);
    const void *c = batch_of(p->c_data, &p->c, batch), *bias = NULL;
    void *d = (void *)(uintptr_t)batch_of(p->d_data, &p->d, batch), *auxiliary = NULL;
    cudaDataType bias_type = p->how.bias_type < 0 ? p->d.type : (cudaDataType)p->how.bias_type;
    cudaDataType auxiliary_type = p->how.auxiliary_type < 0 ? p->d.type : (cudaDataType)p->how.auxiliary_type;
    if (p->how.epilogue & BIAS_BIT)
        bias = (const char *)p->how.bias + p->how.bias_step * (int64_t)batch * (int64_t)sim_blas_size(bias_type);
    if (p->how.epilogue & AUXILIARY_BIT)
        auxiliary =
            (char *)p->how.auxiliary + p->how.auxiliary_step * (int64_t)batch * (int64_t)sim_blas_size(auxiliary_type);
    sim_blas_span spans[] = {span_of("A", a, &p->a), span_of("B", b, &p->b), span_of("C", c, &p->c),
                             span_of("D", d, &p->d)};
    sim_blas_span bias_span = {"the bias", bias, bias_type, p->m, 1, p->m};
    sim_blas_span auxiliary_span = {"AUX", auxiliary, auxiliary_type, p->m, p->n, (size_t)p->how.auxiliary_stride};
    sim_blas_reads(p->call, &spans[0]);
    sim_blas_reads(p->call, &spans[1]);
    if (beta != 0)
        sim_blas_reads(p->call, &spans[2]);
    if (bias)
        sim_blas_reads(p->call, &bias_span);
    if (auxiliary)
        sim_blas_writes(p->call, &auxiliary_span);
    sim_blas_writes(p->call, &spans[3]);
    for (int operand = 0; alpha != 0 && operand < 2; operand++)
        sim_blas_apart(p->call, &spans[3], &spans[operand]);

    bool wide = p->d.type == CUDA_R_64F || p->d.type == CUDA_R_32I;
    cudaDataType sums_type = wide ? p->d.type : CUDA_R_32F;
    void *sums = calloc(p->m * p->n, sim_blas_size(sums_type));
    if (!sums)
        return;
    for (size_t i = 0; beta != 0 && i < p->m * p->n; i++)
        sim_blas_store(sums_type, sums, i, sim_blas_load(p->c.type, c, index_in(&p->c, i % p->m, i / p->m)));
    bool a_flipped = (p->how.transa != CUBLAS_OP_N) != (p->a.order == CUBLASLT_ORDER_ROW);
    bool b_flipped = (p->how.transb != CUBLAS_OP_N) != (p->b.order == CUBLASLT_ORDER_ROW);
    sim_blas_multiply(p->m, p->n, p->k, alpha, (sim_blas_operand){a, p->a.type, (size_t)p->a.stride, a_flipped},
                      (sim_blas_operand){b, p->b.type, (size_t)p->b.stride, b_flipped}, beta, sums, sums_type, p->m);
    finish(p, sums, sums_type, bias, auxiliary, d);
    free(sums);
    sim_blas_written(&spans[3]);
    if (auxiliary)
        sim_blas_written(&auxiliary_span);
}

static void product_run(const void *work)
{
    const product *p = work;
    double alpha = sim_blas_scalar_value(p->call, "alpha", &p->alpha);
    double beta = sim_blas_scalar_value(p->call, "beta", &p->beta);
    for (size_t batch = 0; batch < (size_t)p->d.batches; batch++)
        product_one(p, alpha, beta, batch);
}

static bool simulated(const matrix_layout *l)
{
    return sim_blas_size(l->type) != 0 && (l->order == CUBLASLT_ORDER_COL || l->order == CUBLASLT_ORDER_ROW);
}

static bool simulated_epilogue(cublasLtEpilogue_t epilogue)
{
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU_AUX_BIAS: return true;
    default: return false;
    }
}

// The shapes that op(A) op(B) = D asks for; m, n and k follow.
static cublasStatus_t check_shapes(product *p)
{
    bool flip_a = p->how.transa != CUBLAS_OP_N, flip_b = p->how.transb != CUBLAS_OP_N;
    p->m = flip_a ? p->a.columns : p->a.rows;
    p->k = flip_a ? p->a.rows : p->a.columns;
    p->n = flip_b ? p->b.rows : p->b.columns;
    if ((flip_b ? p->b.columns : p->b.rows) != p->k)
        return sim_blas_wrong(p->call, "op(A) has %zu columns, op(B) %zu rows", p->k,
                              (size_t)(flip_b ? p->b.columns : p->b.rows));
    if (p->d.rows != p->m || p->d.columns != p->n)
        return sim_blas_wrong(p->call, "op(A) op(B) is %zu x %zu, D is %zu x %zu", p->m, p->n, (size_t)p->d.rows,
                              (size_t)p->d.columns);
    const matrix_layout *all[] = {&p->a, &p->b, &p->c, &p->d};
    for (int i = 0; i < 4; i++)
        if ((uint64_t)all[i]->stride < (all[i]->order == CUBLASLT_ORDER_ROW ? all[i]->columns : all[i]->rows))
            return sim_blas_wrong(p->call, "the leading dimension of %c, %lld, is smaller than its columns", "ABCD"[i],
                                  (long long)all[i] -> stride);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results, int *given)
{
    (void)preference;
    *given = 0;
    if (!handle || wanted < 1 || !simulated((matrix_layout *)a) || !simulated((matrix_layout *)b) ||
        !simulated((matrix_layout *)c) || !simulated((matrix_layout *)d) ||
        !simulated_epilogue(((description *)desc)->epilogue))
        return handle ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_NOT_INITIALIZED;
    memset(results, 0, sizeof *results);
    results->wavesCount = 1;
    *given = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream)
{
    (void)algorithm;
    (void)workspace;
    (void)workspace_bytes;
    product p = {.call = SIM_BLAS_CALL("cublasLtMatmul"), .a_data = a, .b_data = b, .c_data = c, .d_data = d};
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    memcpy(&p.how, desc, sizeof p.how);
    memcpy(&p.a, a_layout, sizeof p.a);
    memcpy(&p.b, b_layout, sizeof p.b);
    memcpy(&p.c, c_layout, sizeof p.c);
    memcpy(&p.d, d_layout, sizeof p.d);
    if (!alpha || !beta)
        return sim_blas_wrong(p.call, "alpha and beta must not be NULL");
    if (!simulated(&p.a) || !simulated(&p.b) || !simulated(&p.c) || !simulated(&p.d) ||
        !simulated_epilogue(p.how.epilogue) || p.how.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasStatus_t status = check_shapes(&p);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if ((p.how.epilogue & BIAS_BIT) && !p.how.bias)
        return sim_blas_wrong(p.call, "the epilogue adds a bias, and its pointer is not set");
    bool on_device = p.how.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE;
    p.alpha = sim_blas_scalar_of(p.call, on_device, p.how.scale, alpha);
    p.beta = sim_blas_scalar_of(p.call, on_device, p.how.scale, beta);
    bool queued = sim_library_queue(stream, p.call, product_run, &p, sizeof p, false);
    return queued ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
