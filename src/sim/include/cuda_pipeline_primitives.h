// CUDA's cuda_pipeline_primitives.h: cp.async as C functions. A copy's target is written when the thread waits for it.
#pragma once

#include <cuda_awbarrier_primitives.h>

#include "sim/library.h"

SIM_INLINE void __pipeline_memcpy_async(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    if (bytes != 4 && bytes != 8 && bytes != 16)
        sim_unsupported("__pipeline_memcpy_async of other than 4, 8 or 16 bytes", "one of these sizes");
    SIM_COPY_ALIGNED(to, from, bytes);
    sim_copy copy = sim::copy_announced(to, from, bytes - zeros, zeros);
    sim_copy_add(&copy);
}

SIM_INLINE void __pipeline_commit()
{
    sim_copy_commit();
}

SIM_INLINE void __pipeline_wait_prior(size_t prior)
{
    sim::copy_wait((unsigned)prior);
}

// The barrier's phase waits for this thread's copies too.
SIM_INLINE void __pipeline_arrive_on(__mbarrier_t *barrier)
{
    reinterpret_cast<sim::barrier_word *>(barrier)->adopt_copies();
}
