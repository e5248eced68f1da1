// Calls that fail: one that the program looks at is what it asked, one that it throws away or only checks is a mistake.
#include "../corpus.h"

static cudaError_t select_device(int device)
{
    return cudaSetDevice(device); // expect: bad-call(warning)
}

int main()
{
    if (cudaSetDevice(7) != cudaSuccess) // expect: bad-call(warning)
        cudaGetLastError();
    void *pieces[64];
    int count = 0, can = 0;
    while (count < 64 && cudaMalloc(&pieces[count], (size_t)32 << 30) == cudaSuccess) // expect: bad-call(warning)
        count++;
    for (int i = 0; i < count; i++)
        CHECK(cudaFree(pieces[i]));
    cudaError_t status = cudaDeviceCanAccessPeer(&can, 0, 1); // expect: bad-call(warning)
    printf("%s\n", cudaGetErrorString(status));
    if (select_device(3) != cudaSuccess)
        cudaGetLastError();
    if (cudaError_t failed = cudaSetDevice(8)) // expect: bad-call(warning)
        printf("%d\n", failed);
    if (!(status = cudaSetDevice(9))) // expect: bad-call(warning)
        printf("a tenth device\n");
    for (int device = 10; status != cudaSuccess; device = 0)
        status = cudaSetDevice(device); // expect: bad-call(warning)
    cudaGetLastError();
    cudaSetDevice(5);       // expect: bad-call
    SHOW(cudaSetDevice(6)); // expect: bad-call
    return 0;
}
