// CUDA's cooperative_groups/reduce.h: one value from all threads of a tile or coalesced group, known to each of them.
#pragma once

#include <cooperative_groups/details/several_warps.h>
#include <cuda/atomic>

namespace cooperative_groups
{
namespace details
{
template <class Group, class T_, class Operation>
SIM_GROUP_INLINE T_ reduce(const Group &group, const T_ &value, Operation &operation, std::false_type)
{
    collected<T_, Operation> mine = {value, value, value, &operation};
    sim_warp_call(group.lanes(), &mine, reduce_all<T_, Operation>);
    return mine.reduced;
}

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE T_ reduce(const Group &group, const T_ &value, Operation &operation, std::true_type)
{
    return combine(group, value, operation, std::true_type()).reduced;
}
} // namespace details

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE auto reduce(const Group &group, T_ &&value, Operation &&operation) -> details::plain<T_>
{
    details::plain<T_> mine = value;
    return details::reduce(group, mine, operation, details::spans_warps<Group>());
}

// The group's result goes into *target with one atomic, or is stored by one thread.
template <class Group, class A_, class T_, class Operation>
SIM_GROUP_INLINE void reduce_update_async(const Group &group, A_ &target, T_ &&value, Operation &&operation)
{
    auto sum = reduce(group, std::forward<T_>(value), operation);
    if (group.thread_rank() != 0)
        return;
    auto old = target.load(cuda::std::memory_order_relaxed);
    while (!target.compare_exchange_weak(old, operation(old, sum), cuda::std::memory_order_relaxed))
        ;
}

template <class Group, class A_, class T_, class Operation>
SIM_GROUP_INLINE void reduce_store_async(const Group &group, A_ *target, T_ &&value, Operation &&operation)
{
    auto sum = reduce(group, std::forward<T_>(value), operation);
    if (group.thread_rank() == 0)
        *target = sum;
}

template <class Group, class T_, cuda::thread_scope Scope, class V_, class Operation>
SIM_GROUP_INLINE void reduce_store_async(const Group &group, cuda::atomic<T_, Scope> &target, V_ &&value,
                                         Operation &&operation)
{
    auto sum = reduce(group, std::forward<V_>(value), operation);
    if (group.thread_rank() == 0)
        target.store(sum, cuda::std::memory_order_relaxed);
}
} // namespace cooperative_groups
