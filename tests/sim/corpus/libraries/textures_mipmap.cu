// Levels of a mipmap, by number, between two of them, and by gradients.
#include "../corpus.h"

enum { SIZE = 8, LEVELS = 4 };

__global__ void halve(cudaTextureObject_t from, cudaSurfaceObject_t to, int size)
{
    const int x = threadIdx.x, y = threadIdx.y;
    if (x >= size || y >= size)
        return;
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += tex2D<float>(from, 2 * x + i % 2 + 0.5f, 2 * y + i / 2 + 0.5f);
    surf2Dwrite(sum / 4, to, x * (int)sizeof(float), y);
}

__global__ void sample(cudaTextureObject_t texture, float *out, float step)
{
    const int i = threadIdx.x;
    out[i] = tex2DLod<float>(texture, 0.5f, 0.5f, i * step);
    out[8 + i] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(exp2f((float)i) / SIZE, 0), make_float2(0, 0));
}

static cudaTextureObject_t texture_of(cudaMipmappedArray_t mipmap, cudaTextureFilterMode between)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = mipmap;
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    description.normalizedCoords = 1;
    description.mipmapFilterMode = between;
    description.maxMipmapLevelClamp = LEVELS - 1;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    return texture;
}

static void fill(cudaMipmappedArray_t mipmap)
{
    float texels[SIZE * SIZE];
    for (int i = 0; i < SIZE * SIZE; i++)
        texels[i] = (float)i;
    cudaArray_t array;
    CHECK(cudaGetMipmappedArrayLevel(&array, mipmap, 0));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, SIZE * sizeof(float), SIZE * sizeof(float), SIZE,
                              cudaMemcpyHostToDevice));
    for (unsigned level = 1; level < LEVELS; level++) {
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaTextureDesc description = {};
        cudaTextureObject_t from;
        CHECK(cudaCreateTextureObject(&from, &resource, &description, NULL));
        CHECK(cudaGetMipmappedArrayLevel(&array, mipmap, level));
        resource.res.array.array = array;
        cudaSurfaceObject_t to;
        CHECK(cudaCreateSurfaceObject(&to, &resource));
        halve<<<1, dim3(SIZE, SIZE)>>>(from, to, SIZE >> level);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaDestroyTextureObject(from));
        CHECK(cudaDestroySurfaceObject(to));
    }
}

int main()
{
    // In the middle of each level, and halfway between that and the next.
    const float level[LEVELS] = {36, 40.5f, 49.5f, 31.5f};
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    float *out = device_zeros<float>(16), result[16];
    cudaMipmappedArray_t mipmap;
    CHECK(
        cudaMallocMipmappedArray(&mipmap, &format, make_cudaExtent(SIZE, SIZE, 0), LEVELS, cudaArraySurfaceLoadStore));
    fill(mipmap);
    cudaTextureObject_t nearest = texture_of(mipmap, cudaFilterModePoint);
    sample<<<1, 6>>>(nearest, out, 1);
    fetch(result, out);
    for (int i = 0; i < 6; i++)
        REQUIRE(result[i] == level[i < LEVELS ? i : LEVELS - 1] && result[8 + i] == result[i]);
    cudaTextureObject_t mixed = texture_of(mipmap, cudaFilterModeLinear);
    sample<<<1, 6>>>(mixed, out, 0.5f);
    fetch(result, out);
    for (int i = 0; i < 6; i++)
        REQUIRE(result[i] == (level[i / 2] + level[(i + 1) / 2]) / 2);
    CHECK(cudaDestroyTextureObject(nearest));
    CHECK(cudaDestroyTextureObject(mixed));
    CHECK(cudaFreeMipmappedArray(mipmap));
    CHECK(cudaFree(out));
    return 0;
}
