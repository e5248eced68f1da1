// rows_linear_step, rung 2: wgmma, one cluster per tile of 128 by 64 or 128 weights.
//
// Rung 1 has one block per tile, which reads all rows: from a few hundred on, the product takes longer than the
// weights. Here the blocks of a cluster share the rows, and their sums meet in shared memory (gradient_wgmma.h); each
// block then takes the optimiser's step for its share of the tile. The gradient never reaches memory, and no launch of
// its own updates the weights.
//
// Limited by: latency: rows, sums of the other blocks, weights.

#include "ops/rows_conv/gradient_wgmma.h"
#include "ops/rows_linear_step/step.h"

enum { MOST_CLUSTER = 8 };

template <typename Element, int Optimizer> struct step_end {
    enum { BY_ALL = 0 }; // those that loaded have given their registers back
    step_operands on;
    int inputs, outputs;

    __device__ bool wants_bias() const
    {
        return on.bias.parameters && !on.grad_bias;
    }
    __device__ void take(const rows_gradient &job, int part, int k, int tap, int c, float4 sum) const
    {
        const size_t at = (size_t)k * inputs + c;
        if (k >= outputs || c >= inputs)
            return;
        update_four<UPDATE, Optimizer> four;
        four.load(on.weight, at);
        four.step(on.weight, sum, on.hyper);
        four.store(on.weight, at);
        rows_write_four((Element *)on.copy, (size_t)k * job.c + c, k, job.c, four.value);
    }
    __device__ void take_bias(const rows_gradient &job, int part, int k, float4 sum) const
    {
        const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (k + i < outputs)
                step_bias_one<Optimizer>(on, k + i, sums[i], on.hyper);
    }
    __device__ void take_no_bias(int k, int channels) const
    {
        const int row = k + threadIdx.x;
        if (on.bias.parameters && (int)threadIdx.x < channels && row < outputs)
            step_bias_one<Optimizer>(on, row, on.grad_bias[row], on.hyper);
    }
};

template <typename Element, int Columns, typename End>
static heddle_status launch_tiles(const heddle_call *call, rows_gradient job, const End &end)
{
    if (!rows_gradient_place<1, Columns>(&job))
        return heddle_linear_step_tensor_cores(call);
    // As many blocks per tile as run at once, each with a stage of its own.
    auto kernel = rows_gradient_wgmma<Element, 1, Columns, End>;
    const dim3 threads(rows_gradient_kind<1, Columns>::THREADS);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ROWS_GRADIENT_BYTES);
    for (int more = 2; more <= MOST_CLUSTER && more <= job.part_stages; more *= 2)
        if (heddle_cuda_most_clusters(kernel, threads, more, ROWS_GRADIENT_BYTES) >= job.k_tiles * job.c_tiles)
            job.cluster = more;
    return rows_gradient_launch<Element, 1, Columns>(call, job, end);
}

template <typename Element, int Optimizer> static heddle_status launch_step(const heddle_call *call)
{
    const step_shape *shape = (const step_shape *)call->shape;
    const step_end<Element, Optimizer> end = {step_operands_of(call), shape->inputs, shape->outputs};
    if (!end.on.aligned || !end.on.vectors)
        return heddle_linear_step_tensor_cores(call);
    rows_gradient job = {};
    job.rows = shape->n;
    job.c = shape->c;
    job.k = shape->k;
    job.taps = job.parts = job.cluster = 1;
    job.halo = ROWS_GRADIENT_ROWS;
    job.part_stages = (int)heddle_ceil_div(shape->n, ROWS_GRADIENT_ROWS);
    // Wide tiles where pairs of blocks have them and half of the multiprocessors or more have a block.
    const int wide = (int)(heddle_ceil_div(shape->k, 128) * heddle_ceil_div(shape->c, 128));
    return 4 * wide > heddle_cuda_multiprocessors() ? launch_tiles<Element, 128>(call, job, end)
                                                    : launch_tiles<Element, 64>(call, job, end);
}

template <typename Element> static heddle_status launch_with(const heddle_call *call)
{
    const int optimizer =
        heddle_linear_step_optimizer((const step_shape *)call->shape, (const void *const *)call->output);
    return optimizer == 0   ? launch_step<Element, 0>(call)
           : optimizer == 1 ? launch_step<Element, 1>(call)
                            : launch_step<Element, 2>(call);
}

static heddle_status launch(const heddle_call *call)
{
    return ROWS_WITH_ELEMENT(step_shape, launch_with, call);
}

HEDDLE_CUDA_RUNG("rows_linear_step", "02_wgmma", launch)
