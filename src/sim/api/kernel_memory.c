// A copy or fill that a kernel asks for is a kernel of one thread, so that it has its place among the launches of its
// block, and its accesses are judged like those of any other.
#include "api/kernel_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/children.h"
#include "findings/finding.h"
#include "machine/options.h"
#include "watch/watch.h"

__attribute__((constructor)) static void tell(void)
{
    sim_use_tell(SIM_USES_LAUNCHES, (uintptr_t)cudaMemcpyAsync);
    sim_use_tell(SIM_USES_LAUNCHES, (uintptr_t)cudaMemsetAsync);
}

typedef struct transfer {
    void *to;
    const void *from; // NULL: a fill
    size_t bytes;
    int value;
    uintptr_t pc;
} transfer;

static void run(void *closure)
{
    const transfer *one = closure;
    if (one->from != NULL)
        sim_watch_access((uintptr_t)one->from, one->bytes, false, one->pc);
    sim_watch_access((uintptr_t)one->to, one->bytes, true, one->pc);
    if (one->from != NULL)
        memmove(one->to, one->from, one->bytes);
    else
        memset(one->to, one->value, one->bytes);
}

static cudaError_t launch(const transfer *one, const char *name, cudaStream_t stream)
{
    transfer *closure = malloc(sizeof *closure);
    const int to = sim_own_memory(one->to), from = sim_own_memory(one->from);
    const sim_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream};
    const sim_kernel kernel = {.name = name,
                               .run = closure != NULL ? run : NULL,
                               .closure = closure,
                               .closure_bytes = sizeof *closure,
                               .release = free,
                               .own_memory = to != SIM_OWN_NONE ? to : from};
    if (closure != NULL)
        *closure = *one;
    return sim_child_launch(sim_current, &config, &kernel, one->pc);
}

cudaError_t sim_kernel_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                            uintptr_t pc)
{
    const transfer one = {.to = to, .from = from, .bytes = bytes, .pc = pc};
    if (kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault)
        return bytes > 0 ? launch(&one, "cudaMemcpyAsync", stream) : cudaSuccess;
    sim_finding finding = sim_finding_of(sim_current, SIM_BAD_CALL, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "cudaMemcpyAsync in a kernel copies within device memory only: its direction is cudaMemcpyDeviceToDevice");
    finding.place[0] = sim_place_of(sim_current, sim_current->thread, pc, "call");
    sim_report(&finding);
    return sim_child_fail(sim_current, cudaErrorInvalidMemcpyDirection);
}

cudaError_t sim_kernel_fill(void *to, int value, size_t bytes, cudaStream_t stream, uintptr_t pc)
{
    const transfer one = {.to = to, .bytes = bytes, .value = value, .pc = pc};
    return bytes > 0 ? launch(&one, "cudaMemsetAsync", stream) : cudaSuccess;
}
