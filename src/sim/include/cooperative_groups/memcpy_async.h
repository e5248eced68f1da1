// CUDA's cooperative_groups/memcpy_async.h: a group copies together, and waits for it. Each call is one batch of
// cp.async.
#pragma once

#include <cooperative_groups.h>
#include <cuda/barrier>

namespace cooperative_groups
{
template <class Group, class To, class From, class Size>
SIM_GROUP_INLINE void memcpy_async(const Group &group, To *to, const From *from, const Size &bytes)
{
    cuda::sim_barriers::each_piece(group, (void *)to, (const void *)from, bytes,
                                   [](void *target, const void *source, size_t piece) SIM_LAMBDA {
                                       sim_copy copy = sim::copy_announced(target, source, piece);
                                       sim_copy_add(&copy);
                                   });
    sim_copy_commit();
}

// The same in elements: as many as fit both layouts.
template <class Group, class T_, class ToLayout, class FromLayout>
SIM_GROUP_INLINE void memcpy_async(const Group &group, T_ *to, const ToLayout &to_layout, const T_ *from,
                                   const FromLayout &from_layout)
{
    size_t count = (size_t)to_layout < (size_t)from_layout ? (size_t)to_layout : (size_t)from_layout;
    memcpy_async(group, to, from, count * sizeof(T_));
}

template <unsigned Stage, class Group> SIM_GROUP_INLINE void wait_prior(const Group &group)
{
    sim::copy_wait(Stage);
    group.sync();
}

template <class Group> SIM_GROUP_INLINE void wait(const Group &group)
{
    sim::copy_wait(0);
    group.sync();
}
} // namespace cooperative_groups
