// Two buffers of managed memory in turn: the host fills one while a kernel reads the other, and waits for each buffer's
// own kernel before it fills it anew.
#include "../corpus.h"

__global__ void add_all(const int *values, int *sum)
{
    atomicAdd(sum, values[threadIdx.x]);
}

int main()
{
    const int n = 32, rounds = 6;
    int *buffer[2] = {NULL, NULL}, *sum = device_zeros<int>(1), result = 0;
    cudaStream_t stream[2];
    cudaEvent_t read[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaMallocManaged(&buffer[i], n * sizeof(int)));
        CHECK(cudaStreamCreate(&stream[i]));
        CHECK(cudaEventCreate(&read[i]));
    }
    for (int round = 0; round < rounds; round++) {
        const int turn = round % 2;
        if (round >= 2)
            CHECK(cudaEventSynchronize(read[turn]));
        for (int i = 0; i < n; i++)
            buffer[turn][i] = round;
        add_all<<<1, n, 0, stream[turn]>>>(buffer[turn], sum);
        CHECK(cudaEventRecord(read[turn], stream[turn]));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    REQUIRE(result == n * (0 + 1 + 2 + 3 + 4 + 5));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaFree(buffer[i]));
        CHECK(cudaStreamDestroy(stream[i]));
        CHECK(cudaEventDestroy(read[i]));
    }
    CHECK(cudaFree(sum));
    return 0;
}
