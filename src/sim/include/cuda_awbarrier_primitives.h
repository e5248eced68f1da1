// CUDA's cuda_awbarrier_primitives.h: a barrier in shared memory as C functions.
#pragma once

#include "sim/barrier_word.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

namespace sim
{
SIM_INLINE barrier_word *barrier_at(__mbarrier_t *barrier)
{
    return reinterpret_cast<barrier_word *>(barrier);
}
} // namespace sim

SIM_INLINE uint32_t __mbarrier_maximum_count()
{
    return (uint32_t)sim::barrier_word::COUNT_MASK;
}
SIM_INLINE void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected)
{
    sim::barrier_at(barrier)->start(expected);
}
SIM_INLINE void __mbarrier_inval(__mbarrier_t *)
{
}
SIM_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    return sim::barrier_at(barrier)->arrive();
}
SIM_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    return sim::barrier_at(barrier)->arrive_and_drop();
}
SIM_INLINE bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    return sim::barrier_at(barrier)->ended((unsigned)token);
}
SIM_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool parity)
{
    return sim::barrier_at(barrier)->ended_parity(parity);
}
SIM_INLINE bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token, uint32_t)
{
    return sim::barrier_at(barrier)->ended((unsigned)token);
}
SIM_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, uint32_t)
{
    return sim::barrier_at(barrier)->ended_parity(parity);
}
SIM_INLINE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t)
{
    return 0;
}
