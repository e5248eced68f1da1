// A class of autograd's, a structure with tensors, and one that kernels use.
#include <torch/extension.h>

struct Shape {
    int rows, cols;
    __host__ __device__ int at(int row, int col) const
    {
        return row * cols + col;
    }
};

struct Saved {
    at::Tensor input;
    std::vector<at::Tensor> others;
    at::Tensor first() const
    {
        return others.empty() ? input : others[0];
    }
};

__global__ void transpose_by_shape(const float *in, float *out, int rows, int cols)
{
    const Shape from{rows, cols}, to{cols, rows};
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols)
        out[to.at(col, row)] = in[from.at(row, col)];
}

static int launches = 0;

class Transpose : public torch::autograd::Function<Transpose>
{
  public:
    static torch::Tensor forward(torch::autograd::AutogradContext *ctx, torch::Tensor x)
    {
        Saved saved{x, {}};
        ctx->save_for_backward({saved.first()});
        launches++;
        return x.t();
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext *, torch::autograd::variable_list g)
    {
        return {g[0].t()};
    }
};

at::Tensor transpose_apply(const at::Tensor &x)
{
    return Transpose::apply(x);
}

std::vector<at::Tensor> transpose_all(std::vector<at::Tensor> xs)
try {
    for (auto &x : xs)
        x = transpose_apply(x);
    return xs;
} catch (...) {
    throw;
}
