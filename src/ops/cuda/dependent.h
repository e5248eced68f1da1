// Programmatic dependent launch: a kernel that starts while the one before it on the stream still runs, does what needs
// nothing of it, and waits before it touches what it left. Between two short kernels that saves a few microseconds.
//
//   heddle_cuda_launch_dependent(kernel, grid, block, shared_bytes, stream, arguments...);
//
// and in the kernel, before the first access to memory that an earlier kernel of the stream reads or writes:
//
//   heddle_wait_for_previous();   // all blocks of the kernel before have ended, and what they wrote can be seen
//   heddle_release_next();        // the kernel after may start; it waits as above, so this is safe from here on
//
// Every kernel so launched must wait, in one block at least: one that did not would let its successor's wait end too
// early. A block that does not wait may touch nothing that the kernel before writes, and write nothing that it reads.
// Cards before Hopper launch in order, and the two calls do nothing; so does the simulated GPU.
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

// Clusters of `cluster` blocks that run at the same time: the chip's partitions do not hold all that its SMs would. 0
// where the device has no clusters.
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

// In clusters of `cluster` blocks; 1: in none.
template <typename... Parameters, typename... Arguments>
static inline cudaError_t heddle_cuda_launch_clusters(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                                      unsigned cluster, size_t shared_bytes, cudaStream_t stream,
                                                      Arguments... arguments)
{
    int device = 0, major = 0;
    cudaFuncAttributes built; // a kernel built for older GPUs, which the driver made fit this one, does not wait
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
