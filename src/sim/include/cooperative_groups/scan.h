// CUDA's cooperative_groups/scan.h: prefix sums over a tile or coalesced group.
#pragma once

#include <cooperative_groups/details/several_warps.h>
#include <cuda/atomic>

namespace cooperative_groups
{
namespace details
{
template <class Group, class T_, class Operation>
SIM_GROUP_INLINE collected<T_, Operation> combine(const Group &group, const T_ &value, Operation &operation,
                                                  std::false_type)
{
    collected<T_, Operation> mine = {value, value, T_{}, &operation};
    sim_warp_call(group.lanes(), &mine, scan_all<T_, Operation>);
    return mine;
}

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE collected<T_, Operation> scan(const Group &group, const T_ &value, Operation &operation)
{
    return combine(group, value, operation, spans_warps<Group>());
}

// The last thread adds the group's total to an atomic; each gets what stood there before.
template <class Group, class A_, class T_, class Operation>
SIM_GROUP_INLINE T_ scan_claim(const Group &group, A_ &target, const T_ &total, Operation &operation)
{
    T_ old{};
    if (group.thread_rank() == group.size() - 1) {
        old = target.load(cuda::std::memory_order_relaxed);
        while (!target.compare_exchange_weak(old, operation(old, total), cuda::std::memory_order_relaxed))
            ;
    }
    return group.shfl(old, (int)group.size() - 1);
}
} // namespace details

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE details::plain<T_> inclusive_scan(const Group &group, T_ &&value, Operation &&operation)
{
    details::plain<T_> mine = value;
    return details::scan(group, mine, operation).value;
}

template <class Group, class T_> SIM_GROUP_INLINE details::plain<T_> inclusive_scan(const Group &group, T_ &&value)
{
    return inclusive_scan(group, std::forward<T_>(value), plus<details::plain<T_>>());
}

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE details::plain<T_> exclusive_scan(const Group &group, T_ &&value, Operation &&operation)
{
    details::plain<T_> mine = value;
    return details::scan(group, mine, operation).exclusive;
}

template <class Group, class T_> SIM_GROUP_INLINE details::plain<T_> exclusive_scan(const Group &group, T_ &&value)
{
    return exclusive_scan(group, std::forward<T_>(value), plus<details::plain<T_>>());
}

template <class Group, class A_, class T_, class Operation>
SIM_GROUP_INLINE details::plain<T_> inclusive_scan_update(const Group &group, A_ &target, T_ &&value,
                                                          Operation &&operation)
{
    details::plain<T_> mine = value;
    auto sums = details::scan(group, mine, operation);
    return operation(details::scan_claim(group, target, sums.reduced, operation), sums.value);
}

template <class Group, class A_, class T_>
SIM_GROUP_INLINE details::plain<T_> inclusive_scan_update(const Group &group, A_ &target, T_ &&value)
{
    return inclusive_scan_update(group, target, std::forward<T_>(value), plus<details::plain<T_>>());
}

template <class Group, class A_, class T_, class Operation>
SIM_GROUP_INLINE details::plain<T_> exclusive_scan_update(const Group &group, A_ &target, T_ &&value,
                                                          Operation &&operation)
{
    details::plain<T_> mine = value;
    auto sums = details::scan(group, mine, operation);
    details::plain<T_> before = details::scan_claim(group, target, sums.reduced, operation);
    return group.thread_rank() == 0 ? before : operation(before, sums.exclusive);
}

template <class Group, class A_, class T_>
SIM_GROUP_INLINE details::plain<T_> exclusive_scan_update(const Group &group, A_ &target, T_ &&value)
{
    return exclusive_scan_update(group, target, std::forward<T_>(value), plus<details::plain<T_>>());
}
} // namespace cooperative_groups
