// The driver API beside the runtime's, as CUDA 13 declares it: a context, a stream, pinned memory that a kernel writes.
#include "../corpus.h"

#include <cuda.h>

__global__ void fill(int *values)
{
    values[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    CUdevice device;
    CUcontext context;
    CUctxCreateParams parameters = {};
    CUstream stream;
    CUuuid identity;
    CUarray none = nullptr;
    CUdeviceptr values;
    CUmodule module;
    int mode = -1, peer = -1;
    void *pinned;
    REQUIRE(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS && none == nullptr);
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
    REQUIRE(cuCtxDestroy(context) == CUDA_SUCCESS);
}
