// A transform and its inverse with cuFFT: the inverse does not divide by n.

#include <cufft.h>

#include "../05-first-kernels/cuda_check.h"

#define CUFFT_CHECK(call)                                                                                              \
    do {                                                                                                               \
        if ((call) != CUFFT_SUCCESS)                                                                                   \
            cuda_check_failed(__FILE__, __LINE__, #call, "cuFFT reports an error");                                    \
    } while (0)

enum { COUNT = 4 };

int main(void)
{
    cufftComplex values[COUNT] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}}, *device;
    cufftHandle plan;
    CUDA_CHECK(cudaMalloc(&device, sizeof values));
    CUDA_CHECK(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
    CUFFT_CHECK(cufftPlan1d(&plan, COUNT, CUFFT_C2C, 1));
    CUFFT_CHECK(cufftExecC2C(plan, device, device, CUFFT_FORWARD));
    CUDA_CHECK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        printf("(%.3f, %.3f)%c", values[i].x, values[i].y, i < COUNT - 1 ? ' ' : '\n');
    CUFFT_CHECK(cufftExecC2C(plan, device, device, CUFFT_INVERSE));
    CUDA_CHECK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
    printf("and back: %.3f %.3f %.3f %.3f\n", values[0].x, values[1].x, values[2].x, values[3].x);
    CUFFT_CHECK(cufftDestroy(plan));
    CUDA_CHECK(cudaFree(device));
    return 0;
}
