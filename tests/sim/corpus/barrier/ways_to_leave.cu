// Threads leave the kernel before a barrier in a branch that all the others take: nobody passes the barrier by.
#include "../corpus.h"
#include "leaving.h"

// clang-format off: blanks and lines are part of what is tried

#define leave_if(condition) if (condition) return
#define LEAVE if (threadIdx.x >= n) return;
#define LEAVE_FROM(first) if (threadIdx.x >= (first)) return
#define DEEPER(first) LEAVE_FROM(first)

__global__ void parted_number(int *out, int n)
{
    if (threadIdx.x + 1'000 >= n + 1000) return;
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void small_letters(int *out, int n)
{
    leave_if(threadIdx.x >= n);
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void without_arguments(int *out, int n)
{
    LEAVE
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void with_a_blank(int *out, int n)
{
    LEAVE_FROM (n);
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void macro_of_a_macro(int *out, int n)
{
    DEEPER(n);
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void of_a_header(int *out, int n)
{
    header_leaves_if(threadIdx.x >= n);
    if (n > 3) {
        __syncthreads(); // expect: barrier-exited(warning)
    }
    out[threadIdx.x] = 1;
}

__global__ void to_the_end(int *out, int n)
{
    if (threadIdx.x >= n)
        goto end;
    for (int i = 0; i < 2; i++) {
        __syncthreads(); // expect: barrier-exited(warning)
        out[threadIdx.x] += i;
    }
end:;
}

int main()
{
    int *out = device_zeros<int>(64);
    parted_number<<<1, 64>>>(out, 40);
    small_letters<<<1, 64>>>(out, 40);
    without_arguments<<<1, 64>>>(out, 40);
    with_a_blank<<<1, 64>>>(out, 40);
    macro_of_a_macro<<<1, 64>>>(out, 40);
    of_a_header<<<1, 64>>>(out, 40);
    to_the_end<<<1, 64>>>(out, 40);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(out));
    return 0;
}
