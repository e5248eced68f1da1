// Arguments that are wrong on every machine stay an error, whether the program looks at the status or overwrites it.
#include "../corpus.h"

__global__ void twice(float *values)
{
    values[threadIdx.x] *= 2;
}

int main()
{
    float host[32] = {1}, *values = device_zeros<float>(32);
    cudaError_t status;
    if (cudaMemcpy(values, host, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) // expect: bad-call
        printf("the copy failed\n");
    twice<<<1, 32>>>(values);
    status = cudaMemcpy(host, values, 128, cudaMemcpyHostToDevice); // expect: bad-call; unchecked-error(warning)
    status = cudaDeviceSynchronize();
    if (status != cudaSuccess)
        return 1;
    status = cudaSetDevice(7); // expect: bad-call; unchecked-error(warning)
    status = cudaFree(values);
    return status == cudaSuccess ? 0 : 1;
}
