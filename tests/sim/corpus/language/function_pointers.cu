// Device function pointers in a table, chosen by index; a kernel called through a pointer.
#include "../corpus.h"

typedef int (*operation)(int, int);

__device__ int plus_(int a, int b)
{
    return a + b;
}

__device__ int times_(int a, int b)
{
    return a * b;
}

__device__ operation table[2] = {plus_, times_};

__global__ void calculate(int *output)
{
    output[threadIdx.x] = table[threadIdx.x % 2](threadIdx.x, 3);
}

int main()
{
    int *output = device_zeros<int>(32), result[32];
    void (*kernel)(int *) = calculate;
    kernel<<<1, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == (i % 2 ? i * 3 : i + 3));
    CHECK(cudaFree(output));
    return 0;
}
