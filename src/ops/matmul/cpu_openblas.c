// matmul, the vendor's rung: OpenBLAS computes the pieces, heddle's pool runs them.
//
// OpenBLAS's own threads are turned off: it would split by the number of threads, and the last bits of a result would
// depend on the machine. gemm.c splits by the shape alone.
//
// Limited by: the multiplier units, and by packing if m or n is small.

#include "ops/matmul/gemm.h"

#if HEDDLE_HAVE_OPENBLAS

#include <cblas.h>
#include <pthread.h>

#include "ops/matmul/matmul.h"

static void use_one_thread(void)
{
    openblas_set_num_threads(1);
}

static void run_openblas(const heddle_gemm *gemm, void *scratch)
{
    (void)scratch;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_one_thread);
    cblas_sgemm(CblasRowMajor, gemm->transpose_a ? CblasTrans : CblasNoTrans,
                gemm->transpose_b ? CblasTrans : CblasNoTrans, gemm->m, gemm->n, gemm->k, gemm->alpha, gemm->a,
                gemm->leading_a, gemm->b, gemm->leading_b, gemm->beta, gemm->c, gemm->leading_c);
}

const heddle_gemm_kernel heddle_gemm_openblas = {.run = run_openblas};

heddle_status heddle_matmul_forward_cpu_openblas(const heddle_call *call)
{
    return heddle_matmul_forward_by(&heddle_gemm_openblas, call);
}

heddle_status heddle_matmul_backward_cpu_openblas(const heddle_call *call)
{
    return heddle_matmul_backward_by(&heddle_gemm_openblas, call);
}

size_t heddle_matmul_forward_cpu_openblas_workspace(const void *shape, int threads)
{
    return heddle_matmul_forward_workspace_by(&heddle_gemm_openblas, shape, threads);
}

size_t heddle_matmul_backward_cpu_openblas_workspace(const void *shape, int threads)
{
    return heddle_matmul_backward_workspace_by(&heddle_gemm_openblas, shape, threads);
}

#endif
