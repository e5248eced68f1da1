// A fetch is one access of the line that makes it, whatever the texture's format; a linear filter reads two texels on
// each axis.
#include "../corpus/corpus.h"

__global__ void sample(cudaTextureObject_t line, cudaTextureObject_t image, cudaTextureObject_t smooth, float *output)
{
    int t = threadIdx.x;
    float sum = 0;
    sum += tex1Dfetch<unsigned char>(line, t);  // count: load global requests=1 lanes=32 units=1 ideal=1
    sum += tex2D<float>(image, t + 0.5f, 1.5f); // count: load global requests=1 lanes=32 units=4 ideal=4
    sum += tex1D<float>(smooth, (float)t + 1);  // count: load global requests=2 lanes=64
    output[t] = sum;                            // count: store global requests=1 units=4
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, cudaTextureFilterMode filter)
{
    cudaTextureObject_t made = 0;
    cudaTextureDesc description = {};
    description.filterMode = filter;
    CHECK(cudaCreateTextureObject(&made, &resource, &description, NULL));
    return made;
}

static cudaArray_t array_of(int width, int height)
{
    float host[4 * 64] = {0};
    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, width * sizeof(float), width * sizeof(float), height ? height : 1,
                              cudaMemcpyHostToDevice));
    return array;
}

int main()
{
    unsigned char *bytes = device_zeros<unsigned char>(32);
    float *output = device_zeros<float>(32);
    cudaResourceDesc linear = {}, image = {}, row = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = bytes;
    linear.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    linear.res.linear.sizeInBytes = 32;
    image.resType = row.resType = cudaResourceTypeArray;
    image.res.array.array = array_of(32, 4);
    row.res.array.array = array_of(64, 0);
    cudaTextureObject_t textures[3] = {texture_of(linear, cudaFilterModePoint), texture_of(image, cudaFilterModePoint),
                                       texture_of(row, cudaFilterModeLinear)};
    sample<<<1, 32>>>(textures[0], textures[1], textures[2], output);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        CHECK(cudaDestroyTextureObject(textures[i]));
    CHECK(cudaFreeArray(image.res.array.array));
    CHECK(cudaFreeArray(row.res.array.array));
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(output));
    return 0;
}
