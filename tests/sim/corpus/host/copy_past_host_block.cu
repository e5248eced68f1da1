// Copies past the end of host memory: of malloc, of new, of a vector, of a pointer into a block or
// to its end, of a global array.
#include "../corpus.h"

#include <vector>

static int table[16];

int main()
{
    int *device = device_zeros<int>(32), *block = (int *)malloc(16 * sizeof(int)), *array = new int[16];
    std::vector<int> numbers(31);
    SHOW(cudaMemcpy(block, device, 32 * sizeof(int), cudaMemcpyDeviceToHost));          // expect: out-of-bounds
    SHOW(cudaMemcpy(array, device, 17 * sizeof(int), cudaMemcpyDeviceToHost));          // expect: out-of-bounds
    SHOW(cudaMemcpy(numbers.data(), device, 32 * sizeof(int), cudaMemcpyDeviceToHost)); // expect: out-of-bounds
    SHOW(cudaMemcpy(block + 8, device, 9 * sizeof(int), cudaMemcpyDeviceToHost));       // expect: out-of-bounds
    SHOW(cudaMemcpy(device, block + 16, 4 * sizeof(int), cudaMemcpyHostToDevice));      // expect: out-of-bounds
    SHOW(cudaMemcpy(device, &*numbers.end(), sizeof(int), cudaMemcpyHostToDevice));     // expect: out-of-bounds
    SHOW(cudaMemcpy(device, table, sizeof table + 1, cudaMemcpyHostToDevice));          // expect: out-of-bounds
    delete[] array;
    free(block);
    CHECK(cudaFree(device));
    return 0;
}
