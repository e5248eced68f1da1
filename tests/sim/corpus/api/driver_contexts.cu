// The driver API beside the runtime's, as CUDA 13 declares it: a context, a stream, pinned memory that a kernel writes.
#include "../corpus.h"

#include <cuda.h>

__global__ void fill(int *values)
{
    values[threadIdx.x] = (int)threadIdx.x;
}

__global__ void fetch(cudaTextureObject_t texture, float *values)
{
    values[threadIdx.x] = tex2D<float>(texture, (float)threadIdx.x, 1.0f);
}

// A copy into an array, and a texture over it.
static void array_and_texture()
{
    const int width = 8, height = 2;
    float rows[height][width], fetched[width], *values;
    for (int i = 0; i < height * width; i++)
        rows[i / width][i % width] = (float)i;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {width, height, CU_AD_FORMAT_FLOAT, 1};
    REQUIRE(cuArrayCreate(&array, &shape) == CUDA_SUCCESS);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = rows;
    copy.srcPitch = sizeof rows[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof rows[0];
    copy.Height = height;
    REQUIRE(cuMemcpy2D(&copy) == CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC about = {};
    CUtexObject texture;
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    REQUIRE(cuTexObjectCreate(&texture, &resource, &about, nullptr) == CUDA_SUCCESS);
    CHECK(cudaMalloc(&values, sizeof fetched));
    fetch<<<1, width>>>(texture, values);
    CHECK(cudaMemcpy(fetched, values, sizeof fetched, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width; i++)
        REQUIRE(fetched[i] == (float)(width + i));
    CHECK(cudaFree(values));
    REQUIRE(cuTexObjectDestroy(texture) == CUDA_SUCCESS && cuArrayDestroy(array) == CUDA_SUCCESS);
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUctxCreateParams parameters = {};
    CUstream stream;
    CUuuid identity;
    CUdeviceptr values;
    CUmodule module;
    int mode = -1, peer = -1;
    void *pinned;
    REQUIRE(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    REQUIRE(cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, device) == CUDA_SUCCESS);
    REQUIRE(mode != CU_COMPUTEMODE_PROHIBITED);
    REQUIRE(cuDeviceCanAccessPeer(&peer, device, device) == CUDA_SUCCESS && peer == 0);
    REQUIRE(cuDeviceGetUuid(&identity, device) == CUDA_SUCCESS);
    REQUIRE(cuCtxCreate(&context, &parameters, CU_CTX_MAP_HOST, device) == CUDA_SUCCESS);
    REQUIRE(cuModuleLoadDataEx(&module, "", 0, nullptr, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(cuMemHostAlloc(&pinned, 32 * sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
    REQUIRE(cuMemHostGetDevicePointer(&values, pinned, 0) == CUDA_SUCCESS);
    fill<<<1, 32, 0, stream>>>((int *)values);
    REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS && cuStreamQuery(stream) == CUDA_SUCCESS);
    REQUIRE(((int *)pinned)[31] == 31);
    REQUIRE(cuMemFreeHost(pinned) == CUDA_SUCCESS && cuStreamDestroy(stream) == CUDA_SUCCESS);
    array_and_texture();
    REQUIRE(cuCtxDestroy(context) == CUDA_SUCCESS);
}
