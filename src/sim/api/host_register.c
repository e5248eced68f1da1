// Memory of the program that is pinned and opened to the card by cudaHostRegister, in a file of its own: only programs
// that call it have their host code's accesses looked at for that (machine/options.h). Copies from and to it are
// asynchronous, as with memory that CUDA pins itself.
#include <stdio.h>

#include "api/call.h"
#include "api/host_access.h"
#include "api/pointer.h"
#include "api/run.h"
#include "api/stream.h"
#include "api/variable.h"
#include "machine/options.h"
#include "watch/watch.h"

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_REGISTERED;
}

SIM_API(cudaHostRegister, (void *memory, size_t bytes, unsigned int flags), (memory, bytes, flags))
{
    (void)flags;
    sim_allocation found;
    if (memory == NULL || bytes == 0)
        return sim_fail(cudaErrorInvalidValue, "nothing to register");
    const sim_where where = sim_pointer_where(memory, &found);
    if (where != SIM_AT_HOST && where != SIM_AT_VARIABLE)
        return sim_fail(cudaErrorHostMemoryAlreadyRegistered, "this is %s already", sim_where_words(where));
    if (!sim_memory_register((uintptr_t)memory, bytes, sim_call_pc()))
        return sim_fail(cudaErrorHostMemoryAlreadyRegistered, "part of this memory is registered already");
    sim_variable_memory_shared();
    sim_host_access_start();
    sim_watch_registered();
    return cudaSuccess;
}

typedef struct unfinished {
    const sim_allocation *memory;
    uintptr_t pc; // of the copy; 0: none
} unfinished;

static bool meets(const sim_allocation *memory, const void *start, size_t pitch, size_t slice, const sim_copy *copy)
{
    const size_t span = (copy->depth - 1) * slice + (copy->height - 1) * pitch + copy->width;
    return (uintptr_t)start < memory->start + memory->bytes && memory->start < (uintptr_t)start + span;
}

static bool find_copy(const sim_work *work, void *context)
{
    unfinished *found = context;
    const sim_copy *copy = &work->copy;
    if (work->kind == SIM_WORK_COPY && (meets(found->memory, copy->to, copy->to_pitch, copy->to_slice, copy) ||
                                        meets(found->memory, copy->from, copy->from_pitch, copy->from_slice, copy)))
        found->pc = work->pc;
    return found->pc == 0;
}

// CUDA does not promise that cudaHostUnregister waits. Copies that the host has not waited for go on to use memory that
// is pageable again, and that the program may free.
static void check_copies(const sim_allocation *memory)
{
    unfinished found = {.memory = memory};
    sim_operations_unwaited(find_copy, &found);
    if (found.pc == 0)
        found.pc = sim_watch_copy_unwaited(memory->start, memory->bytes, true);
    if (found.pc == 0)
        return;
    sim_finding finding = {.kind = SIM_MISSING_WAIT,
                           .tier = SIM_ERROR,
                           .address = memory->start,
                           .bytes = 1,
                           .place = {{.pc = sim_call_pc(), .role = "call"}, {.pc = found.pc, .role = "call"}}};
    snprintf(finding.message, sizeof finding.message,
             "the host unregisters memory that a copy in a stream uses, without waiting for it to end");
    sim_report(&finding);
}

SIM_API(cudaHostUnregister, (void *memory), (memory))
{
    sim_allocation found;
    if (sim_memory_find((uintptr_t)memory, &found) && found.start == (uintptr_t)memory)
        check_copies(&found);
    const cudaError_t error = sim_device_wait();
    if (!sim_memory_unregister((uintptr_t)memory))
        return sim_fail(cudaErrorHostMemoryNotRegistered, "no registered memory starts here");
    return error;
}
