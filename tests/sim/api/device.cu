// The card that SIM_GPU names, as programs see it: properties and attributes agree, and its limits hold.
// Argument: SIM_GPU's name, compute capability and number of multiprocessors, as in "a100 8.0 108".
#include "check.h"

static void properties_and_attributes_agree()
{
    cudaDeviceProp card;
    int value;
    WORKS(cudaGetDeviceProperties(&card, 0));
#define AGREE(attribute, field)                                                                                        \
    do {                                                                                                               \
        WORKS(cudaDeviceGetAttribute(&value, attribute, 0));                                                           \
        HOLDS(value == (int)card.field);                                                                               \
    } while (0)
    AGREE(cudaDevAttrMultiProcessorCount, multiProcessorCount);
    AGREE(cudaDevAttrComputeCapabilityMajor, major);
    AGREE(cudaDevAttrComputeCapabilityMinor, minor);
    AGREE(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock);
    AGREE(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock);
    AGREE(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin);
    AGREE(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor);
    AGREE(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor);
    AGREE(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor);
    AGREE(cudaDevAttrMaxRegistersPerMultiprocessor, regsPerMultiprocessor);
    AGREE(cudaDevAttrL2CacheSize, l2CacheSize);
    AGREE(cudaDevAttrGlobalMemoryBusWidth, memoryBusWidth);
    AGREE(cudaDevAttrWarpSize, warpSize);
    AGREE(cudaDevAttrCooperativeLaunch, cooperativeLaunch);
    AGREE(cudaDevAttrManagedMemory, managedMemory);
    AGREE(cudaDevAttrMaxBlockDimX, maxThreadsDim[0]);
    AGREE(cudaDevAttrMaxBlockDimY, maxThreadsDim[1]);
    AGREE(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2]);
    AGREE(cudaDevAttrMaxGridDimX, maxGridSize[0]);
    AGREE(cudaDevAttrMaxGridDimY, maxGridSize[1]);
    AGREE(cudaDevAttrMaxGridDimZ, maxGridSize[2]);
    AGREE(cudaDevAttrReservedSharedMemoryPerBlock, reservedSharedMemPerBlock);
    AGREE(cudaDevAttrMaxRegistersPerBlock, regsPerBlock);
    AGREE(cudaDevAttrTotalConstantMemory, totalConstMem);
    AGREE(cudaDevAttrMaxPitch, memPitch);
    AGREE(cudaDevAttrTextureAlignment, textureAlignment);
    AGREE(cudaDevAttrTexturePitchAlignment, texturePitchAlignment);
    AGREE(cudaDevAttrSurfaceAlignment, surfaceAlignment);
    AGREE(cudaDevAttrMaxTexture1DWidth, maxTexture1D);
    AGREE(cudaDevAttrMaxTexture2DWidth, maxTexture2D[0]);
    AGREE(cudaDevAttrMaxTexture2DHeight, maxTexture2D[1]);
    AGREE(cudaDevAttrMaxTexture3DDepth, maxTexture3D[2]);
    AGREE(cudaDevAttrMaxTexture2DLayeredHeight, maxTexture2DLayered[1]);
    AGREE(cudaDevAttrMaxTexture2DLayeredLayers, maxTexture2DLayered[2]);
    AGREE(cudaDevAttrAsyncEngineCount, asyncEngineCount);
    AGREE(cudaDevAttrEccEnabled, ECCEnabled);
    AGREE(cudaDevAttrPciBusId, pciBusID);
#undef AGREE
    HOLDS(card.maxThreadsDim[0] == 1024 && card.maxThreadsDim[1] == 1024 && card.maxThreadsDim[2] == 64);
    HOLDS(card.maxGridSize[0] == 2147483647 && card.maxGridSize[1] == 65535 && card.maxGridSize[2] == 65535);
    HOLDS(card.sharedMemPerBlock <= card.sharedMemPerBlockOptin);
    HOLDS(card.sharedMemPerBlockOptin <= card.sharedMemPerMultiprocessor);
    size_t free_bytes, total;
    WORKS(cudaMemGetInfo(&free_bytes, &total));
    HOLDS(total == card.totalGlobalMem);
    GIVES(cudaErrorInvalidDevice, cudaGetDeviceProperties(&card, 1));
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0));
    (void)cudaGetLastError();
}

static bool are(const int *values, int first, int second)
{
    return values[0] == first && values[1] == second;
}

static bool are(const int *values, int first, int second, int third)
{
    return are(values, first, second) && values[2] == third;
}

// As in the table of technical specifications of the programming guide, from compute capability 6 on.
static void limits_are_those_of_the_guide()
{
    cudaDeviceProp card;
    WORKS(cudaGetDeviceProperties(&card, 0));
    HOLDS(card.warpSize == 32 && card.maxThreadsPerBlock == 1024);
    HOLDS(card.totalConstMem == 64 << 10 && card.regsPerBlock == 64 << 10);
    HOLDS(card.maxTexture1D == 131072 && card.maxTexture1DMipmap == 32768);
    HOLDS(are(card.maxTexture1DLayered, 32768, 2048));
    HOLDS(are(card.maxTexture2D, 131072, 65536) && are(card.maxTexture2DMipmap, 32768, 32768));
    HOLDS(are(card.maxTexture2DLinear, 131072, 65000, 2097120) && are(card.maxTexture2DGather, 32768, 32768));
    HOLDS(are(card.maxTexture2DLayered, 32768, 32768, 2048));
    HOLDS(are(card.maxTexture3D, 16384, 16384, 16384) && are(card.maxTexture3DAlt, 8192, 8192, 32768));
    HOLDS(card.maxTextureCubemap == 32768 && are(card.maxTextureCubemapLayered, 32768, 2046));
    HOLDS(card.maxSurface1D == 32768 && are(card.maxSurface1DLayered, 32768, 2048));
    HOLDS(are(card.maxSurface2D, 131072, 65536) && are(card.maxSurface2DLayered, 32768, 32768, 2048));
    HOLDS(are(card.maxSurface3D, 16384, 16384, 16384));
    HOLDS(card.maxSurfaceCubemap == 32768 && are(card.maxSurfaceCubemapLayered, 32768, 2046));
}

static void there_is_one_device()
{
    int count, device, can;
    char bus[32];
    WORKS(cudaGetDeviceCount(&count));
    WORKS(cudaGetDevice(&device));
    HOLDS(count == 1 && device == 0);
    WORKS(cudaSetDevice(0));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(1));
    GIVES(cudaErrorInvalidDevice, cudaSetDevice(-1));
    WORKS(cudaDeviceCanAccessPeer(&can, 0, 0));
    HOLDS(can == 0);
    WORKS(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    WORKS(cudaDeviceGetByPCIBusId(&device, bus));
    HOLDS(device == 0);
    cudaDeviceProp wanted = {};
    WORKS(cudaChooseDevice(&device, &wanted));
    int runtime, driver;
    WORKS(cudaRuntimeGetVersion(&runtime));
    WORKS(cudaDriverGetVersion(&driver));
    HOLDS(runtime == CUDART_VERSION && driver >= runtime);
    (void)cudaGetLastError();
}

static void limits_can_be_set()
{
    size_t value;
    WORKS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    WORKS(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    HOLDS(value >= 64 << 20);
    GIVES(cudaErrorInvalidValue, cudaDeviceGetLimit(&value, (cudaLimit)99));
    (void)cudaGetLastError();
}

int main(int count, char **arguments)
{
    properties_and_attributes_agree();
    limits_are_those_of_the_guide();
    there_is_one_device();
    limits_can_be_set();
    if (count == 4) {
        cudaDeviceProp card;
        char capability[16];
        WORKS(cudaGetDeviceProperties(&card, 0));
        snprintf(capability, sizeof capability, "%d.%d", card.major, card.minor);
        HOLDS(strcmp(capability, arguments[2]) == 0);
        HOLDS(card.multiProcessorCount == atoi(arguments[3]));
    }
    return 0;
}
