// Barriers, fences, time, and the end of a thread.
#pragma once

#include "sim/abi.h"
#include "sim/keywords.h"

SIM_INLINE void __syncthreads()
{
    sim_barrier();
}
SIM_INLINE int __syncthreads_count(int predicate)
{
    return sim_barrier_counting(SIM_BARRIER_COUNT, predicate != 0);
}
SIM_INLINE int __syncthreads_and(int predicate)
{
    return sim_barrier_counting(SIM_BARRIER_AND, predicate != 0);
}
SIM_INLINE int __syncthreads_or(int predicate)
{
    return sim_barrier_counting(SIM_BARRIER_OR, predicate != 0);
}
// What the rewriter makes of the second and later barriers of a source line, which the line alone does not tell apart.
template <int Number> SIM_INLINE void sim_syncthreads_at()
{
    sim_barrier_on_line(Number, SIM_BARRIER_PLAIN, 0);
}
template <int Number> SIM_INLINE int sim_syncthreads_count_at(int predicate)
{
    return sim_barrier_on_line(Number, SIM_BARRIER_COUNT, predicate != 0);
}
template <int Number> SIM_INLINE int sim_syncthreads_and_at(int predicate)
{
    return sim_barrier_on_line(Number, SIM_BARRIER_AND, predicate != 0);
}
template <int Number> SIM_INLINE int sim_syncthreads_or_at(int predicate)
{
    return sim_barrier_on_line(Number, SIM_BARRIER_OR, predicate != 0);
}
SIM_INLINE void __barrier_sync(unsigned int id)
{
    sim_barrier_named((int)id, 0);
}
SIM_INLINE void __barrier_sync_count(unsigned int id, unsigned int threads)
{
    sim_barrier_named((int)id, (int)threads);
}
SIM_INLINE void __syncwarp(unsigned int mask = 0xffffffffu)
{
    sim_warp_sync(mask);
}

SIM_INLINE void __threadfence_block()
{
    sim_fence(SIM_SCOPE_BLOCK);
}
SIM_INLINE void __threadfence()
{
    sim_fence(SIM_SCOPE_DEVICE);
}
SIM_INLINE void __threadfence_system()
{
    sim_fence(SIM_SCOPE_SYSTEM);
}
// Blocks of a cluster are not simulated as one: a cluster's fence is at least as wide as the device's here.
SIM_INLINE void __threadfence_cluster()
{
    sim_fence(SIM_SCOPE_DEVICE);
}

// Programmatic dependent launch: of a kernel that was launched to begin before the one before it has ended, and of that
// one.
SIM_INLINE void cudaGridDependencySynchronize()
{
    sim_dependency_wait();
}
SIM_INLINE void cudaTriggerProgrammaticLaunchCompletion()
{
    sim_dependency_trigger();
}

SIM_INLINE void __nanosleep(unsigned int)
{
    sim_spin();
}
SIM_INLINE long long clock64()
{
    return sim_clock();
}

SIM_INLINE void __trap()
{
    sim_trap();
}
SIM_INLINE void __brkpt()
{
}
SIM_INLINE void __prof_trigger(int)
{
}
SIM_INLINE void __exit()
{
    sim_exit_thread();
}
