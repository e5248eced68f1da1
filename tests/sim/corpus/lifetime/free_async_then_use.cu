// Memory given back to the stream's pool and used by a later kernel of the same stream.
#include "../corpus.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 1; // expect: use-after-free
}

int main()
{
    cudaStream_t stream;
    int *data = NULL;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync((void **)&data, 256, stream));
    CHECK(cudaFreeAsync(data, stream));
    fill<<<1, 64, 0, stream>>>(data);
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaStreamDestroy(stream));
    return 0;
}
