// A surface is accessed outside, and a texture object is used that was destroyed before the launch.
#include "../corpus.h"

__global__ void write_all(cudaSurfaceObject_t surface)
{
    surf2Dwrite(1.0f, surface, (int)((threadIdx.x + 1) * sizeof(float)), 0); // expect: out-of-bounds
}

__global__ void read_all(cudaTextureObject_t texture, float *output)
{
    output[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f); // expect: use-after-free
}

int main()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    cudaTextureDesc description = {};
    for (int destroyed = 0; destroyed < 2; destroyed++) {
        float *output = device_zeros<float>(32);
        cudaTextureObject_t texture;
        cudaSurfaceObject_t surface;
        CHECK(cudaMallocArray(&resource.res.array.array, &format, 32, 4, cudaArraySurfaceLoadStore));
        CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
        CHECK(cudaCreateSurfaceObject(&surface, &resource));
        if (destroyed) {
            CHECK(cudaDestroyTextureObject(texture));
            read_all<<<1, 32>>>(texture, output);
        } else {
            write_all<<<1, 32>>>(surface);
        }
        SHOW(cudaDeviceSynchronize());
        SHOW(cudaDeviceReset());
    }
    return 0;
}
