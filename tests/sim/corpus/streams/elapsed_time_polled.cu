// Waiting by asking for a time, an event or a stream again and again is waiting.
#include "../corpus.h"

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}

int main()
{
    int *data = NULL;
    float milliseconds = 0;
    cudaEvent_t start, stop;
    cudaStream_t stream;
    CHECK(cudaMallocManaged(&data, 32 * sizeof(int)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < 32; i++)
        data[i] = 0;
    for (int round = 1; round <= 3; round++) {
        (void)cudaGetLastError(); // the last query left cudaErrorNotReady
        CHECK(cudaEventRecord(start, stream));
        add<<<1, 32, 0, stream>>>(data, 1);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(stop, stream));
        while (cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorNotReady)
            ;
        REQUIRE(milliseconds > 0 && data[31] == 3 * round - 2);
        add<<<1, 32, 0, stream>>>(data, 1);
        CHECK(cudaEventRecord(stop, stream));
        while (cudaEventQuery(stop) == cudaErrorNotReady)
            ;
        REQUIRE(data[31] == 3 * round - 1);
        add<<<1, 32, 0, stream>>>(data, 1);
        while (cudaStreamQuery(stream) == cudaErrorNotReady)
            ;
        REQUIRE(data[31] == 3 * round);
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return 0;
}
