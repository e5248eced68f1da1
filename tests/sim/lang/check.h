// What the programs in this folder share: a kernel or main states what must hold, and the program fails when it does
// not.
#ifndef LANG_CHECK_H
#define LANG_CHECK_H

#include <cstdio>

__managed__ int check_failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                       \
            check_failures = check_failures + 1;                                                                       \
        }                                                                                                              \
    } while (0)

// At the end of main.
static int check_result()
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    return check_failures != 0;
}

#endif
