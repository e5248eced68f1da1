// Structures in shared memory whose empty constructors, destructors and member functions are not inlined: what the
// compiler adds to construct them is no access of the program.
#include "../corpus.h"

struct cell {
    int value;
    __device__ __noinline__ cell()
    {
    }
    __device__ __noinline__ ~cell()
    {
    }
    __device__ __noinline__ void set(int given)
    {
        value = given;
    }
    __device__ __noinline__ int twice() const
    {
        return 2 * value;
    }
};

template <typename T, int N> struct stack {
    T at[N];
    cell top;
    __device__ stack()
    {
    }
    __device__ __noinline__ T &operator[](int i)
    {
        return at[i];
    }
};

struct derived : cell {
    int other;
    __device__ __noinline__ derived()
    {
    }
};

__shared__ cell of_file;

__device__ __noinline__ int through_function(int i)
{
    __shared__ cell inside[32];
    inside[i].set(i);
    __syncthreads();
    return inside[31 - i].twice();
}

__global__ void use(int *output)
{
    __shared__ cell one, many[32];
    __shared__ stack<int, 32> numbers;
    __shared__ stack<cell, 32> cells;
    __shared__ derived last;
    int i = threadIdx.x;
    many[i].set(i);
    numbers[i] = 10 * i;
    cells[i].set(100 * i);
    if (i == 0) {
        one.set(1);
        of_file.set(2);
        last.set(3);
        last.other = 4;
        numbers.top.set(5);
    }
    __syncthreads();
    int from = 31 - i;
    output[32 * blockIdx.x + i] = many[from].twice() + numbers[from] + cells[from].twice() + one.twice() +
                                  of_file.twice() + last.twice() + last.other + numbers.top.value + through_function(i);
}

int main()
{
    int *output = device_zeros<int>(4 * 32), result[4 * 32];
    use<<<4, 32>>>(output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 4 * 32; i++)
        REQUIRE(result[i] == (2 + 10 + 200 + 2) * (31 - i % 32) + 2 + 4 + 6 + 4 + 5);
    CHECK(cudaFree(output));
    return 0;
}
