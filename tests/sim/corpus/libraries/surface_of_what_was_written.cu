// A thread reads from a surface, behind a barrier, what another thread of the same kernel has written there.
#include "../corpus.h"

enum { SIDE = 8 };

__global__ void turn(cudaSurfaceObject_t surface, float *output)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    surf2Dwrite((float)x, surface, x * (int)sizeof(float), y); // expect: race(warning) a
    __syncthreads();
    output[y * SIDE + x] = surf2Dread<float>(surface, y * (int)sizeof(float), x); // expect: race(warning) a
}

int main()
{
    float *output = device_zeros<float>(SIDE * SIDE);
    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, SIDE, SIDE, cudaArraySurfaceLoadStore));
    cudaResourceDesc picture = {};
    picture.resType = cudaResourceTypeArray;
    picture.res.array.array = array;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &picture));
    turn<<<1, dim3(SIDE, SIDE)>>>(surface, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(output));
    return 0;
}
