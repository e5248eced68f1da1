// What the card is: the figures that measurements are held against, and everything that deviceQuery shows.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda.h"

enum { BUS_SIZE = 32, KILO = 1000, KIBI = 1024 };

// 0 where the driver does not know it.
static int attribute(const heddle_device *device, cudaDeviceAttr which)
{
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, heddle_cuda_index(device)) != cudaSuccess)
        cudaGetLastError();
    return value;
}

// Float32 units of a multiprocessor, each a multiplication and an addition a clock, by compute capability: NVIDIA's
// programming guide, throughput of arithmetic instructions.
static int float_units(int capability)
{
    switch (capability) {
    case 60:
    case 70:
    case 72:
    case 75:
    case 80: return 64;
    default: return 128;
    }
}

// "13.0" of 13000.
static void version_text(int version, char *text, size_t size)
{
    snprintf(text, size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void describe_software(const heddle_cuda_management *now, heddle_device_info *info)
{
    int version = 0;
    if (cudaRuntimeGetVersion(&version) == cudaSuccess)
        version_text(version, info->runtime, sizeof info->runtime);
    snprintf(info->driver, sizeof info->driver, "%s", now->driver);
    if (!info->driver[0] && cudaDriverGetVersion(&version) == cudaSuccess)
        version_text(version, info->driver, sizeof info->driver);
}

static void describe_speed(const heddle_device *device, const heddle_cuda_management *now, heddle_device_info *info)
{
    double highest = (double)attribute(device, cudaDevAttrClockRate) / KILO; // the attribute is in kHz
    double highest_memory = (double)attribute(device, cudaDevAttrMemoryClockRate) / KILO;
    info->clock = now->clock > 0 ? now->clock : highest;
    info->memory_clock = now->memory_clock > 0 ? now->memory_clock : highest_memory;
    info->peak_flops = 2.0 * float_units(info->capability) * info->processors * highest * 1e6;
}

heddle_status heddle_cuda_describe(heddle_device *device, heddle_device_info *info)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    cudaDeviceProp properties;
    HEDDLE_CUDA_TRY(cudaGetDeviceProperties(&properties, heddle_cuda_index(device)));
    size_t free_bytes = 0, total_bytes = 0;
    HEDDLE_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    HEDDLE_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&info->priority_least, &info->priority_greatest));
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, properties.name);
    snprintf(info->instructions, sizeof info->instructions, "sm_%d%d", properties.major, properties.minor);
    info->capability = properties.major * 10 + properties.minor;
    info->processors = properties.multiProcessorCount;
    info->threads = properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor;
    info->memory_free = free_bytes + heddle_cuda_pool_idle((const heddle_cuda_device *)device);
    info->memory_total = total_bytes;
    info->cache = (uint64_t)properties.l2CacheSize;
    char bus[BUS_SIZE] = "";
    if (cudaDeviceGetPCIBusId(bus, sizeof bus, heddle_cuda_index(device)) != cudaSuccess)
        cudaGetLastError();
    heddle_cuda_management now;
    heddle_cuda_manage(bus, &now);
    describe_software(&now, info);
    describe_speed(device, &now, info);
#ifdef HEDDLE_CUDA_UNOPTIMISED
    info->unoptimised = true;
#endif
    return HEDDLE_OK;
}

int heddle_cuda_capability(void)
{
    int device = 0, major = 0, minor = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess)
        cudaGetLastError();
    return major * 10 + minor;
}

int heddle_cuda_shared_bytes(void)
{
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        cudaGetLastError();
    return bytes;
}

heddle_status heddle_cuda_reset_cache(heddle_device *device)
{
    HEDDLE_TRY(heddle_cuda_select(device));
    if (attribute(device, cudaDevAttrMaxPersistingL2CacheSize) == 0)
        return HEDDLE_OK;
    if (cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0) != cudaSuccess)
        cudaGetLastError(); // a card that programs share has it set by its server
    HEDDLE_CUDA_TRY(cudaCtxResetPersistingL2Cache());
    return HEDDLE_OK;
}

heddle_status heddle_cuda_kept_cache(heddle_device *device, size_t *bytes)
{
    *bytes = 0;
    HEDDLE_TRY(heddle_cuda_select(device));
    if (attribute(device, cudaDevAttrMaxPersistingL2CacheSize) == 0)
        return HEDDLE_OK;
    HEDDLE_CUDA_TRY(cudaDeviceGetLimit(bytes, cudaLimitPersistingL2CacheSize));
    return HEDDLE_OK;
}

// --- all of it -------------------------------------------------------------------------------------------------------

typedef struct row_list {
    heddle_device_property *rows;
    int count, most;
} row_list;

__attribute__((format(printf, 3, 4))) static void add(row_list *list, const char *name, const char *format, ...)
{
    if (list->count < list->most) {
        heddle_device_property *row = &list->rows[list->count];
        va_list values;
        va_start(values, format);
        snprintf(row->name, sizeof row->name, "%s", name);
        vsnprintf(row->value, sizeof row->value, format, values);
        va_end(values);
    }
    list->count++;
}

static void add_bytes(row_list *list, const char *name, size_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    double shown = (double)bytes;
    int unit = 0;
    for (; shown >= KIBI && unit < 3; unit++)
        shown /= KIBI;
    if (unit == 0)
        add(list, name, "%zu bytes", bytes);
    else
        add(list, name, "%.6g %s (%zu bytes)", shown, units[unit], bytes);
}

static void add_switch(row_list *list, const char *name, int on)
{
    add(list, name, "%s", on ? "yes" : "no");
}

static void add_extent(row_list *list, const char *name, const int *extent)
{
    add(list, name, "%d x %d x %d", extent[0], extent[1], extent[2]);
}

static void list_identity(row_list *list, heddle_device *device, const cudaDeviceProp *card)
{
    heddle_device_info info;
    memset(&info, 0, sizeof info);
    if (heddle_cuda_describe(device, &info) != HEDDLE_OK)
        return;
    add(list, "name", "%s", info.name);
    add(list, "compute capability", "%d.%d", card->major, card->minor);
    add(list, "driver", "%s", info.driver);
    add(list, "CUDA runtime", "%s", info.runtime);
    add(list, "PCI domain:bus:device", "%04x:%02x:%02x", card->pciDomainID, card->pciBusID, card->pciDeviceID);
    add(list, "multiprocessors", "%d", info.processors);
    add(list, "float32 units", "%d, %d a multiprocessor", float_units(info.capability) * info.processors,
        float_units(info.capability));
    add(list, "float32 peak", "%.4g TFLOP/s at the highest clock", info.peak_flops / 1e12);
    add(list, "float32 to float64 throughput", "%d : 1",
        attribute(device, cudaDevAttrSingleToDoublePrecisionPerfRatio));
    add(list, "clock, highest", "%.6g MHz", (double)attribute(device, cudaDevAttrClockRate) / KILO);
    add(list, "clock, now", "%.6g MHz", info.clock);
}

static void list_memory(row_list *list, const heddle_device *device, const cudaDeviceProp *card)
{
    double memory_clock = (double)attribute(device, cudaDevAttrMemoryClockRate) / KILO;
    add_bytes(list, "memory", card->totalGlobalMem);
    add(list, "memory clock, highest", "%.6g MHz", memory_clock);
    add(list, "memory bus", "%d bits", card->memoryBusWidth);
    // Two transfers a clock on each of the bus's lines.
    add(list, "memory bandwidth, by clock and bus", "%.5g GB/s",
        2 * memory_clock * 1e6 * card->memoryBusWidth / 8 / 1e9);
    add_bytes(list, "L2 cache", (size_t)card->l2CacheSize);
    add_bytes(list, "L2 cache that can be kept", (size_t)card->persistingL2CacheMaxSize);
    add_bytes(list, "constant memory", card->totalConstMem);
    add_switch(list, "error correction", card->ECCEnabled);
    add_switch(list, "memory pools", attribute(device, cudaDevAttrMemoryPoolsSupported));
    add_switch(list, "unified addressing", card->unifiedAddressing);
    add_switch(list, "managed memory", card->managedMemory);
    add_switch(list, "managed memory used at once by host", card->concurrentManagedAccess);
    add_switch(list, "pageable memory read by kernels", card->pageableMemoryAccess);
    add_switch(list, "host memory mapped", card->canMapHostMemory);
    add_switch(list, "integrated with the host's memory", card->integrated);
}

static void list_launch(row_list *list, const cudaDeviceProp *card)
{
    add(list, "threads of a warp", "%d", card->warpSize);
    add(list, "threads a block", "%d", card->maxThreadsPerBlock);
    add(list, "threads a multiprocessor", "%d", card->maxThreadsPerMultiProcessor);
    add(list, "blocks a multiprocessor", "%d", card->maxBlocksPerMultiProcessor);
    add_bytes(list, "shared memory a block", card->sharedMemPerBlock);
    add_bytes(list, "shared memory a block, opted in", card->sharedMemPerBlockOptin);
    add_bytes(list, "shared memory a multiprocessor", card->sharedMemPerMultiprocessor);
    add_bytes(list, "shared memory reserved a block", card->reservedSharedMemPerBlock);
    add(list, "registers a block", "%d", card->regsPerBlock);
    add(list, "registers a multiprocessor", "%d", card->regsPerMultiprocessor);
    add_extent(list, "largest block", card->maxThreadsDim);
    add_extent(list, "largest grid", card->maxGridSize);
}

static void list_abilities(row_list *list, const heddle_device *device, const cudaDeviceProp *card)
{
    static const char *const modes[] = {"default", "exclusive thread", "prohibited", "exclusive process"};
    int mode = attribute(device, cudaDevAttrComputeMode);
    add_switch(list, "several kernels at once", card->concurrentKernels);
    add(list, "copy engines", "%d", card->asyncEngineCount);
    add_switch(list, "stream priorities", card->streamPrioritiesSupported);
    add_switch(list, "cooperative launch", card->cooperativeLaunch);
#if defined(HEDDLE_SIM_MODULE)
    add(list, "cluster launch", "not simulated"); // the card that it stands for has it
#else
    add_switch(list, "cluster launch", attribute(device, cudaDevAttrClusterLaunch));
#endif
    add_switch(list, "compute preemption", card->computePreemptionSupported);
    add_switch(list, "time limit of kernels", attribute(device, cudaDevAttrKernelExecTimeout));
    add(list, "compute mode", "%s", mode >= 0 && mode < 4 ? modes[mode] : "unknown");
    add(list, "longest pitch", "%zu bytes", card->memPitch);
    add(list, "texture alignment", "%zu bytes", card->textureAlignment);
    add(list, "largest texture, 1-D", "%d", card->maxTexture1D);
    add(list, "largest texture, 2-D", "%d x %d", card->maxTexture2D[0], card->maxTexture2D[1]);
    add_extent(list, "largest texture, 3-D", card->maxTexture3D);
    add(list, "largest layered texture, 1-D", "%d, %d layers", card->maxTexture1DLayered[0],
        card->maxTexture1DLayered[1]);
    add(list, "largest layered texture, 2-D", "%d x %d, %d layers", card->maxTexture2DLayered[0],
        card->maxTexture2DLayered[1], card->maxTexture2DLayered[2]);
}

int heddle_cuda_properties(heddle_device *device, heddle_device_property *rows, int most)
{
    row_list list = {rows, 0, most};
    cudaDeviceProp card;
    if (cudaGetDeviceProperties(&card, heddle_cuda_index(device)) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    list_identity(&list, device, &card);
    list_memory(&list, device, &card);
    list_launch(&list, &card);
    list_abilities(&list, device, &card);
    return list.count;
}
