// Registered memory in pieces: the host works on one while a stream copies another, and waits for each before it uses
// it.
#include "../corpus.h"
#include <vector>

__global__ void add_one(int *x)
{
    x[threadIdx.x] += 1;
}

int main()
{
    const int n = 256, pieces = 4, width = 16, rows = 8;
    std::vector<int> host(n * pieces, 3);
    int *data = device_zeros<int>(n * pieces);
    cudaStream_t stream[2];
    CHECK(cudaHostRegister(host.data(), n * pieces * sizeof(int), cudaHostRegisterDefault));
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamCreate(&stream[i]));
    for (int piece = 0; piece < pieces; piece++) {
        cudaStream_t mine = stream[piece % 2];
        for (int i = 0; i < n; i++)
            host[piece * n + i] = i;
        CHECK(cudaMemcpyAsync(data + piece * n, &host[piece * n], n * sizeof(int), cudaMemcpyHostToDevice, mine));
        add_one<<<1, n, 0, mine>>>(data + piece * n);
        CHECK(cudaMemcpyAsync(&host[piece * n], data + piece * n, n * sizeof(int), cudaMemcpyDeviceToHost, mine));
    }
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamSynchronize(stream[i]));
    for (int i = 0; i < n * pieces; i++)
        REQUIRE(host[i] == i % n + 1);

    // The left half of a matrix is copied, and the right half is the host's. The source may be read.
    CHECK(cudaMemcpy2DAsync(data, width / 2 * sizeof(int), host.data(), width * sizeof(int), width / 2 * sizeof(int),
                            rows, cudaMemcpyHostToDevice, stream[0]));
    int sum = host[0];
    for (int row = 0; row < rows; row++)
        for (int column = width / 2; column < width; column++)
            host[row * width + column] = 0;
    cudaEvent_t copied;
    CHECK(cudaEventCreate(&copied));
    CHECK(cudaEventRecord(copied, stream[0]));
    CHECK(cudaEventSynchronize(copied));
    host[0] = sum;
    CHECK(cudaHostUnregister(host.data()));

    // Pageable again: the source is taken at the call.
    CHECK(cudaMemcpyAsync(data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream[0]));
    host[0] = 5;
    CHECK(cudaStreamSynchronize(stream[0]));
    for (int i = 0; i < 2; i++)
        CHECK(cudaStreamDestroy(stream[i]));
    CHECK(cudaEventDestroy(copied));
    CHECK(cudaFree(data));
    return 0;
}
