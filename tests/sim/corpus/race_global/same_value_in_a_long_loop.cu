// Every thread stores the same value wherever another does, in more rounds than the log of a thread holds, and in
// rounds that a barrier separates and that differ: formal only.
#include "../corpus.h"

enum { ROUNDS = 64 };

__global__ void mark(const int *input, int *marks)
{
    for (int i = 0; i < ROUNDS; i++)
        if (input[threadIdx.x + i])
            marks[i] = 7; // expect: race(warning)
}

__global__ void count(int *round)
{
    for (int i = 0; i < ROUNDS; i++) {
        *round = i; // expect: race(warning)
        __syncthreads();
    }
}

int main()
{
    int *input = device_ramp(128, 1, 1), *marks = device_zeros<int>(ROUNDS), *round = device_zeros<int>(1);
    mark<<<1, 33>>>(input, marks);
    SHOW(cudaGetLastError());
    count<<<1, 33>>>(round);
    SHOW(cudaGetLastError());
    int result[1];
    fetch(result, round);
    REQUIRE(result[0] == ROUNDS - 1);
    CHECK(cudaFree(input));
    CHECK(cudaFree(marks));
    CHECK(cudaFree(round));
    return 0;
}
