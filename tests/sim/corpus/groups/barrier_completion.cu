// A cuda::barrier with a completion function: the last thread that arrives adds what all have stored.
#include "../corpus.h"
#include <cuda/barrier>

enum { N = 64 };

struct sum {
    const int *values;
    int *total;
    __device__ void operator()() noexcept
    {
        int found = 0;
        for (int i = 0; i < N; i++)
            found += values[i];
        *total = found;
    }
};

using barrier = cuda::barrier<cuda::thread_scope_block, sum>;

__global__ void add(int *values, int *total, int *out)
{
    __shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
    barrier *all = reinterpret_cast<barrier *>(room);
    if (threadIdx.x == 0)
        new (all) barrier(N, sum{values, total});
    __syncthreads();
    for (int phase = 1; phase <= 3; phase++) {
        values[threadIdx.x] = phase * (int)threadIdx.x;
        all->arrive_and_wait();
        out[threadIdx.x] = *total;
        all->arrive_and_wait();
    }
}

int main()
{
    int *values = device_zeros<int>(N), *total = device_zeros<int>(1), *out = device_zeros<int>(N), found[N];
    add<<<1, N>>>(values, total, out);
    CHECK(cudaDeviceSynchronize());
    fetch(found, out);
    for (int i = 0; i < N; i++)
        REQUIRE(found[i] == 3 * N * (N - 1) / 2);
    CHECK(cudaFree(values));
    CHECK(cudaFree(total));
    CHECK(cudaFree(out));
    return 0;
}
