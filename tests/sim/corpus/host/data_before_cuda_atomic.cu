// The host fills mapped memory and releases it by a cuda::atomic that the running kernel acquires.
#include <cuda/atomic>

#include "../corpus.h"

typedef cuda::atomic<unsigned, cuda::thread_scope_system> flag;

__global__ void serve(flag *filled, const int *in, int *out)
{
    while (filled->load(cuda::memory_order_acquire) < 1)
        ;
    *out = *in * 2;
}

int main()
{
    flag *filled = NULL;
    int *in = NULL, *out = NULL;
    CHECK(cudaHostAlloc((void **)&filled, sizeof *filled, cudaHostAllocMapped));
    CHECK(cudaHostAlloc((void **)&in, sizeof *in, cudaHostAllocMapped));
    CHECK(cudaHostAlloc((void **)&out, sizeof *out, cudaHostAllocMapped));
    filled->store(0);
    serve<<<1, 1>>>(filled, in, out);
    *in = 3;
    filled->store(1, cuda::memory_order_release);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(*out == 6);
    CHECK(cudaFreeHost(filled));
    CHECK(cudaFreeHost(in));
    CHECK(cudaFreeHost(out));
    return 0;
}
