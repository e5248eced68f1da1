// Cooperative groups: cutting a group into smaller ones, and the free functions that any group has.
#pragma once

#include <cooperative_groups/details/tile.h>

namespace cooperative_groups
{
template <unsigned Size, class Parent> SIM_GROUP_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent &g)
{
    return thread_block_tile<Size, Parent>(g);
}

// Older programs keep their tile in a coalesced group or a thread_group: it becomes one of the same lanes.
template <unsigned Size> SIM_GROUP_INLINE thread_block_tile<Size, void> tiled_partition(const thread_group &g)
{
    return thread_block_tile<Size, void>((unsigned)g.thread_rank() / Size, ((unsigned)g.size() + Size - 1) / Size);
}

SIM_GROUP_INLINE coalesced_group tiled_partition(const coalesced_group &parent, unsigned size)
{
    unsigned rank = parent.thread_rank() / size * size, mask = 0, members = parent.lanes();
    for (unsigned i = 0; members != 0; members &= members - 1, i++)
        if (i >= rank && i < rank + size)
            mask |= members & (0u - members);
    return coalesced_group(mask, parent.thread_rank() / size, (parent.size() + size - 1) / size);
}

SIM_GROUP_INLINE thread_group tiled_partition(const thread_block &, unsigned size)
{
    if (size == 0 || size > details::warp_lanes || (size & (size - 1)) != 0)
        sim_unsupported("a tile whose size is not a power of two up to 32", "tiled_partition<N>");
    return thread_group(details::group_lanes, details::tile_mask(size));
}

SIM_GROUP_INLINE thread_group tiled_partition(const thread_group &parent, unsigned size)
{
    if (parent.get_type() == details::group_lanes)
        return tiled_partition(coalesced_group(parent.lanes()), size);
    return tiled_partition(thread_block(), size);
}

namespace details
{
SIM_GROUP_INLINE coalesced_group split(unsigned mask, bool predicate)
{
    unsigned with = (unsigned)sim_warp(SIM_BALLOT, mask, predicate, 0, warp_lanes);
    if (with == mask || with == 0)
        return coalesced_group(mask);
    return coalesced_group(predicate ? with : mask & ~with, predicate, 2);
}

template <class T_> SIM_GROUP_INLINE coalesced_group split_by_label(unsigned mask, T_ label)
{
    unsigned same = (unsigned)sim_warp(SIM_MATCH_ANY, mask, details::match_bits(label), 0, warp_lanes);
    unsigned leader = (unsigned)__builtin_ctz(same);
    unsigned leaders = (unsigned)sim_warp(SIM_BALLOT, mask, lane() == leader, 0, warp_lanes);
    return coalesced_group(same, (unsigned)__builtin_popcount(leaders & lanes_below(leader)),
                           (unsigned)__builtin_popcount(leaders));
}
} // namespace details

template <class Group> SIM_GROUP_INLINE coalesced_group binary_partition(const Group &group, bool predicate)
{
    return details::split(group.lanes(), predicate);
}

template <class Group, class T_> SIM_GROUP_INLINE coalesced_group labeled_partition(const Group &group, T_ label)
{
    return details::split_by_label(group.lanes(), label);
}

template <class Group> SIM_GROUP_INLINE void sync(const Group &group)
{
    group.sync();
}

template <class Group> SIM_GROUP_INLINE auto thread_rank(const Group &group) -> decltype(group.thread_rank())
{
    return group.thread_rank();
}

template <class Group> SIM_GROUP_INLINE auto group_size(const Group &group) -> decltype(group.size())
{
    return group.size();
}

// One thread of the group does it; nobody waits.
template <class Group, class Function, class... Arguments>
SIM_GROUP_INLINE void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}

template <class Group, class Function, class... Arguments>
SIM_GROUP_INLINE auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> details::plain<decltype(std::forward<Function>(function)(std::forward<Arguments>(arguments)...))>
{
    details::plain<decltype(std::forward<Function>(function)(std::forward<Arguments>(arguments)...))> result{};
    if (group.thread_rank() == 0)
        result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return group.shfl(result, 0);
}
} // namespace cooperative_groups
