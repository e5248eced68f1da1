// A texture object that is destroyed right behind the launch that uses it: the kernel was launched with it.
#include "../corpus.h"

__global__ void fetch_all(cudaTextureObject_t texture, float *output)
{
    output[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

int main()
{
    float *input = device_ramp(64, 0.0f, 1.0f), *output = device_zeros<float>(64), result[64];
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = input;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 64 * sizeof(float);
    cudaTextureDesc description = {};
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &description, NULL));
    fetch_all<<<1, 64>>>(texture, output);
    CHECK(cudaGetLastError());
    CHECK(cudaDestroyTextureObject(texture));
    fetch(result, output);
    REQUIRE(result[63] == 63);
    CHECK(cudaFree(input));
    CHECK(cudaFree(output));
    return 0;
}
