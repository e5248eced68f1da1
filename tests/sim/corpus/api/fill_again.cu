// Memory that is set to the value it has already, and memory that something has changed between two fills. A fill that
// would change nothing is left out: what the operating system has written there in between, unseen, stays.
#include <fcntl.h>
#include <unistd.h>

#include "../corpus.h"

enum { N = 1 << 12 };

__global__ void set(int *p, int value)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void sum(const int *p, int *total)
{
    atomicAdd(total, p[blockIdx.x * blockDim.x + threadIdx.x]);
}

static int sum_of(const int *p, int *total)
{
    int found;
    CHECK(cudaMemset(total, 0, sizeof *total));
    CHECK(cudaMemset(total, 0, sizeof *total)); // again
    sum<<<N / 256, 256>>>(p, total);
    CHECK(cudaMemcpy(&found, total, sizeof found, cudaMemcpyDeviceToHost));
    return found;
}

static void write_unseen(int *p, int value)
{
    const int memory = open("/proc/self/mem", O_WRONLY);
    REQUIRE(memory >= 0 && pwrite(memory, &value, sizeof value, (off_t)p) == (ssize_t)sizeof value);
    REQUIRE(close(memory) == 0);
}

int main()
{
    int *p, *total, *host = (int *)malloc(N * sizeof *host);
    for (int i = 0; i < N; i++)
        host[i] = 2;
    CHECK(cudaMalloc(&p, N * sizeof *p));
    CHECK(cudaMalloc(&total, sizeof *total));
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMemset(p, 0, N * sizeof *p));
        CHECK(cudaDeviceSynchronize());
        write_unseen(p, 7);
        CHECK(cudaMemset(p, 0, N * sizeof *p)); // left out
        REQUIRE(sum_of(p, total) == 7);
        CHECK(cudaMemset(p + 1, 0, (N - 1) * sizeof *p)); // other bytes
        CHECK(cudaMemset(p, 0, N * sizeof *p));
        REQUIRE(sum_of(p, total) == 0);
        set<<<N / 256, 256>>>(p, 1); // by a kernel
        REQUIRE(sum_of(p, total) == N);
        CHECK(cudaMemset(p, 0, N * sizeof *p));
        REQUIRE(sum_of(p, total) == 0);
        CHECK(cudaMemcpy(p, host, N * sizeof *p, cudaMemcpyHostToDevice)); // by a copy
        CHECK(cudaMemset(p, 0, N * sizeof *p));
        REQUIRE(sum_of(p, total) == 0);
        CHECK(cudaMemset(p, 1, N)); // by another fill, of a part
        CHECK(cudaMemset(p, 0, N * sizeof *p));
        REQUIRE(sum_of(p, total) == 0);
        CHECK(cudaFree(p)); // another allocation at the same place
        CHECK(cudaMalloc(&p, N * sizeof *p));
        CHECK(cudaMemcpy(p, host, N * sizeof *p, cudaMemcpyHostToDevice));
        REQUIRE(sum_of(p, total) == 2 * N);
    }
    CHECK(cudaFree(p));
    CHECK(cudaFree(total));
    free(host);
    return 0;
}
