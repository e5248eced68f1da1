// Kernels that macros make, and a qualifier behind a macro.
#include <torch/extension.h>

#define UNARY_KERNEL(name, expression)                                                                                 \
    template <typename T> __global__ void name##_kernel(const T *__restrict__ x, T *__restrict__ y, int n)             \
    {                                                                                                                  \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                 \
        if (i < n) {                                                                                                   \
            T v = x[i];                                                                                                \
            y[i] = expression;                                                                                         \
        }                                                                                                              \
    }
#define LAUNCH(name)                                                                                                   \
    torch::Tensor name(torch::Tensor x)                                                                                \
    {                                                                                                                  \
        auto y = torch::empty_like(x);                                                                                 \
        name##_kernel<float><<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());                         \
        return y;                                                                                                      \
    }
#define KERNEL extern "C" __global__ void

UNARY_KERNEL(macro_square, v *v)
UNARY_KERNEL(macro_relu, v > T(0) ? v : T(0))
LAUNCH(macro_square)
LAUNCH(macro_relu)

KERNEL macro_scale(float *x, float factor, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] *= factor;
}
