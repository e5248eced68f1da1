// free and delete of memory that CUDA allocated: the C library would end the program over it.
#include "../corpus.h"

int main()
{
    int *freed = device_zeros<int>(64), *deleted = device_zeros<int>(64), *array = device_zeros<int>(64), *pinned;
    CHECK(cudaMallocHost((void **)&pinned, 64));
    free(freed);    // expect: invalid-free
    delete deleted; // expect: invalid-free
    delete[] array; // expect: invalid-free
    free(pinned);   // expect: invalid-free
    CHECK(cudaFree(freed));
    CHECK(cudaFree(deleted));
    CHECK(cudaFree(array));
    CHECK(cudaFreeHost(pinned));
    return 0;
}
