// Names that CUDA's headers leave to the program, though the standard library or other compilers have them.
#include "../corpus.h"

using namespace std;

float *array;
int *apply;

__device__ unsigned long long __globaltimer()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// The sum of the absolute differences of four bytes.
__device__ unsigned int __usad4(unsigned int left, unsigned int right, unsigned int sum)
{
    unsigned int result;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(result) : "r"(left), "r"(right), "r"(sum));
    return result;
}

__global__ void fill(float *values, int *sums)
{
    unsigned long long begun = __globaltimer();
    values[threadIdx.x] = __globaltimer() >= begun ? 1 : 2;
    sums[threadIdx.x] = (int)__usad4(0x01ff0203, 0x03000201, threadIdx.x);
}

int main()
{
    const int n = 32;
    float values[n];
    int sums[n];
    CHECK(cudaMalloc(&array, sizeof values));
    CHECK(cudaMalloc(&apply, sizeof sums));
    fill<<<1, n>>>(array, apply);
    CHECK(cudaMemcpy(values, array, sizeof values, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums, apply, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(values[i] == 1 && sums[i] == 2 + 255 + 0 + 2 + i);
    CHECK(cudaFree(array));
    CHECK(cudaFree(apply));
}
