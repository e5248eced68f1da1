// The device's properties and attributes, from the table of chips. What no chip of the table differs in stands here.
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/chips.h"
#include "api/device.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "sim/driver_enums.h"

static void set_pair(int *to, int first, int second)
{
    to[0] = first;
    to[1] = second;
}

static void set_triple(int *to, int first, int second, int third)
{
    set_pair(to, first, second);
    to[2] = third;
}

// Limits of textures and surfaces: those of compute capability 6 and later.
static void set_texture_limits(struct cudaDeviceProp *properties)
{
    properties->maxTexture1D = 131072;
    properties->maxTexture1DMipmap = 32768;
    set_pair(properties->maxTexture2D, 131072, 65536);
    set_pair(properties->maxTexture2DMipmap, 32768, 32768);
    set_triple(properties->maxTexture2DLinear, 131072, 65000, 2097120);
    set_pair(properties->maxTexture2DGather, 32768, 32768);
    set_triple(properties->maxTexture3D, 16384, 16384, 16384);
    set_triple(properties->maxTexture3DAlt, 8192, 8192, 32768);
    properties->maxTextureCubemap = 32768;
    set_pair(properties->maxTexture1DLayered, 32768, 2048);
    set_triple(properties->maxTexture2DLayered, 32768, 32768, 2048);
    set_pair(properties->maxTextureCubemapLayered, 32768, 2046);
    properties->maxSurface1D = 32768;
    set_pair(properties->maxSurface2D, 131072, 65536);
    set_triple(properties->maxSurface3D, 16384, 16384, 16384);
    set_pair(properties->maxSurface1DLayered, 32768, 2048);
    set_triple(properties->maxSurface2DLayered, 32768, 32768, 2048);
    properties->maxSurfaceCubemap = 32768;
    set_pair(properties->maxSurfaceCubemapLayered, 32768, 2046);
    properties->textureAlignment = 512;
    properties->texturePitchAlignment = 32;
    properties->surfaceAlignment = 512;
}

static void set_launch_limits(struct cudaDeviceProp *properties, const sim_chip *chip)
{
    properties->warpSize = SIM_LANES;
    properties->maxThreadsPerBlock = SIM_THREADS;
    set_triple(properties->maxThreadsDim, SIM_THREADS, SIM_THREADS, 64);
    set_triple(properties->maxGridSize, 2147483647, 65535, 65535);
    properties->sharedMemPerBlock = chip->shared_block;
    properties->sharedMemPerBlockOptin = chip->shared_block_optin;
    properties->sharedMemPerMultiprocessor = chip->shared_multiprocessor;
    properties->reservedSharedMemPerBlock = chip->shared_reserved;
    properties->regsPerBlock = 65536;
    properties->regsPerMultiprocessor = chip->registers_multiprocessor;
    properties->maxThreadsPerMultiProcessor = chip->threads_multiprocessor;
    properties->maxBlocksPerMultiProcessor = chip->blocks_multiprocessor;
    properties->multiProcessorCount = chip->multiprocessors;
    properties->totalConstMem = 65536;
    properties->memPitch = 2147483647;
}

static void set_abilities(struct cudaDeviceProp *properties, const sim_chip *chip)
{
    properties->integrated = chip->integrated;
    properties->canMapHostMemory = 1;
    properties->concurrentKernels = 1;
    properties->asyncEngineCount = chip->integrated ? 2 : 3;
    properties->deviceOverlap = 1;
    properties->unifiedAddressing = 1;
    properties->streamPrioritiesSupported = 1;
    properties->globalL1CacheSupported = properties->localL1CacheSupported = 1;
    properties->managedMemory = 1;
    properties->concurrentManagedAccess = !chip->integrated;
    properties->computePreemptionSupported = 1;
    properties->canUseHostPointerForRegisteredMem = 1;
    properties->cooperativeLaunch = 1;
    properties->hostRegisterSupported = 1;
    properties->memoryPoolsSupported = 1;
    properties->ECCEnabled = chip->memory_clock_khz < 5000000 && !chip->integrated; // cards with HBM
}

static void fill(struct cudaDeviceProp *properties)
{
    const sim_chip *chip = sim_chip_get();
    memset(properties, 0, sizeof *properties);
    snprintf(properties->name, sizeof properties->name, "%s (simulated)", chip->name);
    snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "sim-%.11s", chip->key);
    properties->totalGlobalMem = sim_memory_total();
    properties->major = chip->major;
    properties->minor = chip->minor;
    properties->pciBusID = 1;
    properties->l2CacheSize = (int)chip->l2;
    properties->persistingL2CacheMaxSize = chip->major >= 8 ? (int)(chip->l2 / 8 * 5) : 0;
    properties->accessPolicyMaxWindowSize = chip->major >= 8 ? 128 << 20 : 0;
    properties->clockRate = chip->clock_khz;
    properties->memoryClockRate = chip->memory_clock_khz;
    properties->memoryBusWidth = chip->bus_bits;
    properties->singleToDoublePrecisionPerfRatio = chip->fp64_ratio;
    properties->computeMode = cudaComputeModeDefault;
    set_launch_limits(properties, chip);
    set_texture_limits(properties);
    set_abilities(properties, chip);
}

static cudaError_t get_properties(struct cudaDeviceProp *properties, int device)
{
    const cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess)
        return error;
    if (properties == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the properties is NULL");
    fill(properties);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    return SIM_CALL(get_properties(properties, device));
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device)
{
    return SIM_CALL_AS("cudaGetDeviceProperties", get_properties(properties, device));
}

// --- attributes: the same numbers one by one ------------------------------------------------------------------------

// Those that launches and occupancy depend on.
static bool launch_attribute(const struct cudaDeviceProp *p, int attribute, int *value)
{
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p->maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p->maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p->maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p->maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p->maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p->maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p->maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p->sharedMemPerBlock; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p->sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p->sharedMemPerMultiprocessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p->reservedSharedMemPerBlock; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p->regsPerBlock; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p->regsPerMultiprocessor; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p->maxThreadsPerMultiProcessor; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p->maxBlocksPerMultiProcessor; break;
    case cudaDevAttrMultiProcessorCount: *value = p->multiProcessorCount; break;
    case cudaDevAttrWarpSize: *value = p->warpSize; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p->totalConstMem; break;
    case cudaDevAttrMaxPitch: *value = (int)p->memPitch; break;
    default: return false;
    }
    return true;
}

// Those that describe the card.
static bool card_attribute(const struct cudaDeviceProp *p, int attribute, int *value)
{
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = p->major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p->minor; break;
    case cudaDevAttrClockRate: *value = p->clockRate; break;
    case cudaDevAttrMemoryClockRate: *value = p->memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p->memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p->l2CacheSize; break;
    case cudaDevAttrMaxPersistingL2CacheSize: *value = p->persistingL2CacheMaxSize; break;
    case cudaDevAttrMaxAccessPolicyWindowSize: *value = p->accessPolicyMaxWindowSize; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = p->singleToDoublePrecisionPerfRatio; break;
    case cudaDevAttrComputeMode: *value = p->computeMode; break;
    case cudaDevAttrPciBusId: *value = p->pciBusID; break;
    case cudaDevAttrPciDeviceId: *value = p->pciDeviceID; break;
    case cudaDevAttrPciDomainId: *value = p->pciDomainID; break;
    case cudaDevAttrIntegrated: *value = p->integrated; break;
    case cudaDevAttrEccEnabled: *value = p->ECCEnabled; break;
    case cudaDevAttrAsyncEngineCount: *value = p->asyncEngineCount; break;
    case cudaDevAttrGpuOverlap: *value = p->deviceOverlap; break;
    case cudaDevAttrTextureAlignment: *value = (int)p->textureAlignment; break;
    case cudaDevAttrTexturePitchAlignment: *value = (int)p->texturePitchAlignment; break;
    case cudaDevAttrSurfaceAlignment: *value = (int)p->surfaceAlignment; break;
    case cudaDevAttrMaxTexture1DWidth: *value = p->maxTexture1D; break;
    case cudaDevAttrMaxTexture2DWidth: *value = p->maxTexture2D[0]; break;
    case cudaDevAttrMaxTexture2DHeight: *value = p->maxTexture2D[1]; break;
    case cudaDevAttrMaxTexture3DWidth: *value = p->maxTexture3D[0]; break;
    case cudaDevAttrMaxTexture3DHeight: *value = p->maxTexture3D[1]; break;
    case cudaDevAttrMaxTexture3DDepth: *value = p->maxTexture3D[2]; break;
    case cudaDevAttrMaxTexture2DLayeredWidth: *value = p->maxTexture2DLayered[0]; break;
    case cudaDevAttrMaxTexture2DLayeredHeight: *value = p->maxTexture2DLayered[1]; break;
    case cudaDevAttrMaxTexture2DLayeredLayers: *value = p->maxTexture2DLayered[2]; break;
    default: return false;
    }
    return true;
}

// What the card can do; what is not listed it cannot.
static int ability(const struct cudaDeviceProp *p, int attribute)
{
    switch (attribute) {
    case cudaDevAttrCanMapHostMemory: return p->canMapHostMemory;
    case cudaDevAttrConcurrentKernels: return p->concurrentKernels;
    case cudaDevAttrUnifiedAddressing: return p->unifiedAddressing;
    case cudaDevAttrStreamPrioritiesSupported: return p->streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported: return p->globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported: return p->localL1CacheSupported;
    case cudaDevAttrManagedMemory: return p->managedMemory;
    case cudaDevAttrConcurrentManagedAccess: return p->concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported: return p->computePreemptionSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return p->canUseHostPointerForRegisteredMem;
    case cudaDevAttrCooperativeLaunch: return p->cooperativeLaunch;
    case cudaDevAttrHostRegisterSupported: return p->hostRegisterSupported;
    case cudaDevAttrMemoryPoolsSupported: return p->memoryPoolsSupported;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: return 1; // which only the driver's API names
    default: return 0;
    }
}

static cudaError_t get_attribute(int *value, int attribute, int device)
{
    const cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess)
        return error;
    if (value == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the attribute is NULL");
    if (attribute < 1 || attribute >= cudaDevAttrMax)
        return sim_fail(cudaErrorInvalidValue, "%d is not an attribute of a device", attribute);
    struct cudaDeviceProp properties;
    fill(&properties);
    if (!launch_attribute(&properties, attribute, value) && !card_attribute(&properties, attribute, value))
        *value = ability(&properties, attribute);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    return SIM_CALL(get_attribute(value, (int)attribute, device));
}

SIM_API(cudaDeviceGetTexture1DLinearMaxWidth,
        (size_t * elements, const struct cudaChannelFormatDesc *format, int device), (elements, format, device))
{
    const size_t bits_per_byte = 8, most_elements = (size_t)1 << 28;
    const cudaError_t error = sim_device_check(device);
    if (error != cudaSuccess)
        return error;
    if (elements == NULL || format == NULL || format->x <= 0)
        return sim_fail(cudaErrorInvalidValue, "the format has no first channel");
    const size_t bytes = (size_t)(format->x + format->y + format->z + format->w) / bits_per_byte;
    *elements = bytes > 0 ? most_elements / bytes * sizeof(float) : 0;
    return cudaSuccess;
}
