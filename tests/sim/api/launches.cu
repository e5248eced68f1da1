// Launches that the card cannot run fail with CUDA's error codes; the last error is kept and given once; attributes and
// occupancy follow the card's limits; a fault in a kernel breaks the device for good.
#include "check.h"

extern __shared__ int shared[];
__global__ void fill_shared(int *out, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        shared[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        *out = shared[count - 1];
}

__global__ void nothing()
{
}

__global__ void count_threads(int *count)
{
    atomicAdd(count, 1);
}

// The documented error; the runtime of CUDA 13.0 gives the other one.
static bool is_refusal(cudaError_t error)
{
    return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

static void every_thread_of_every_block_runs()
{
    int *device, count = 0;
    WORKS(cudaMalloc(&device, sizeof(int)));
    WORKS(cudaMemset(device, 0, sizeof(int)));
    count_threads<<<dim3(3, 2), dim3(8, 5)>>>(device);
    WORKS(cudaMemcpy(&count, device, sizeof(int), cudaMemcpyDeviceToHost));
    HOLDS(count == 3 * 2 * 8 * 5);
    WORKS(cudaFree(device));
}

static void sizes_that_no_card_has()
{
    nothing<<<0, 32>>>();
    HOLDS(is_refusal(cudaPeekAtLastError()));
    HOLDS(is_refusal(cudaGetLastError()));
    HOLDS(cudaGetLastError() == cudaSuccess);
    nothing<<<1, 0>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<1, 1025>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<1, dim3(32, 33)>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<1, dim3(1, 1, 65)>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<dim3(1, 65536), 1>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<dim3(1, 1, 65536), 1>>>();
    HOLDS(is_refusal(cudaGetLastError()));
    nothing<<<dim3(2, 2, 2), dim3(8, 8, 16)>>>();
    HOLDS(cudaGetLastError() == cudaSuccess);
    WORKS(cudaDeviceSynchronize());
}

static void shared_memory_beyond_48_kilobytes_must_be_asked_for()
{
    const int large = 60 * 1024;
    int *out, value = 0, optin;
    WORKS(cudaMalloc(&out, sizeof(int)));
    fill_shared<<<1, 32, large>>>(out, large / 4);
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    WORKS(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (optin >= large) {
        WORKS(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, large));
        fill_shared<<<1, 32, large>>>(out, large / 4);
        HOLDS(cudaGetLastError() == cudaSuccess);
        WORKS(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
        HOLDS(value == large / 4 - 1);
        cudaFuncAttributes attributes;
        WORKS(cudaFuncGetAttributes(&attributes, fill_shared));
        HOLDS(attributes.maxDynamicSharedSizeBytes == large && attributes.maxThreadsPerBlock == 1024);
    }
    GIVES(cudaErrorInvalidValue,
          cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, optin + 1));
    HOLDS(cudaGetLastError() == cudaErrorInvalidValue);
    WORKS(cudaFree(out));
}

static void kernels_by_address()
{
    int *data, host[COUNT], count = COUNT;
    void *arguments[] = {&data, &count};
    WORKS(cudaMalloc(&data, sizeof host));
    WORKS(cudaMemset(data, 0, sizeof host));
    WORKS(cudaLaunchKernel((void *)add_one, dim3(BLOCKS), dim3(BLOCK), arguments, 0, 0));
    WORKS(cudaLaunchKernel(add_one, BLOCKS, BLOCK, arguments));
    WORKS(cudaLaunchCooperativeKernel((void *)add_one, BLOCKS, BLOCK, arguments));
    cudaLaunchConfig_t config = {};
    config.gridDim = BLOCKS;
    config.blockDim = BLOCK;
    WORKS(cudaLaunchKernelEx(&config, add_one, data, (short)COUNT)); // converted as in a call
    WORKS(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(all_are(host, 4));
    WORKS(cudaFree(data));
    GIVES(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)NULL, 1, 1, arguments, 0, 0));
    (void)cudaGetLastError();
}

static void cooperative_launches_must_fit_the_card()
{
    int blocks, multiprocessors, count = 0, *data = NULL;
    void *arguments[] = {&data, &count};
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 1024, 0));
    WORKS(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    HOLDS(blocks == 1 || blocks == 2);
    GIVES(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel(add_one, blocks * multiprocessors + 1, 1024, arguments));
    WORKS(cudaLaunchCooperativeKernel(add_one, blocks * multiprocessors, 1024, arguments));
    WORKS(cudaDeviceSynchronize());
    (void)cudaGetLastError();
}

static void occupancy_follows_the_limits()
{
    int blocks, grid, block;
    cudaDeviceProp card;
    WORKS(cudaGetDeviceProperties(&card, 0));
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 32, 0));
    HOLDS(blocks == card.maxBlocksPerMultiProcessor);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
    HOLDS(blocks == card.maxThreadsPerMultiProcessor / 256);
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 64, 40 * 1024));
    HOLDS(blocks == (int)(card.sharedMemPerMultiprocessor / (40 * 1024 + card.reservedSharedMemPerBlock)));
    WORKS(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add_one, 0, 0));
    WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, block, 0));
    HOLDS(grid == blocks * card.multiProcessorCount && blocks * block == card.maxThreadsPerMultiProcessor);
    WORKS(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, add_one, [](int threads) { return (size_t)threads * 16; }, 128));
    HOLDS(block <= 128);
    int clusters = 0;
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute pair = {};
    pair.id = cudaLaunchAttributeClusterDimension;
    pair.val.clusterDim.x = pair.val.clusterDim.y = pair.val.clusterDim.z = 1;
    config.gridDim = config.blockDim = dim3(32);
    config.attrs = &pair;
    config.numAttrs = 1;
    WORKS(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
    HOLDS(clusters > 0);
    pair.val.clusterDim.x = 2; // which is not simulated
    WORKS(cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
    HOLDS(clusters == 0);
}

static void every_error_has_a_name()
{
    HOLDS(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    HOLDS(strcmp(cudaGetErrorName(cudaErrorUnknown), "cudaErrorUnknown") == 0);
    HOLDS(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    HOLDS(strstr(cudaGetErrorString((cudaError_t)12345), "unrecognized") != NULL);
}

__global__ void stray(int *data)
{
    data[1ll << 40] = 1;
}

// Last, because it breaks the device.
static void a_fault_is_there_to_stay()
{
    int *data, *more;
    WORKS(cudaMalloc(&data, 256));
    stray<<<1, 1>>>(data);
    HOLDS(cudaGetLastError() == cudaSuccess);
    const cudaError_t fault = cudaDeviceSynchronize();
    HOLDS(fault == cudaErrorIllegalAddress || fault == cudaErrorLaunchFailure);
    GIVES(fault, cudaMalloc(&more, 256));
    nothing<<<1, 1>>>();
    HOLDS(cudaGetLastError() == fault);
    HOLDS(cudaGetLastError() == cudaSuccess); // given once; the calls go on failing
    GIVES(fault, cudaFree(data));
    GIVES(fault, cudaDeviceSynchronize());
    int clusters;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(32);
    GIVES(fault, cudaOccupancyMaxActiveClusters(&clusters, nothing, &config));
}

int main(int count, char **)
{
    every_thread_of_every_block_runs();
    sizes_that_no_card_has();
    shared_memory_beyond_48_kilobytes_must_be_asked_for();
    kernels_by_address();
    cooperative_launches_must_fit_the_card();
    occupancy_follows_the_limits();
    every_error_has_a_name();
    if (count == 1)
        a_fault_is_there_to_stay();
    return 0;
}
