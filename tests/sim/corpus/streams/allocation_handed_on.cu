// Memory that is allocated in the order of one stream and used in others, which wait for the allocation: behind an
// event, after a wait of the host, by the rules of the legacy default stream, and in the other direction.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    int host[32];
    cudaStream_t first, second;
    cudaEvent_t made;
    CHECK(cudaEventCreate(&made));
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    for (int way = 0; way < 4; way++) {
        int *data = NULL;
        cudaStream_t from = way == 2 ? (cudaStream_t)0 : first, to = way == 3 ? (cudaStream_t)0 : second;
        CHECK(cudaMallocAsync(&data, sizeof host, from));
        if (way == 0) {
            CHECK(cudaEventRecord(made, from));
            CHECK(cudaStreamWaitEvent(to, made, 0));
        }
        if (way == 1)
            CHECK(cudaStreamSynchronize(from));
        fill<<<1, 32, 0, to>>>(data);
        CHECK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, to));
        CHECK(cudaStreamSynchronize(to));
        REQUIRE(host[31] == 31);
        CHECK(cudaFreeAsync(data, from));
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(made));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
