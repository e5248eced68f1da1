// A texture object over linear memory and over an array, point and linear filtering, clamped.
#include "../corpus.h"

__global__ void read(cudaTextureObject_t line, cudaTextureObject_t image, float *output)
{
    int t = threadIdx.x;
    output[t] = tex1Dfetch<float>(line, 15 - t);
    output[16 + t] = tex2D<float>(image, t % 4 + 0.5f, t / 4 + 0.5f);
    output[32 + t] = tex2D<float>(image, -3.0f, 100.0f);
}

int main()
{
    float host[16], result[48];
    for (int i = 0; i < 16; i++)
        host[i] = (float)i;
    float *linear = device_copy(host), *output = device_zeros<float>(48);

    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = sizeof host;
    cudaTextureDesc texture = {};
    texture.readMode = cudaReadModeElementType;
    cudaTextureObject_t line = 0, image = 0;
    CHECK(cudaCreateTextureObject(&line, &resource, &texture, NULL));

    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 4, 4));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, 4 * sizeof(float), 4 * sizeof(float), 4, cudaMemcpyHostToDevice));
    cudaResourceDesc picture = {};
    picture.resType = cudaResourceTypeArray;
    picture.res.array.array = array;
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModeLinear;
    CHECK(cudaCreateTextureObject(&image, &picture, &texture, NULL));

    read<<<1, 16>>>(line, image, output);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 16; i++)
        REQUIRE(result[i] == 15 - i && result[16 + i] == i && result[32 + i] == 12);
    CHECK(cudaDestroyTextureObject(line));
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(linear));
    CHECK(cudaFree(output));
    return 0;
}
