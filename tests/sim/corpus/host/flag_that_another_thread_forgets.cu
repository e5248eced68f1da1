// The thread that should tell the kernel to stop ends without it: nobody is left who could.
#include "../corpus.h"
#include <chrono>
#include <thread>

__global__ void wait_for_host(volatile int *stop)
{
    while (*stop == 0) // expect: spin
        continue;
}

int main()
{
    int *stop = NULL;
    SHOW(cudaHostAlloc((void **)&stop, sizeof(int), cudaHostAllocMapped));
    *stop = 0;
    std::thread watch([] { std::this_thread::sleep_for(std::chrono::milliseconds(400)); });
    wait_for_host<<<1, 1>>>(stop);
    SHOW(cudaDeviceSynchronize());
    watch.join();
    SHOW(cudaFreeHost(stop));
    return 0;
}
