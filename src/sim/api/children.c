// The list of launches that wait for their parent's end.
#include "api/children.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"
#include "findings/finding.h"
#include "race/knowledge.h"
#include "race/launches.h"
#include "watch/watch.h"

enum { MOST_THREADS = 1024, LEVELS = 24 }; // of nested grids, the host's included, as CUDA has it

typedef struct child {
    uint64_t block; // of the parent's blocks
    sim_origin origin;
    sim_config config;
    sim_kernel kernel;
    uintptr_t pc;
    struct child *next;
} child;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static child *launched; // by the grid that runs
static uint64_t launched_count;
static int depth; // of the grid that runs; the host launches grids of depth 0

cudaError_t sim_child_error(const sim_worker *worker, bool reset)
{
    int *const errors = worker->block->launch_errors;
    const cudaError_t error = errors != NULL ? (cudaError_t)errors[worker->thread] : cudaSuccess;
    if (reset && errors != NULL)
        errors[worker->thread] = cudaSuccess;
    return error;
}

// Without the memory for it, the thread does not learn of the error.
cudaError_t sim_child_fail(const sim_worker *worker, cudaError_t error)
{
    sim_block *block = worker->block;
    if (block->launch_errors == NULL)
        block->launch_errors = calloc(SIM_THREADS, sizeof *block->launch_errors);
    if (block->launch_errors != NULL)
        block->launch_errors[worker->thread] = error;
    return error;
}

cudaError_t sim_child_stream(cudaStream_t *stream)
{
    static char names[1 << 16];
    static unsigned made;
    *stream = (cudaStream_t)&names[__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED) % sizeof names];
    return cudaSuccess;
}

static void release(const sim_kernel *kernel)
{
    if (kernel->release != NULL)
        kernel->release(kernel->closure);
}

static cudaError_t refuse(sim_worker *worker, const sim_kernel *kernel, uintptr_t pc, cudaError_t error,
                          const char *message)
{
    sim_finding finding = sim_finding_of(worker, SIM_BAD_LAUNCH, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "the launch of %s in a kernel: %s",
             kernel->name != NULL ? kernel->name : "a kernel", message);
    finding.place[0] = sim_place_of(worker, worker->thread, pc, "launch");
    sim_report(&finding);
    release(kernel);
    return sim_child_fail(worker, error);
}

// Shared and local memory are the block's and the thread's own: a child has others at the same address.
int sim_own_memory(const volatile void *address)
{
    const sim_worker *worker = sim_current;
    if (worker == NULL)
        return SIM_OWN_NONE;
    if ((uintptr_t)address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo)
        return SIM_OWN_SHARED;
    return (uintptr_t)address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo ? SIM_OWN_LOCAL
                                                                                          : SIM_OWN_NONE;
}

static bool is_empty(sim_dim size)
{
    return size.x == 0 || size.y == 0 || size.z == 0;
}

cudaError_t sim_child_launch(sim_worker *worker, const sim_config *config, const sim_kernel *kernel, uintptr_t pc)
{
    const uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;
    if (kernel->run == NULL)
        return sim_child_fail(worker, cudaErrorMemoryAllocation);
    if (is_empty(config->grid) || is_empty(config->block) || threads > MOST_THREADS)
        return refuse(worker, kernel, pc, cudaErrorInvalidConfiguration,
                      "its grid or block is empty, or a block has more than 1024 threads");
    if (depth + 1 == LEVELS) {
        char message[80];
        snprintf(message, sizeof message, "it would be nested %d levels deep; the limit is %d", depth + 2, LEVELS);
        return refuse(worker, kernel, pc, cudaErrorLaunchMaxDepthExceeded, message);
    }
    if (kernel->own_memory != SIM_OWN_NONE)
        return refuse(worker, kernel, pc, cudaErrorInvalidValue,
                      kernel->own_memory == SIM_OWN_SHARED ? "an argument points to shared memory of the parent's "
                                                             "block, which the child cannot access"
                                                           : "an argument points to local memory of the parent's "
                                                             "thread, which the child cannot access");
    child *made = malloc(sizeof *made);
    if (made == NULL) {
        release(kernel);
        return sim_child_fail(worker, cudaErrorMemoryAllocation);
    }
    *made = (child){.block = worker->block->number,
                    .origin = {.tail = config->stream == cudaStreamTailLaunch,
                               .alone = config->stream == cudaStreamFireAndForget,
                               .stream = config->stream == cudaStreamLegacy ? NULL : config->stream},
                    .config = *config,
                    .kernel = *kernel,
                    .pc = pc};
    sim_watch_child(worker, &made->origin);
    pthread_mutex_lock(&lock);
    made->origin.order = launched_count++;
    made->next = launched;
    launched = made;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

// Tail launches last; then by block, so that the order of workers does not show.
static int compare(const void *left, const void *right)
{
    const child *a = *(child *const *)left, *b = *(child *const *)right;
    if (a->origin.tail != b->origin.tail)
        return a->origin.tail ? 1 : -1;
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    return (a->origin.order > b->origin.order) - (a->origin.order < b->origin.order);
}

static size_t take_all(child ***list)
{
    size_t count = 0, used = 0;
    for (const child *one = launched; one != NULL; one = one->next)
        count++;
    *list = malloc((count + 1) * sizeof **list);
    for (child *one = launched; one != NULL && *list != NULL; one = one->next)
        (*list)[used++] = one;
    launched = NULL;
    if (used > 1)
        qsort(*list, used, sizeof **list, compare);
    return used;
}

static cudaError_t run_child(const child *one, uint64_t number)
{
    sim_launch_state launch = {.kernel = &one->kernel,
                               .config = one->config,
                               .launched_at = one->pc,
                               .number = number,
                               .origin = &one->origin};
    launch.config.stream = NULL;
    return sim_run_with_children(&launch);
}

cudaError_t sim_run_with_children(sim_launch_state *launch)
{
    child **list = NULL;
    cudaError_t error = (cudaError_t)sim_run(launch);
    size_t count = launched != NULL ? take_all(&list) : 0;
    depth++;
    for (size_t i = 0; i < count; i++) {
        if (error == cudaSuccess)
            error = run_child(list[i], launch->number);
        release(&list[i]->kernel);
        sim_knowledge_drop(list[i]->origin.known);
        free(list[i]);
    }
    depth--;
    free(list);
    return error;
}
