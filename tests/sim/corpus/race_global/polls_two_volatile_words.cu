// A thread waits for either of two volatile words, counting its looks, and for both of two others.
#include "../corpus.h"

__device__ volatile int first, second, left, right;
__device__ int data;

__global__ void wait_for_one(int *output)
{
    int looks = 0;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (!first && !second) // expect: race(warning) a
            looks++;
        __threadfence();
        output[0] = data;
        output[1] = looks >= 0;
    } else if (threadIdx.x == 0) {
        data = 5;
        __threadfence();
        first = 1; // expect: race(warning) a
    }
}

__global__ void wait_for_both(int *output)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (!(left && right)) // expect: race(warning) b; race(warning) c
            ;
        output[2] = 1;
    } else if (threadIdx.x == 0) {
        right = 1; // expect: race(warning) b
        left = 1;  // expect: race(warning) c
    }
}

int main()
{
    int *output = device_zeros<int>(3), result[3];
    wait_for_one<<<2, 32>>>(output);
    SHOW(cudaGetLastError());
    wait_for_both<<<2, 32>>>(output);
    SHOW(cudaGetLastError());
    fetch(result, output);
    REQUIRE(result[0] == 5 && result[1] == 1 && result[2] == 1);
    CHECK(cudaFree(output));
    return 0;
}
