// All parameters in one structure, passed by value; a launcher that takes no tensors. Only a driver can launch this.
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>

struct Params {
    const float *__restrict__ q_ptr;
    float *o_ptr;
    int seqlen, d;
    float scale;
};

__global__ void scaled_copy_kernel(const Params params)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < params.seqlen * params.d)
        params.o_ptr[i] = params.q_ptr[i] * params.scale;
}

void run_scaled_copy(Params &params, cudaStream_t stream)
{
    const int n = params.seqlen * params.d;
    scaled_copy_kernel<<<(n + 127) / 128, 128, 0, stream>>>(params);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void set_params(Params &params, const at::Tensor q, at::Tensor o)
{
    params = {q.data_ptr<float>(), o.data_ptr<float>(), (int)q.size(0), (int)q.size(1), 2.f};
}

at::Tensor scaled_copy(at::Tensor q)
{
    Params params;
    auto o = at::empty_like(q);
    set_params(params, q, o);
    run_scaled_copy(params, at::cuda::getCurrentCUDAStream().stream());
    return o;
}
