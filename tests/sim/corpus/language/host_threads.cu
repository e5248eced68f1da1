// Several host threads, each with its own stream.
#include "../corpus.h"
#include <thread>

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

static void work(int number, int *result)
{
    cudaStream_t stream;
    int *data = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&data, 32 * sizeof(int)));
    fill<<<1, 32, 0, stream>>>(data, number);
    CHECK(cudaMemcpyAsync(result, data + 31, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    int results[4] = {0};
    std::thread threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = std::thread(work, i + 1, &results[i]);
    for (int i = 0; i < 4; i++)
        threads[i].join();
    for (int i = 0; i < 4; i++)
        REQUIRE(results[i] == i + 1);
    return 0;
}
