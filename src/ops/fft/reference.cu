// fft's float64 reference as a kernel, for benchmark shapes that would take long on a CPU: Stockham's algorithm in
// stages of radix 2 or of the length's other prime factors, one kernel per stage, as plain as the radix-2 rung.

#include "device/cuda/check.h"
#include "device/cuda/cuda.h"
#include "heddle/ops.h"
#include "ops/cuda/rung.h"

// One stage of radix `factor` on lines of n numbers, after stages whose factors multiply to `before`. One thread per
// number of the result: the sum of `factor` products.
__global__ void reference_stage(size_t count, size_t n, size_t before, size_t factor, double sign, const double2 *input,
                                double2 *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count)
        return;
    size_t line = at / n * n, k = at % n, block = before * factor, p = k % before, q = k % block / before;
    size_t j = k / block * before + p;
    double2 sum = make_double2(0, 0);
    for (size_t r = 0; r < factor; r++) {
        double2 x = input[line + j + r * (n / factor)];
        double sine, cosine;
        sincospi(-2.0 * (double)(r * (p + q * before) % block) / (double)block, &sine, &cosine);
        sine *= sign;
        sum.x += x.x * cosine - x.y * sine;
        sum.y += x.x * sine + x.y * cosine;
    }
    output[at] = sum;
}

__global__ void reference_widen(size_t floats, double scale, const float *input, double *output)
{
    size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < floats)
        output[at] = scale * input[at];
}

enum { LONGEST_SUM = 1 << 13 }; // a prime factor beyond which a stage would take minutes

static int smallest_factor(int n)
{
    for (int p = 2; (long long)p * p <= n; p++)
        if (n % p == 0)
            return p;
    return n;
}

// Runs all lines of a batch through the stages, alternating between the output and scratch of the same size.
static heddle_status launch(const heddle_call *call)
{
    const heddle_fft_shape *shape = (const heddle_fft_shape *)call->shape;
    size_t count = (size_t)shape->batch * shape->n;
    cudaStream_t stream = heddle_cuda_stream_of(call);
    void *scratch = NULL;
    if (count == 0)
        return HEDDLE_OK;
    int stages = 0;
    for (int n = shape->n; n > 1; n /= smallest_factor(n), stages++)
        if (smallest_factor(n) > LONGEST_SUM)
            return heddle_cuda_fail(HEDDLE_UNSUPPORTED,
                                    "not checked: n has the prime factor %d, too long for the reference's plain sums",
                                    smallest_factor(n));
    HEDDLE_CUDA_TRY(cudaMallocAsync(&scratch, count * sizeof(double2), stream));
    double2 *from = (double2 *)(stages % 2 == 0 ? call->output[0] : scratch);
    double2 *to = (double2 *)(stages % 2 == 0 ? scratch : call->output[0]);
    reference_widen<<<heddle_cuda_blocks(2 * count), HEDDLE_CUDA_BLOCK, 0, stream>>>(
        2 * count, shape->scale, (const float *)call->input[0], (double *)from);
    size_t before = 1;
    for (int n = shape->n; n > 1; n /= smallest_factor(n)) {
        size_t factor = smallest_factor(n);
        reference_stage<<<heddle_cuda_blocks(count), HEDDLE_CUDA_BLOCK, 0, stream>>>(
            count, shape->n, before, factor, shape->inverse ? -1.0 : 1.0, from, to);
        before *= factor;
        double2 *other = from;
        from = to;
        to = other;
    }
    HEDDLE_CUDA_TRY(cudaFreeAsync(scratch, stream));
    return heddle_cuda_launched("reference");
}

HEDDLE_CUDA_REFERENCE("fft", launch)
