// A race of member functions that are not inlined, on structures in shared memory with empty constructors.
#include "../corpus.h"

struct cell {
    int value;
    __device__ __noinline__ cell()
    {
    }
    __device__ __noinline__ void set(int given)
    {
        value = given; // expect: race a
    }
    __device__ __noinline__ int twice() const
    {
        return 2 * value; // expect: race a
    }
};

__global__ void use(int *output)
{
    __shared__ cell many[32];
    int i = threadIdx.x;
    many[i].set(i);
    output[i] = many[31 - i].twice();
}

int main()
{
    int *output = device_zeros<int>(32);
    use<<<1, 32>>>(output);
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaFree(output));
    return 0;
}
