#include "learn.h"

// How many bytes of dynamic shared memory the launch asked for. The kernel's barrier notes it.
__device__ unsigned requested;

__device__ void note_requested(void)
{
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    if (threadIdx.x == 0)
        requested = bytes;
}

#define __syncthreads() (note_requested(), __syncthreads())
#include "06.8-dynamic-shared.cu"
#undef __syncthreads

int main(void)
{
    for (int n : {1024, 1, 97, 256}) {
        unsigned bytes = 0, needed = n * sizeof(float);
        learn_case("n = %d", n);
        std::vector<float> before = learn_values<float>(n), expected(before.rbegin(), before.rend());
        float *data = learn_device(before);
        learn_threads_1d(1024);
        reverse(data, n);
        learn_expect("data", data, expected);
        learn_check(cudaMemcpyFromSymbol(&bytes, requested, sizeof bytes));
        learn_require(bytes == needed, "the launch asks for %u byte%s of dynamic shared memory; %d element%s %u", bytes,
                      bytes == 1 ? "" : "s", n, n == 1 ? " needs" : "s need", needed);
    }
    return learn_passed();
}
