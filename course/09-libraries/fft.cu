// A transform and its inverse with cuFFT: the inverse does not divide by n.

#include <cufft.h>
#include <math.h>
#include <stdio.h>

enum { COUNT = 4 };

int main(void)
{
    cufftComplex values[COUNT] = {{1, 0}, {2, 0}, {3, 0}, {4, 0}}, *device;
    cufftHandle plan;
    cudaMalloc(&device, sizeof values);
    cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice);
    if (cufftPlan1d(&plan, COUNT, CUFFT_C2C, 1) != CUFFT_SUCCESS)
        return 1;
    cufftExecC2C(plan, device, device, CUFFT_FORWARD);
    cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);
    for (int i = 0; i < COUNT; i++)
        printf("(%g, %g) ", values[i].x, roundf(values[i].y) + 0.0f);
    cufftExecC2C(plan, device, device, CUFFT_INVERSE);
    cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost);
    printf("and back: %g %g %g %g\n", values[0].x, values[1].x, values[2].x, values[3].x);
    cufftDestroy(plan);
    cudaFree(device);
    return 0;
}
