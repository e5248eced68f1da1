// Wrong accesses that a kernel survives, so that one run shows them all. The hook comes before the access, which is
// then made: so the thread goes on only where the access changes nothing that anybody has: outside of every allocation,
// or a misaligned read. A misaligned write ends the kernel, because later reads would see it. On a GPU the launch has
// failed all the same, and its error is set; the block is no longer watched for anything but wrong addresses, because
// what it does with a value that it read from nowhere is only a consequence.

#include "watch/internal.h"

// Whether the launch may have one more place like this: those that it has had, and a few more.
static bool has_room(sim_launch_state *launch, uintptr_t pc)
{
    for (int i = 0; i < SIM_FAULTS; i++) {
        uintptr_t known = 0;
        if (__atomic_compare_exchange_n(&launch->faults[i], &known, pc, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
            known == pc)
            return true;
    }
    return false;
}

// x[i] += 1 is a read and a write of one address: that it is wrong need not be said twice.
static bool is_told(const sim_worker *worker, const sim_finding *finding)
{
    const struct sim_watch *watch = worker->watch;
    return watch->fault.address == finding->address && watch->fault.thread == worker->thread &&
           watch->fault.block == worker->block->number && watch->fault.launch == worker->launch->number;
}

void sim_fault_at(sim_worker *worker, const sim_finding *finding, int error, bool harmless)
{
    sim_launch_state *launch = worker->launch;
    sim_block *block = worker->block;
    struct sim_watch *watch = worker->watch;
    const uintptr_t pc = finding->place[0].pc;
    const bool goes_on = harmless && watch && watch->single && has_room(launch, pc);
    if (!watch || !is_told(worker, finding)) {
        sim_finding told = *finding;
        told.fault = true;
        sim_report(&told);
    }
    if (!goes_on)
        sim_scheduler->fail(error);
    watch->fault.address = finding->address;
    watch->fault.thread = worker->thread;
    watch->fault.block = block->number;
    watch->fault.launch = launch->number;
    int none = 0;
    __atomic_compare_exchange_n(&launch->error, &none, error, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    if (!block->faulted)
        sim_watch_forsake(worker);
    if (finding->place[0].role[0] != 'r')
        return; // a write leaves nothing behind
    if (!block->fault_at)
        block->fault_at = pc;
    block->misled[worker->warp] |= 1u << worker->lane;
}
