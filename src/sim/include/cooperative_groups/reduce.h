// CUDA's cooperative_groups/reduce.h: one value from all threads of a tile or coalesced group, known to each of them.
#ifndef SIM_COOPERATIVE_GROUPS_REDUCE_H
#define SIM_COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups/details/collective.h>
#include <cuda/atomic>

namespace cooperative_groups
{
template <class Group, class T, class Operation>
SIM_GROUP_INLINE auto reduce(const Group &group, T &&value, Operation &&operation) -> details::plain<T>
{
    typedef details::plain<T> plain_t;
    typedef typename std::remove_reference<Operation>::type operation_t;
    details::collected<plain_t, operation_t> mine = {value, value, value, &operation};
    sim_warp_call(group.lanes(), &mine, details::reduce_all<plain_t, operation_t>);
    return mine.reduced;
}

// The group's result goes into *target with one atomic, or is stored by one thread.
template <class Group, class A, class T, class Operation>
SIM_GROUP_INLINE void reduce_update_async(const Group &group, A &target, T &&value, Operation &&operation)
{
    auto sum = reduce(group, std::forward<T>(value), operation);
    if (group.thread_rank() != 0)
        return;
    auto old = target.load(cuda::std::memory_order_relaxed);
    while (!target.compare_exchange_weak(old, operation(old, sum), cuda::std::memory_order_relaxed))
        ;
}

template <class Group, class A, class T, class Operation>
SIM_GROUP_INLINE void reduce_store_async(const Group &group, A *target, T &&value, Operation &&operation)
{
    auto sum = reduce(group, std::forward<T>(value), operation);
    if (group.thread_rank() == 0)
        *target = sum;
}

template <class Group, class T, cuda::thread_scope Scope, class V, class Operation>
SIM_GROUP_INLINE void reduce_store_async(const Group &group, cuda::atomic<T, Scope> &target, V &&value,
                                         Operation &&operation)
{
    auto sum = reduce(group, std::forward<V>(value), operation);
    if (group.thread_rank() == 0)
        target.store(sum, cuda::std::memory_order_relaxed);
}
} // namespace cooperative_groups

#endif
