// A kernel fetches from a texture what it has written: through a surface, by the same thread, and by stores of others
// before a barrier. Neither order nor ownership helps, for the texture's cache is not brought up to date.
#include "../corpus.h"

enum { SIDE = 8, COUNT = SIDE * SIDE };

__global__ void through_surface(cudaSurfaceObject_t surface, cudaTextureObject_t image, float *output)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    surf2Dwrite(1.0f, surface, x * (int)sizeof(float), y);                        // expect: race a
    output[y * SIDE + x] = tex2D<float>(image, (float)x + 0.5f, (float)y + 0.5f); // expect: race a
}

__global__ void after_barrier(float *line, cudaTextureObject_t lines, float *output)
{
    line[threadIdx.x] = 2; // expect: race b
    __syncthreads();
    output[threadIdx.x] = tex1Dfetch<float>(lines, COUNT - 1 - (int)threadIdx.x); // expect: race b
}

int main()
{
    float *line = device_zeros<float>(COUNT), *output = device_zeros<float>(COUNT);
    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, SIDE, SIDE, cudaArraySurfaceLoadStore));
    cudaResourceDesc picture = {}, linear = {};
    picture.resType = cudaResourceTypeArray;
    picture.res.array.array = array;
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = line;
    linear.res.linear.desc = format;
    linear.res.linear.sizeInBytes = COUNT * sizeof(float);
    cudaTextureDesc texture = {};
    cudaTextureObject_t image = 0, lines = 0;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateTextureObject(&image, &picture, &texture, NULL));
    CHECK(cudaCreateTextureObject(&lines, &linear, &texture, NULL));
    CHECK(cudaCreateSurfaceObject(&surface, &picture));
    through_surface<<<1, dim3(SIDE, SIDE)>>>(surface, image, output);
    after_barrier<<<1, COUNT>>>(line, lines, output);
    SHOW(cudaDeviceSynchronize());
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaDestroyTextureObject(lines));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(line));
    CHECK(cudaFree(output));
    return 0;
}
