// Host code and kernels share __managed__ variables and wait for each other: for the device, for a stream, for an event
// of another stream, by a flag; and while a kernel may run, the host uses variables that it leaves alone, or reads what
// it only reads.
#include "../corpus.h"

enum { COUNT = 64 };

__managed__ float results[2][COUNT];
__managed__ int factor = 2;
__managed__ int counter, idle;
__managed__ volatile int done;

__global__ void fill(int which)
{
    results[which][threadIdx.x] = (float)(factor * threadIdx.x);
}

__global__ void count()
{
    atomicAdd(&counter, 1);
}

__global__ void work_and_tell()
{
    results[0][0] = 42;
    __threadfence_system();
    done = 1;
}

static void wait_in_every_way(cudaStream_t one, cudaStream_t other)
{
    cudaEvent_t filled;
    CHECK(cudaEventCreate(&filled));
    fill<<<1, COUNT>>>(0);
    CHECK(cudaDeviceSynchronize());
    REQUIRE(results[0][5] == 10);
    factor = 3;
    fill<<<1, COUNT, 0, one>>>(0);
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(results[0][5] == 15);
    fill<<<1, COUNT, 0, one>>>(1);
    CHECK(cudaEventRecord(filled, one));
    CHECK(cudaStreamWaitEvent(other, filled, 0));
    count<<<1, 32, 0, other>>>();
    CHECK(cudaStreamSynchronize(other));
    REQUIRE(results[1][5] == 15 && counter == 32);
    counter++;
    REQUIRE(counter == 33);
    CHECK(cudaEventDestroy(filled));
}

static void use_others_meanwhile(cudaStream_t one)
{
    fill<<<1, COUNT, 0, one>>>(0);
    for (int i = 0; i < COUNT; i++)
        results[1][i] = (float)i;
    idle++;
    const int seen = factor;
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(seen == 3 && idle == 1 && results[0][1] == 3 && results[1][1] == 1);
}

static void wait_by_flag(cudaStream_t one)
{
    done = 0;
    work_and_tell<<<1, 1, 0, one>>>();
    while (done == 0)
        continue;
    REQUIRE(results[0][0] == 42);
    CHECK(cudaStreamSynchronize(one));
}

static void hand_to_the_api(cudaStream_t one)
{
    int card = 0, copy = 0;
    cudaPointerAttributes about;
    CHECK(cudaPointerGetAttributes(&about, &counter));
    REQUIRE(about.type == cudaMemoryTypeManaged && about.devicePointer == &counter);
    CHECK(cudaGetDevice(&card));
    CHECK(cudaMemPrefetchAsync(results, sizeof results, card, one));
    CHECK(cudaMemsetAsync(results, 0, sizeof results, one));
    CHECK(cudaMemcpyAsync(&idle, &counter, sizeof idle, cudaMemcpyDefault, one));
    CHECK(cudaStreamSynchronize(one));
    REQUIRE(results[1][5] == 0 && idle == counter);
    CHECK(cudaMemcpyFromSymbol(&copy, counter, sizeof copy));
    CHECK(cudaMemcpy(&factor, &copy, sizeof copy, cudaMemcpyHostToDevice));
    REQUIRE(copy == counter && factor == counter);
}

int main()
{
    cudaStream_t one, other;
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreate(&other));
    wait_in_every_way(one, other);
    use_others_meanwhile(one);
    wait_by_flag(one);
    hand_to_the_api(one);
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaStreamDestroy(other));
    return 0;
}
