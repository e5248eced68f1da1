// Device memory that an object of the program frees when the program ends is no leak.
#include "../corpus.h"

struct buffer {
    int *memory = NULL;
    ~buffer()
    {
        CHECK(cudaFree(memory));
    }
};
static buffer kept;

__global__ void fill(int *memory)
{
    memory[threadIdx.x] = 1;
}

int main()
{
    CHECK(cudaMalloc(&kept.memory, 32 * sizeof(int)));
    fill<<<1, 32>>>(kept.memory);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
