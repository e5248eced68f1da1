// flags: -fopenmp. OpenMP in the host code, a stream for each thread.
#include "../corpus.h"

__global__ void twice(float *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    float *data = device_ramp(128, 0.0f, 1.0f), result[128];
    double sum = 0;
    CHECK(cudaDeviceSynchronize());
#pragma omp parallel for num_threads(2)
    for (int part = 0; part < 4; part++) {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        twice<<<1, 32, 0, stream>>>(data + 32 * part);
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
    }
    fetch(result, data);
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 128; i++)
        sum += result[i];
    REQUIRE(sum == 127 * 128);
    CHECK(cudaFree(data));
    return 0;
}
