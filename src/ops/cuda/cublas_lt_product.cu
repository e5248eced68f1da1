// Products by cuBLASLt. Its heuristics list algorithms for a shape, best first by their own estimate. The first call
// for a shape times the first few of them on the real operands and keeps the fastest. During graph capture nothing can
// be timed: then the first one is used, and the next call outside tries again.

#include <cublasLt.h>

#include "ops/cuda/cublas_lt_product.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 8,  // later ones are rarely the fastest
    ROUNDS = 3,      // the best counts: disturbances only make a run longer
    ALIGNMENT = 256, // the largest alignment that algorithms may require
};

typedef struct product_key {
    int device, m, n, k;
    bool transpose_a, transpose_b, adds, bias;
    cudaDataType_t type, output_type;
    cublasComputeType_t compute;
    unsigned alignment_a, alignment_b, alignment_output;
} product_key;

typedef struct kept_algorithm {
    product_key key;
    cublasLtMatmulAlgo_t algorithm;
    struct kept_algorithm *next;
} kept_algorithm;

static kept_algorithm *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// A product in cuBLASLt's terms: outputᵀ = op(b)ᵀ * op(a)ᵀ, because it stores matrices column-major.
typedef struct lt_call {
    cublasLtHandle_t handle;
    cudaStream_t stream;
    cublasLtMatmulDescOpaque_t operation;
    cublasLtMatrixLayoutOpaque_t first, second, output; // b, a, output
    const heddle_cublas_product *product;
    void *workspace;
} lt_call;

static unsigned alignment_of(const void *address)
{
    unsigned alignment = ALIGNMENT;
    while ((uintptr_t)address % alignment != 0)
        alignment /= 2;
    return alignment;
}

static heddle_status set(lt_call *lt, cublasLtMatmulDescAttributes_t name, const void *value, size_t size)
{
    return HEDDLE_CUDA_CHECK(cublasLtMatmulDescSetAttribute(&lt->operation, name, value, size));
}

static heddle_status describe(lt_call *lt, const heddle_cublas_product *product, const void *bias)
{
    cublasOperation_t turn_b = product->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t turn_a = product->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    uint64_t m = (uint64_t)product->m, n = (uint64_t)product->n, k = (uint64_t)product->k;
    HEDDLE_CUDA_TRY(cublasLtMatmulDescInit(&lt->operation, product->compute, CUDA_R_32F));
    HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_TRANSA, &turn_b, sizeof turn_b));
    HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_TRANSB, &turn_a, sizeof turn_a));
    if (bias) {
        cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
        HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
        HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
    }
    if (product->scale_a) {
        // Off, which is the default, too: short sums of fp8 are added up in float32 at intervals.
        const int8_t fast = 0;
        HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
        HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &product->scale_b, sizeof product->scale_b));
        HEDDLE_TRY(set(lt, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &product->scale_a, sizeof product->scale_a));
    }
    uint64_t rows_b = product->transpose_b ? k : n, columns_b = product->transpose_b ? n : k;
    uint64_t rows_a = product->transpose_a ? m : k, columns_a = product->transpose_a ? k : m;
    HEDDLE_CUDA_TRY(cublasLtMatrixLayoutInit(&lt->first, product->type, rows_b, columns_b, (int64_t)rows_b));
    HEDDLE_CUDA_TRY(cublasLtMatrixLayoutInit(&lt->second, product->type, rows_a, columns_a, (int64_t)rows_a));
    return HEDDLE_CUDA_CHECK(cublasLtMatrixLayoutInit(&lt->output, product->output_type, n, m, (int64_t)n));
}

// `output` is the product's, or another place while algorithms are tried.
static heddle_status run(lt_call *lt, const cublasLtMatmulAlgo_t *algorithm, void *output)
{
    const heddle_cublas_product *product = lt->product;
    return HEDDLE_CUDA_CHECK(cublasLtMatmul(lt->handle, &lt->operation, &product->alpha, product->b, &lt->first,
                                            product->a, &lt->second, &product->beta, product->output, &lt->output,
                                            output, &lt->output, algorithm, lt->workspace, HEDDLE_CUBLAS_WORKSPACE,
                                            lt->stream));
}

static heddle_status ask(lt_call *lt, const product_key *key, cublasLtMatmulHeuristicResult_t *results, int *count)
{
    cublasLtMatmulPreferenceOpaque_t preference;
    size_t workspace = HEDDLE_CUBLAS_WORKSPACE;
    // Partial sums are added as float32, never in an output of fewer bits.
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    HEDDLE_CUDA_TRY(cublasLtMatmulPreferenceInit(&preference));
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t size;
    } wishes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &key->alignment_b, sizeof key->alignment_b},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &key->alignment_a, sizeof key->alignment_a},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &key->alignment_output, sizeof key->alignment_output},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &key->alignment_output, sizeof key->alignment_output},
    };
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        HEDDLE_CUDA_TRY(
            cublasLtMatmulPreferenceSetAttribute(&preference, wishes[i].name, wishes[i].value, wishes[i].size));
    HEDDLE_CUDA_TRY(cublasLtMatmulAlgoGetHeuristic(lt->handle, &lt->operation, &lt->first, &lt->second, &lt->output,
                                                   &lt->output, &preference, CANDIDATES, results, count));
    if (*count > 0)
        return HEDDLE_OK;
    return heddle_cuda_failed(HEDDLE_UNSUPPORTED, "cuBLASLt has no algorithm for this shape", "heuristics",
                              HEDDLE_CUDA_HERE("cublasLtMatmulAlgoGetHeuristic"));
}

// --- trying ----------------------------------------------------------------------------------------------------------

typedef struct stopwatch {
    cudaEvent_t start, end;
    void *output; // instead of the real one, which beta may read
} stopwatch;

static float time_of(lt_call *lt, const cublasLtMatmulAlgo_t *algorithm, const stopwatch *watch)
{
    float best = -1, elapsed = 0;
    for (int i = 0; i <= ROUNDS; i++) { // the first is not counted
        cudaEventRecord(watch->start, lt->stream);
        heddle_status status = run(lt, algorithm, watch->output);
        cudaEventRecord(watch->end, lt->stream);
        if (status != HEDDLE_OK || cudaEventSynchronize(watch->end) != cudaSuccess ||
            cudaEventElapsedTime(&elapsed, watch->start, watch->end) != cudaSuccess)
            return -1;
        if (i > 0 && (best < 0 || elapsed < best))
            best = elapsed;
    }
    return best;
}

// The fastest of the results; the first if none can be timed.
static int fastest(lt_call *lt, const cublasLtMatmulHeuristicResult_t *results, int count)
{
    const heddle_cublas_product *product = lt->product;
    size_t element = product->output_type == CUDA_R_32F ? sizeof(float) : sizeof(float) / 2;
    stopwatch watch = {};
    int chosen = 0;
    float best = -1;
    if (cudaEventCreate(&watch.start) == cudaSuccess && cudaEventCreate(&watch.end) == cudaSuccess &&
        cudaMalloc(&watch.output, (size_t)product->m * product->n * element) == cudaSuccess)
        for (int i = 0; i < count; i++) {
            float elapsed = results[i].state == CUBLAS_STATUS_SUCCESS ? time_of(lt, &results[i].algo, &watch) : -1;
            if (elapsed >= 0 && (best < 0 || elapsed < best)) {
                best = elapsed;
                chosen = i;
            }
        }
    cudaFree(watch.output);
    if (watch.start)
        cudaEventDestroy(watch.start);
    if (watch.end)
        cudaEventDestroy(watch.end);
    cudaGetLastError();
    return chosen;
}

static bool find(const product_key *key, cublasLtMatmulAlgo_t *algorithm)
{
    pthread_mutex_lock(&lock);
    kept_algorithm *one = kept;
    while (one && memcmp(&one->key, key, sizeof *key) != 0)
        one = one->next;
    if (one)
        *algorithm = one->algorithm;
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

static void keep(const product_key *key, const cublasLtMatmulAlgo_t *algorithm)
{
    kept_algorithm *made = (kept_algorithm *)calloc(1, sizeof *made);
    if (!made)
        return; // found again next time
    memcpy(&made->key, key, sizeof *key);
    made->algorithm = *algorithm;
    pthread_mutex_lock(&lock);
    made->next = kept;
    kept = made;
    pthread_mutex_unlock(&lock);
}

static heddle_status choose(lt_call *lt, const product_key *key, cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    int count = 0;
    if (find(key, algorithm))
        return HEDDLE_OK;
    HEDDLE_TRY(ask(lt, key, results, &count));
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    bool timed = cudaStreamIsCapturing(lt->stream, &capture) == cudaSuccess && capture == cudaStreamCaptureStatusNone;
    int chosen = timed ? fastest(lt, results, count) : 0;
    *algorithm = results[chosen].algo;
    if (timed)
        keep(key, algorithm);
    return HEDDLE_OK;
}

heddle_status heddle_cublas_lt_multiply(const heddle_call *call, const heddle_cublas_product *product, const void *bias)
{
    cublasHandle_t handle;
    cublasLtMatmulAlgo_t algorithm;
    lt_call lt = {};
    if (product->m == 0 || product->n == 0)
        return HEDDLE_OK;
    if (product->k == 0 && bias) // matrices without elements have no layout that cuBLASLt takes
        return heddle_cuda_failed(HEDDLE_INVALID, "with a bias, k must be at least 1", "k is 0",
                                  HEDDLE_CUDA_HERE("heddle_cublas_lt_multiply"));
    if (product->k == 0)
        return heddle_cublas_scale_output(call, product);
    HEDDLE_TRY(heddle_cublas_handle(call, &handle, &lt.workspace));
    lt.handle = (cublasLtHandle_t)handle; // the one may be used as the other
    lt.stream = heddle_cuda_stream_of(call);
    lt.product = product;
    HEDDLE_TRY(describe(&lt, product, bias));
    product_key key;
    memset(&key, 0, sizeof key); // compared byte for byte
    key.device = heddle_cuda_device_of(call);
    key.m = product->m;
    key.n = product->n;
    key.k = product->k;
    key.transpose_a = product->transpose_a;
    key.transpose_b = product->transpose_b;
    key.adds = product->beta != 0.0f;
    key.bias = bias != NULL;
    key.type = product->type;
    key.output_type = product->output_type;
    key.compute = product->compute;
    key.alignment_a = alignment_of(product->a);
    key.alignment_b = alignment_of(product->b);
    key.alignment_output = alignment_of(product->output);
    HEDDLE_TRY(choose(&lt, &key, &algorithm));
    return run(&lt, &algorithm, product->output);
}
