// Data goes to the card in one stream and back in another: with an event between them, and without.
#include "../corpus.h"

int main()
{
    const int COUNT = 256, BYTES = COUNT * (int)sizeof(int);
    int *pinned, *back, *device = device_zeros<int>(COUNT), *other = device_zeros<int>(COUNT);
    cudaStream_t there, here;
    cudaEvent_t copied;
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaMallocHost(&back, BYTES));
    CHECK(cudaStreamCreateWithFlags(&there, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&here, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&copied));
    CHECK(cudaDeviceSynchronize()); // for the zeros, which streams that do not block do not wait for
    for (int i = 0; i < COUNT; i++)
        pinned[i] = i;
    CHECK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, there));
    CHECK(cudaEventRecord(copied, there));
    CHECK(cudaStreamWaitEvent(here, copied, 0));
    CHECK(cudaMemcpyAsync(back, device, BYTES, cudaMemcpyDeviceToHost, here));
    CHECK(cudaStreamSynchronize(here));
    REQUIRE(back[COUNT - 1] == COUNT - 1);
    SHOW(cudaMemcpyAsync(other, pinned, BYTES, cudaMemcpyHostToDevice, there)); // expect: missing-wait a
    SHOW(cudaMemcpyAsync(back, other, BYTES, cudaMemcpyDeviceToHost, here));    // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(copied));
    CHECK(cudaStreamDestroy(there));
    CHECK(cudaStreamDestroy(here));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(back));
    CHECK(cudaFree(device));
    CHECK(cudaFree(other));
    return 0;
}
