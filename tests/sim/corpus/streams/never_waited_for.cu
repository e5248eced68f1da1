// A kernel that nothing waits for still runs: its printf is seen, its faults are found.
#include "../corpus.h"

__device__ int numbers[4];

__global__ void late()
{
    printf("late %d\n", numbers[0]);
}

int main()
{
    late<<<1, 1>>>();
    return 0;
}
