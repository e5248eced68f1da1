// Launches: held against the limits of the simulated card, then queued in their stream.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/children.h"
#include "api/chips.h"
#include "api/function.h"
#include "api/launch.h"
#include "api/stream.h"
#include "api/submit.h"
#include "api/variable.h"
#include "core/core.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "program/program.h"
#include "watch/watch.h"

// As documented, and as CUDA 12's runtime does; that of CUDA 13.0 gives cudaErrorInvalidValue.
static const cudaError_t impossible_sizes = cudaErrorInvalidConfiguration;
static const unsigned largest_grid_x = 2147483647, largest_grid_yz = 65535, largest_block_z = 64;

// Reports a launch that fails. The kernel's name makes the message; the cause follows.
static cudaError_t refuse(cudaError_t error, const sim_kernel *kernel, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static cudaError_t refuse(cudaError_t error, const sim_kernel *kernel, const char *format, ...)
{
    sim_finding finding = {.kind = SIM_BAD_LAUNCH, .tier = SIM_ERROR, .kernel = kernel->name};
    const int written = snprintf(finding.message, sizeof finding.message,
                                 "the launch fails with %s and nothing runs: ", sim_error_name(error));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding.message + written, sizeof finding.message - (size_t)written, format, arguments);
    va_end(arguments);
    finding.place[0] = (sim_place){.pc = sim_call_pc(), .role = "launch"};
    sim_report(&finding);
    return error;
}

static cudaError_t check_sizes(const sim_config *config, const sim_kernel *kernel)
{
    const sim_dim grid = config->grid, block = config->block;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return refuse(impossible_sizes, kernel, "the grid (%u, %u, %u) has no blocks", grid.x, grid.y, grid.z);
    if (block.x == 0 || block.y == 0 || block.z == 0)
        return refuse(impossible_sizes, kernel, "the block (%u, %u, %u) has no threads", block.x, block.y, block.z);
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (block.x > SIM_THREADS || block.y > SIM_THREADS || threads > SIM_THREADS)
        return refuse(impossible_sizes, kernel, "a block of (%u, %u, %u) has %llu threads; the limit is %d", block.x,
                      block.y, block.z, (unsigned long long)threads, SIM_THREADS);
    if (block.z > largest_block_z)
        return refuse(impossible_sizes, kernel, "a block is %u threads deep; the limit is %u", block.z,
                      largest_block_z);
    if (grid.x > largest_grid_x)
        return refuse(impossible_sizes, kernel, "the grid is %u blocks wide; the limit is %u%s", grid.x, largest_grid_x,
                      "; a negative number?");
    if (grid.y > largest_grid_yz || grid.z > largest_grid_yz)
        return refuse(impossible_sizes, kernel, "the grid is (%u, %u, %u): the limit for y and z is %u", grid.x, grid.y,
                      grid.z, largest_grid_yz);
    return cudaSuccess;
}

static cudaError_t check_bound(const sim_config *config, const sim_kernel *kernel)
{
    const unsigned threads = config->block.x * config->block.y * config->block.z;
    const unsigned most = sim_function_most_threads(kernel->function);
    if (threads <= most)
        return cudaSuccess;
    return refuse(cudaErrorInvalidValue, kernel, "a block has %u threads, but the kernel's __launch_bounds__ allow %u",
                  threads, most);
}

static cudaError_t check_shared(const sim_config *config, const sim_kernel *kernel)
{
    const sim_chip *chip = sim_chip_get();
    if (config->shared <= sim_function_shared_limit(kernel->function))
        return cudaSuccess;
    if (config->shared > chip->shared_block_optin)
        return refuse(cudaErrorInvalidValue, kernel,
                      "%zu bytes of dynamic shared memory are more than a block of this GPU (%s) can have: %zu",
                      config->shared, chip->name, chip->shared_block_optin);
    return refuse(
        cudaErrorInvalidValue, kernel,
        "%zu bytes of dynamic shared memory are more than %zu: raise the limit first with cudaFuncSetAttribute(kernel, "
        "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
        config->shared, sim_function_shared_limit(kernel->function));
}

static cudaError_t check_cooperative(const sim_config *config, const sim_kernel *kernel)
{
    const sim_chip *chip = sim_chip_get();
    const uint64_t blocks = (uint64_t)config->grid.x * config->grid.y * config->grid.z;
    const int threads = (int)(config->block.x * config->block.y * config->block.z);
    const uint64_t most = (uint64_t)sim_occupancy(threads, config->shared) * (uint64_t)chip->multiprocessors;
    if (!config->cooperative || blocks <= most)
        return cudaSuccess;
    return refuse(cudaErrorCooperativeLaunchTooLarge, kernel,
                  "a cooperative launch needs all its blocks on the GPU at once: %llu of %d threads, but only %llu fit",
                  (unsigned long long)blocks, threads, (unsigned long long)most);
}

cudaError_t sim_launch_check(const sim_config *config, const sim_kernel *kernel)
{
    cudaError_t error = check_sizes(config, kernel);
    if (error == cudaSuccess)
        error = check_bound(config, kernel);
    if (error == cudaSuccess)
        error = check_shared(config, kernel);
    if (error == cudaSuccess)
        error = check_cooperative(config, kernel);
    return error;
}

static void release(const sim_kernel *kernel)
{
    if (kernel->release != NULL)
        kernel->release(kernel->closure);
}

// Without the memory for it, what asks for the name later gets none.
static void remember_name(const void *address, const char *name)
{
    sim_function *function = sim_function_of(address);
    if (function != NULL)
        function->name = name;
}

// A kernel may begin early behind another one alone, on GPUs from compute capability 9.0; elsewhere it runs in turn.
static bool begins_early(const sim_config *config, const struct CUstream_st *stream)
{
    enum { FIRST_MAJOR = 9 };
    return config->dependent && stream->capture == NULL && sim_chip_get()->major >= FIRST_MAJOR &&
           stream->last != NULL && stream->last->work.kind == SIM_WORK_KERNEL;
}

// Takes the kernel's closure over, whatever happens.
static cudaError_t submit(const sim_config *config, const sim_kernel *kernel)
{
    struct CUstream_st *stream = sim_stream_of(config->stream);
    const cudaError_t error = stream == NULL ? cudaErrorInvalidResourceHandle : sim_launch_check(config, kernel);
    if (error != cudaSuccess) {
        release(kernel);
        return error;
    }
    if (kernel->function != NULL && kernel->name != NULL)
        remember_name(kernel->function, kernel->name);
    sim_variable_arguments(kernel->name, kernel->closure, kernel->closure_bytes);
    sim_work work = sim_work_new(SIM_WORK_KERNEL);
    work.kernel.config = *config;
    work.kernel.config.dependent = begins_early(config, stream);
    work.kernel.bound = sim_bound_new(kernel);
    return work.kernel.bound != NULL ? sim_stream_submit(stream, &work) : cudaErrorMemoryAllocation;
}

void *sim_launch_pause(void)
{
    sim_worker *worker = sim_current;
    sim_current = NULL;
    return worker;
}

void sim_launch_resume(void *paused)
{
    sim_current = paused;
}

__attribute__((constructor)) static void tell(void)
{
    sim_use_tell(SIM_USES_LAUNCHES, (uintptr_t)sim_launch);
}

int sim_launch(const sim_config *config, const sim_kernel *kernel, const void *pc)
{
    const uintptr_t caller = pc != NULL ? (uintptr_t)pc : SIM_CALLER;
    if (sim_current != NULL) {
        sim_repeated_once(sim_current);
        return sim_child_launch(sim_current, config, kernel, caller);
    }
    if (!sim_call_begin("the launch", caller)) {
        release(kernel);
        return sim_call_refused();
    }
    return sim_call_end(kernel->run != NULL ? submit(config, kernel) : sim_no_memory());
}

// --- kernels by address ---------------------------------------------------------------------------------------------

static sim_bind_function binder;

int sim_kernel_binder(sim_bind_function bind)
{
    binder = bind;
    return 0;
}

cudaError_t sim_kernel_bind(const void *function, void **arguments, sim_kernel *kernel)
{
    if (function == NULL)
        return sim_fail(cudaErrorInvalidDeviceFunction, "the kernel is NULL");
    if (binder == NULL || !binder(function, arguments, kernel))
        return sim_fail(
            cudaErrorInvalidDeviceFunction,
            "no kernel is known at this address: pass the kernel's name itself, or cast it in this program");
    if (kernel->run == NULL)
        return sim_no_memory();
    const sim_function *known = kernel->name == NULL ? sim_function_of(function) : NULL;
    if (known != NULL)
        kernel->name = known->name;
    if (kernel->name == NULL) {
        const char *name = sim_symbol_function_called((uintptr_t)function);
        kernel->name = name != NULL ? name : "a kernel";
        remember_name(function, kernel->name);
    }
    return cudaSuccess;
}

static sim_config configuration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, int cooperative)
{
    return (sim_config){.grid = {grid.x, grid.y, grid.z},
                        .block = {block.x, block.y, block.z},
                        .shared = shared,
                        .stream = stream,
                        .cooperative = cooperative};
}

static cudaError_t launch_address(const void *function, void **arguments, sim_config config)
{
    sim_kernel kernel = {0};
    const cudaError_t error = sim_kernel_bind(function, arguments, &kernel);
    return error == cudaSuccess ? submit(&config, &kernel) : error;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream)
{
    return SIM_CALL(launch_address(function, arguments, configuration(grid, block, shared, stream, 0)));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream)
{
    return SIM_CALL(launch_address(function, arguments, configuration(grid, block, shared, stream, 1)));
}

SIM_API(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *function, void **arguments),
        (config, function, arguments))
{
    if (config == NULL)
        return sim_fail(cudaErrorInvalidValue, "the configuration is NULL");
    int cooperative = 0, dependent = 0;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == cudaLaunchAttributeCooperative)
            cooperative = attribute->val.cooperative;
        if (attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization)
            dependent = attribute->val.programmaticStreamSerializationAllowed;
    }
    if (sim_wants_clusters(config))
        return sim_fail_as(SIM_UNSUPPORTED, SIM_ERROR, cudaErrorNotSupported, 0, 0,
                           "clusters of blocks are not simulated");
    sim_config made =
        configuration(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, cooperative);
    made.dependent = dependent;
    return launch_address(function, arguments, made);
}
