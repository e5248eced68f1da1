// Function attributes and occupancy.
#include "api/function.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/chips.h"
#include "machine/worker.h"

static sim_function **functions;
static size_t function_count, function_room;

sim_function *sim_function_of(const void *address)
{
    enum { FIRST_ROOM = 32 };
    for (size_t i = 0; i < function_count; i++) {
        if (functions[i]->address == address)
            return functions[i];
    }
    if (function_count == function_room) {
        const size_t larger = function_room == 0 ? FIRST_ROOM : 2 * function_room;
        sim_function **moved = realloc(functions, larger * sizeof *functions);
        if (moved == NULL)
            return NULL;
        functions = moved;
        function_room = larger;
    }
    sim_function *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->address = address;
    made->dynamic_shared = sim_chip_get()->shared_block;
    made->carveout = cudaSharedmemCarveoutDefault;
    return functions[function_count++] = made;
}

size_t sim_function_shared_limit(const void *address)
{
    for (size_t i = 0; address != NULL && i < function_count; i++) {
        if (functions[i]->address == address)
            return functions[i]->dynamic_shared;
    }
    return sim_chip_get()->shared_block;
}

unsigned sim_function_most_threads(const void *address)
{
    for (size_t i = 0; address != NULL && i < function_count; i++) {
        if (functions[i]->address == address && functions[i]->most_threads > 0)
            return functions[i]->most_threads;
    }
    return SIM_THREADS;
}

int sim_launch_bound(const void *address, unsigned threads)
{
    sim_function *function = sim_function_of(address);
    if (function != NULL && threads > 0 && threads < SIM_THREADS)
        function->most_threads = threads;
    return 0;
}

// --- attributes -----------------------------------------------------------------------------------------------------

SIM_API(cudaFuncSetAttribute, (const void *address, enum cudaFuncAttribute attribute, int value),
        (address, attribute, value))
{
    const sim_chip *chip = sim_chip_get();
    if (address == NULL)
        return sim_fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    sim_function *function = sim_function_of(address);
    if (function == NULL)
        return sim_no_memory();
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (size_t)value > chip->shared_block_optin)
            return sim_fail(cudaErrorInvalidValue,
                            "%d bytes of shared memory are more than a block of this GPU (%s) can have: %zu", value,
                            chip->name, chip->shared_block_optin);
        function->dynamic_shared = (size_t)value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < cudaSharedmemCarveoutDefault || value > cudaSharedmemCarveoutMaxShared)
            return sim_fail(cudaErrorInvalidValue, "%d is not a percentage", value);
        function->carveout = value;
        return cudaSuccess;
    default: return cudaSuccess; // clusters: nothing to check
    }
}

SIM_API(cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *address), (attributes, address))
{
    enum { VERSIONS_PER_MAJOR = 10 };
    const sim_chip *chip = sim_chip_get();
    if (attributes == NULL)
        return sim_fail(cudaErrorInvalidValue, "the output argument for the attributes is NULL");
    if (address == NULL)
        return sim_fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    const sim_function *function = sim_function_of(address);
    if (function == NULL)
        return sim_no_memory();
    *attributes = (struct cudaFuncAttributes){
        .maxThreadsPerBlock = (int)sim_function_most_threads(address),
        .numRegs = SIM_ASSUMED_REGISTERS,
        .ptxVersion = chip->major * VERSIONS_PER_MAJOR + chip->minor,
        .binaryVersion = chip->major * VERSIONS_PER_MAJOR + chip->minor,
        .maxDynamicSharedSizeBytes = (int)function->dynamic_shared,
        .preferredShmemCarveout = function->carveout,
    };
    return cudaSuccess;
}

// How the cache is split is not simulated: accepted.
cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    (void)function;
    return SIM_CALL(config > cudaFuncCachePreferEqual
                        ? sim_fail(cudaErrorInvalidValue, "%d is not a cache setting", config)
                        : cudaSuccess);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    (void)function;
    return SIM_CALL(config > cudaSharedMemBankSizeEightByte
                        ? sim_fail(cudaErrorInvalidValue, "%d is not a bank size", config)
                        : cudaSuccess);
}

SIM_API(cudaFuncGetName, (const char **name, const void *address), (name, address))
{
    if (name == NULL || address == NULL)
        return sim_fail(cudaErrorInvalidValue, "the %s is NULL",
                        name == NULL ? "output argument for the name" : "kernel");
    const sim_function *function = sim_function_of(address);
    *name = function != NULL && function->name != NULL ? function->name : "";
    return cudaSuccess;
}

// --- occupancy ------------------------------------------------------------------------------------------------------

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

int sim_occupancy(int threads, size_t shared)
{
    enum { REGISTERS_GRANULE = 256, SHARED_GRANULE = 128 }; // of a warp, of a block
    const sim_chip *chip = sim_chip_get();
    if (threads <= 0 || threads > SIM_THREADS || shared > chip->shared_block_optin)
        return 0;
    const int warps = (threads + SIM_LANES - 1) / SIM_LANES;
    const int registers_of_warp =
        (SIM_ASSUMED_REGISTERS * SIM_LANES + REGISTERS_GRANULE - 1) / REGISTERS_GRANULE * REGISTERS_GRANULE;
    int blocks = lesser(chip->blocks_multiprocessor, chip->threads_multiprocessor / SIM_LANES / warps);
    blocks = lesser(blocks, chip->registers_multiprocessor / registers_of_warp / warps);
    const size_t needed = (shared + SHARED_GRANULE - 1) / SHARED_GRANULE * SHARED_GRANULE + chip->shared_reserved;
    return needed == 0 ? blocks : lesser(blocks, (int)(chip->shared_multiprocessor / needed));
}

static cudaError_t max_active(int *blocks, const void *function, int threads, size_t shared)
{
    if (blocks == NULL || function == NULL)
        return sim_fail(cudaErrorInvalidValue, "the %s is NULL",
                        blocks == NULL ? "output argument for the result" : "kernel");
    const bool fits = shared <= sim_function_shared_limit(function) &&
                      (threads < 0 || (unsigned)threads <= sim_function_most_threads(function));
    *blocks = fits ? sim_occupancy(threads, shared) : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared)
{
    return SIM_CALL(max_active(blocks, function, threads, shared));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                   size_t shared, unsigned int flags)
{
    (void)flags;
    return SIM_CALL(max_active(blocks, function, threads, shared));
}

SIM_API(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t * shared, const void *function, int blocks, int threads),
        (shared, function, blocks, threads))
{
    (void)function;
    const sim_chip *chip = sim_chip_get();
    if (shared == NULL || blocks <= 0 || sim_occupancy(threads, 0) < blocks)
        return sim_fail(cudaErrorInvalidValue, "%d blocks of %d threads do not fit on a multiprocessor", blocks,
                        threads);
    const size_t part = chip->shared_multiprocessor / (size_t)blocks - chip->shared_reserved;
    *shared = part < chip->shared_block_optin ? part : chip->shared_block_optin;
    return cudaSuccess;
}

// Clusters are not simulated: a cluster of one block.
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const cudaLaunchConfig_t *config)
{
    (void)function, (void)config;
    *size = 1;
    return SIM_CALL(cudaSuccess);
}

bool sim_wants_clusters(const cudaLaunchConfig_t *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == cudaLaunchAttributeClusterDimension &&
            attribute->val.clusterDim.x * attribute->val.clusterDim.y * attribute->val.clusterDim.z > 1)
            return true;
    }
    return false;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const cudaLaunchConfig_t *config)
{
    (void)function;
    const int threads = (int)(config->blockDim.x * config->blockDim.y * config->blockDim.z);
    // A block is a cluster by itself; larger ones are not simulated, and a program that asks first does without.
    *clusters = sim_wants_clusters(config)
                    ? 0
                    : sim_occupancy(threads, config->dynamicSmemBytes) * sim_chip_get()->multiprocessors;
    return SIM_CALL(cudaSuccess);
}
