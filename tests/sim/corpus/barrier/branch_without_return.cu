// Barriers in branches that only some threads take, in kernels without a return: the cure is to move the barrier.
// cure: Move
#include "../corpus.h"

__global__ void in_braces(int *out)
{
    // A return in a comment is none.
    if (threadIdx.x < 16) {
        out[threadIdx.x] = 1;
        __syncthreads(); // expect: barrier-exited(warning)
    }
}

__global__ void without_braces(int *out, int n)
{
    for (int i = 0; i < 2; i++)
        if (threadIdx.x < n)
            __syncthreads(); // expect: barrier-exited
    out[threadIdx.x] = 1;
}

static __device__ __forceinline__ void meet()
{
    __syncthreads(); // expect: barrier-exited
}

__global__ void in_a_function(int *out)
{
    if (threadIdx.x < 40)
        meet();
    out[threadIdx.x] = 1;
}

// The same, in a function that is not inlined.
static __device__ __noinline__ void meet_apart()
{
    __syncthreads(); // expect: barrier-exited
}

__global__ void in_a_function_apart(int *out)
{
    if (threadIdx.x < 40)
        meet_apart();
    out[threadIdx.x] = 1;
}

// Whole warps that pass it by are forgiven.
__global__ void warps_apart(int *out)
{
    if (threadIdx.x < 32)
        __syncthreads(); // expect: barrier-exited(warning)
    out[threadIdx.x] = 1;
}

// What the others do is in the other branch, and then they end.
__global__ void nothing_behind(int *out)
{
    if (threadIdx.x < 40) {
        out[threadIdx.x] = 1;
        __syncthreads(); // expect: barrier-exited(warning)
    } else {
        out[threadIdx.x] = 2;
    }
    return;
}

int main()
{
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    in_braces<<<1, 64>>>(out);
    without_braces<<<1, 64>>>(out, 48);
    in_a_function<<<1, 64>>>(out);
    in_a_function_apart<<<1, 64>>>(out);
    warps_apart<<<1, 64>>>(out);
    nothing_behind<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
