// Stream-ordered memory: taken, used and given back within the stream, twice.
#include "../corpus.h"

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value + threadIdx.x;
}

int main()
{
    cudaStream_t stream;
    int result[64];
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 2; round++) {
        int *data = NULL;
        CHECK(cudaMallocAsync((void **)&data, sizeof result, stream));
        fill<<<1, 64, 0, stream>>>(data, round);
        CHECK(cudaMemcpyAsync(result, data, sizeof result, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
        REQUIRE(result[63] == round + 63);
    }
    CHECK(cudaStreamDestroy(stream));
    return 0;
}
