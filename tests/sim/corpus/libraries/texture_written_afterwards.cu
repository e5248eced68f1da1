// A texture's memory may be written by one kernel and fetched by the next, and by a thread that has fetched from it
// before; a surface may read what it has written.
#include "../corpus.h"

enum { SIDE = 8, COUNT = SIDE * SIDE };

__global__ void draw(cudaSurfaceObject_t surface, float *output)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    surf2Dwrite((float)(y * SIDE + x), surface, x * (int)sizeof(float), y);
    output[y * SIDE + x] = surf2Dread<float>(surface, x * (int)sizeof(float), y);
}

__global__ void double_it(cudaTextureObject_t image, cudaSurfaceObject_t surface)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    float value = tex2D<float>(image, (float)x + 0.5f, (float)y + 0.5f);
    surf2Dwrite(2 * value, surface, x * (int)sizeof(float), y);
}

int main()
{
    float *output = device_zeros<float>(COUNT), host[COUNT];
    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, SIDE, SIDE, cudaArraySurfaceLoadStore));
    cudaResourceDesc picture = {};
    picture.resType = cudaResourceTypeArray;
    picture.res.array.array = array;
    cudaTextureDesc texture = {};
    cudaTextureObject_t image = 0;
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateTextureObject(&image, &picture, &texture, NULL));
    CHECK(cudaCreateSurfaceObject(&surface, &picture));
    draw<<<1, dim3(SIDE, SIDE)>>>(surface, output);
    double_it<<<1, dim3(SIDE, SIDE)>>>(image, surface);
    double_it<<<1, dim3(SIDE, SIDE)>>>(image, surface);
    CHECK(cudaMemcpy2DFromArray(host, SIDE * sizeof(float), array, 0, 0, SIDE * sizeof(float), SIDE,
                                cudaMemcpyDeviceToHost));
    REQUIRE(host[COUNT - 1] == 4 * (COUNT - 1));
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(output));
    return 0;
}
