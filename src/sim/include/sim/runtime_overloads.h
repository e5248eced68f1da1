// What C++ adds to the CUDA runtime's functions: pointers of any type, kernels and variables by name, default
// arguments, and the forms that CUDA 12 and CUDA 13 write differently. All are always inlined, so that the return
// address that the runtime sees is in the program's own line.
#pragma once

#include <type_traits>
#include <utility>

#include "sim/launch.h"

// --- memory ---------------------------------------------------------------------------------------------------------

template <class T> SIM_INLINE cudaError_t cudaMalloc(T **memory, size_t bytes)
{
    return ::cudaMalloc((void **)memory, bytes);
}

// What the rewriter puts in the place of cudaMalloc and cudaFree in device code: in a kernel they share malloc's heap.
namespace sim
{

template <class Type> SIM_INLINE cudaError_t kernel_cuda_malloc(Type **memory, size_t bytes)
{
    if (!sim_in_kernel())
        return ::cudaMalloc((void **)memory, bytes);
    *memory = (Type *)sim_device_malloc(bytes);
    return *memory != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}

SIM_INLINE cudaError_t kernel_cuda_free(void *memory)
{
    if (!sim_in_kernel())
        return ::cudaFree(memory);
    sim_device_free(memory);
    return cudaSuccess;
}

} // namespace sim

SIM_INLINE cudaError_t cudaMallocHost(void **memory, size_t bytes, unsigned int flags)
{
    return ::sim_malloc_host(memory, bytes, flags);
}

template <class T> SIM_INLINE cudaError_t cudaMallocHost(T **memory, size_t bytes, unsigned int flags = 0)
{
    return ::sim_malloc_host((void **)memory, bytes, flags);
}

template <class T> SIM_INLINE cudaError_t cudaHostAlloc(T **memory, size_t bytes, unsigned int flags)
{
    return ::cudaHostAlloc((void **)memory, bytes, flags);
}

template <class T> SIM_INLINE cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return ::cudaHostGetDevicePointer((void **)device, host, flags);
}

template <class T>
SIM_INLINE cudaError_t cudaMallocManaged(T **memory, size_t bytes, unsigned int flags = cudaMemAttachGlobal)
{
    return ::cudaMallocManaged((void **)memory, bytes, flags);
}

template <class T> SIM_INLINE cudaError_t cudaMallocPitch(T **memory, size_t *pitch, size_t width, size_t height)
{
    return ::cudaMallocPitch((void **)memory, pitch, width, height);
}

template <class T> SIM_INLINE cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaStream_t stream)
{
    return ::cudaMallocAsync((void **)memory, bytes, stream);
}

SIM_INLINE cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync(memory, bytes, pool, stream);
}

template <class T>
SIM_INLINE cudaError_t cudaMallocAsync(T **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)memory, bytes, pool, stream);
}

template <class T>
SIM_INLINE cudaError_t cudaMallocFromPoolAsync(T **memory, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return ::cudaMallocFromPoolAsync((void **)memory, bytes, pool, stream);
}

// Pools that several processes share: there is one process.
struct cudaMemPoolPtrExportData {
    unsigned char reserved[64];
};
SIM_INLINE cudaError_t cudaMemPoolExportToShareableHandle(void *, cudaMemPool_t, enum cudaMemAllocationHandleType,
                                                          unsigned int)
{
    return cudaErrorNotSupported;
}
SIM_INLINE cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *, void *, enum cudaMemAllocationHandleType,
                                                            unsigned int)
{
    return cudaErrorNotSupported;
}
SIM_INLINE cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *, void *)
{
    return cudaErrorNotSupported;
}
SIM_INLINE cudaError_t cudaMemPoolImportPointer(void **, cudaMemPool_t, cudaMemPoolPtrExportData *)
{
    return cudaErrorNotSupported;
}

template <class T>
SIM_INLINE cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *memory, size_t bytes = 0,
                                                unsigned int flags = cudaMemAttachSingle)
{
    return ::cudaStreamAttachMemAsync(stream, static_cast<void *>(memory), bytes, flags);
}

SIM_INLINE cudaMemLocation sim_location_of(int device)
{
    cudaMemLocation location = {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                device == cudaCpuDeviceId ? 0 : device};
    return location;
}

SIM_INLINE cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, cudaMemLocation location,
                                            unsigned int flags, cudaStream_t stream = 0)
{
    (void)flags;
    return ::sim_memory_prefetch(memory, bytes, location, stream);
}

SIM_INLINE cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream = 0)
{
    return ::sim_memory_prefetch(memory, bytes, sim_location_of(device), stream);
}

SIM_INLINE cudaError_t cudaMemPrefetchAsync_v2(const void *memory, size_t bytes, cudaMemLocation location,
                                               unsigned int flags, cudaStream_t stream = 0)
{
    (void)flags;
    return ::sim_memory_prefetch(memory, bytes, location, stream);
}

SIM_INLINE cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice,
                                     cudaMemLocation location)
{
    return ::sim_memory_advise(memory, bytes, advice, location);
}

SIM_INLINE cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
    return ::sim_memory_advise(memory, bytes, advice, sim_location_of(device));
}

SIM_INLINE cudaPitchedPtr make_cudaPitchedPtr(void *memory, size_t pitch, size_t width, size_t height)
{
    cudaPitchedPtr made = {memory, pitch, width, height};
    return made;
}

SIM_INLINE cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth)
{
    cudaExtent made = {width, height, depth};
    return made;
}

SIM_INLINE cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    cudaPos made = {x, y, z};
    return made;
}

// --- variables of the program ---------------------------------------------------------------------------------------

template <class T> SIM_INLINE const void *sim_symbol_of(const T &symbol)
{
    const void *address = const_cast<const void *>(static_cast<const volatile void *>(&symbol));
    ::sim_symbol_known(address, sizeof(T));
    return address;
}

template <class T>
SIM_INLINE cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                          cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return ::cudaMemcpyToSymbol(sim_symbol_of(symbol), from, bytes, offset, kind);
}

template <class T>
SIM_INLINE cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0)
{
    return ::cudaMemcpyToSymbolAsync(sim_symbol_of(symbol), from, bytes, offset, kind, stream);
}

template <class T>
SIM_INLINE cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return ::cudaMemcpyFromSymbol(to, sim_symbol_of(symbol), bytes, offset, kind);
}

template <class T>
SIM_INLINE cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0)
{
    return ::cudaMemcpyFromSymbolAsync(to, sim_symbol_of(symbol), bytes, offset, kind, stream);
}

template <class T> SIM_INLINE cudaError_t cudaGetSymbolAddress(void **memory, const T &symbol)
{
    return ::cudaGetSymbolAddress(memory, sim_symbol_of(symbol));
}

template <class T> SIM_INLINE cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol)
{
    return ::cudaGetSymbolSize(bytes, sim_symbol_of(symbol));
}

// --- kernels --------------------------------------------------------------------------------------------------------

template <class... P>
SIM_INLINE cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                        size_t shared = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchKernel(sim::kernel_address->*kernel, grid, block, arguments, shared, stream);
}

SIM_INLINE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared)
{
    return ::cudaLaunchKernel(kernel, grid, block, arguments, shared, 0);
}

SIM_INLINE cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments)
{
    return ::cudaLaunchKernel(kernel, grid, block, arguments, 0, 0);
}

template <class... P>
SIM_INLINE cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                                   size_t shared = 0, cudaStream_t stream = 0)
{
    return ::cudaLaunchCooperativeKernel(sim::kernel_address->*kernel, grid, block, arguments, shared, stream);
}

SIM_INLINE cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                                   size_t shared)
{
    return ::cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, 0);
}

SIM_INLINE cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments)
{
    return ::cudaLaunchCooperativeKernel(kernel, grid, block, arguments, 0, 0);
}

template <class... P>
SIM_INLINE cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(P...), void **arguments)
{
    return ::cudaLaunchKernelExC(config, sim::kernel_address->*kernel, arguments);
}

template <class... P, class... A>
SIM_INLINE cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...arguments)
{
    auto launch = [&](P... values) { // converted as the kernel's parameters
        void *addresses[] = {(void *)&values..., nullptr};
        return ::cudaLaunchKernelExC(config, sim::kernel_address->*kernel, addresses);
    };
    return launch(std::forward<A>(arguments)...);
}

template <class T> SIM_INLINE cudaError_t cudaFuncSetCacheConfig(T *function, cudaFuncCache config)
{
    return ::cudaFuncSetCacheConfig((const void *)function, config);
}

template <class T> SIM_INLINE cudaError_t cudaFuncSetSharedMemConfig(T *function, cudaSharedMemConfig config)
{
    return ::cudaFuncSetSharedMemConfig((const void *)function, config);
}

template <class T> SIM_INLINE cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *function)
{
    return ::cudaFuncGetAttributes(attributes, (const void *)function);
}

template <class T> SIM_INLINE cudaError_t cudaFuncSetAttribute(T *function, cudaFuncAttribute attribute, int value)
{
    return ::cudaFuncSetAttribute((const void *)function, attribute, value);
}

template <class T> SIM_INLINE cudaError_t cudaFuncGetName(const char **name, T *function)
{
    return ::cudaFuncGetName(name, (const void *)function);
}

// --- occupancy ------------------------------------------------------------------------------------------------------

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T function, int threads,
                                                                     size_t shared)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)function, threads, shared, 0);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T function, int threads,
                                                                              size_t shared, unsigned int flags)
{
    return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)function, threads, shared,
                                                                    flags);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, T *function, int blocks, int threads)
{
    return ::cudaOccupancyAvailableDynamicSMemPerBlock(shared, (const void *)function, blocks, threads);
}

// The block size that keeps most threads on a multiprocessor, the largest of equals.
template <class F, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, T function,
                                                                           F shared_of_block, int limit = 0,
                                                                           unsigned int flags = 0)
{
    const int warp = 32;
    int most = 0, multiprocessors = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = ::cudaFuncGetAttributes(&attributes, (const void *)function);
    if (error == cudaSuccess)
        error = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    if (limit <= 0 || limit > attributes.maxThreadsPerBlock)
        limit = attributes.maxThreadsPerBlock;
    for (int aligned = (limit + warp - 1) / warp * warp; error == cudaSuccess && aligned > 0; aligned -= warp) {
        const int threads = aligned < limit ? aligned : limit;
        int blocks = 0;
        error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)function, threads,
                                                                         shared_of_block(threads), flags);
        if (blocks * threads > most) {
            most = blocks * threads;
            *block = threads;
            *grid = blocks * multiprocessors;
        }
    }
    return error;
}

template <class F, class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T function,
                                                                      F shared_of_block, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, function, shared_of_block, limit, 0);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T function, size_t shared = 0,
                                                                   int limit = 0, unsigned int flags = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        grid, block, function, [shared](int) { return shared; }, limit, flags);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T function, size_t shared = 0,
                                                          int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared, limit, 0);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *function, const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxPotentialClusterSize(size, (const void *)function, config);
}

template <class T>
SIM_INLINE cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, T *function, const cudaLaunchConfig_t *config)
{
    return ::cudaOccupancyMaxActiveClusters(clusters, (const void *)function, config);
}

SIM_INLINE cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return ::cudaEventCreateWithFlags(event, flags);
}

// How the runtime, which is C, binds the arguments of a kernel it knows by address only.
static const int sim_binder_choice __attribute__((unused)) = sim_kernel_binder(&sim::bind_address);

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
static const int sim_stream_choice __attribute__((unused)) = sim_default_stream_per_thread();
#endif

#include "sim/graph_overloads.h"
