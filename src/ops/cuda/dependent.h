// Programmatic dependent launch: a kernel starts while the one before it on the stream still runs, does everything that
// does not depend on it, and waits before it touches its results. Between two short kernels that saves a few
// microseconds.
//
//   heddle_cuda_launch_dependent(kernel, grid, block, shared_bytes, stream, arguments...);
//
// and in the kernel, before the first access to memory that an earlier kernel of the stream reads or writes:
//
//   heddle_wait_for_previous();   // all blocks of the kernel before have ended, and their writes are visible
//   heddle_release_next();        // the kernel after may start; it waits as above, so this is safe from here on
//
// Every kernel launched this way must wait, in at least one block: otherwise its successor's wait would end too early.
// A block that does not wait must not touch what the kernel before writes, or write what it reads. GPUs before Hopper
// launch in order, and the two calls do nothing. The simulated GPU reports what is used without waiting.
#pragma once

#include <cuda_runtime.h>

static __device__ __forceinline__ void heddle_wait_for_previous()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void heddle_release_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Clusters of `cluster` blocks that run at the same time: fewer than the number of SMs suggests, because of the chip's
// partitions. 0 if the device has no clusters.
template <typename... Parameters>
static inline int heddle_cuda_most_clusters(void (*kernel)(Parameters...), dim3 block, unsigned cluster,
                                            size_t shared_bytes)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(cluster);
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int most = 0;
    return cudaOccupancyMaxActiveClusters(&most, kernel, &config) == cudaSuccess ? most : (cudaGetLastError(), 0);
}

// In clusters of `cluster` blocks; 1: without clusters.
template <typename... Parameters, typename... Arguments>
static inline cudaError_t heddle_cuda_launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                                      unsigned cluster, size_t shared_bytes, cudaStream_t stream,
                                                      Arguments... arguments)
{
    int device = 0, major = 0;
    cudaFuncAttributes built; // a kernel built for older GPUs and translated by the driver does not wait
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&built, (const void *)kernel);
    if (error != cudaSuccess)
        return error;
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    if (major >= 9 && built.ptxVersion >= 90) {
        attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (cluster > 1) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.x = cluster;
        attributes[config.numAttrs].val.clusterDim.y = attributes[config.numAttrs].val.clusterDim.z = 1;
        config.numAttrs++;
    }
    return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
}

template <typename... Parameters, typename... Arguments>
static inline cudaError_t heddle_cuda_launch_dependent(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                                       size_t shared_bytes, cudaStream_t stream, Arguments... arguments)
{
    return heddle_cuda_launch_clusters(kernel, grid, block, 1, shared_bytes, stream, arguments...);
}
