// Cooperative groups: collectives of tiles that span several warps. Each warp combines its own values and leaves the
// result on a board of the block; when all warps of the tile have come, each reads what the others left.
#ifndef SIM_COOPERATIVE_GROUPS_SEVERAL_WARPS_H
#define SIM_COOPERATIVE_GROUPS_SEVERAL_WARPS_H

#include <cooperative_groups/details/collective.h>

namespace cooperative_groups
{
namespace details
{
template <class Group> struct spans_warps : std::false_type {
};
template <unsigned Size, class Parent>
struct spans_warps<thread_block_tile<Size, Parent>> : std::integral_constant<bool, (Size > warp_lanes)> {
};

constexpr unsigned all_lanes = 0xffffffffu;
constexpr unsigned block_warps = 32;

// One value from each warp of the block. Only touched within sim_warp_call, where nothing is watched.
template <class T> SIM_GROUP_INLINE T *warp_board()
{
    alignas(T) SIM_SHARED unsigned char board[block_warps * sizeof(T)];
    return reinterpret_cast<T *>(board);
}

template <class T, class Operation> struct posted {
    collected<T, Operation> mine; // first: sim_warp_call's functions of one warp take the same argument
    T *board;
    unsigned warp, first, end; // this warp, and the tile's warps, of the block
};

template <class T, class Operation> inline void post(void **arguments, unsigned mask)
{
    scan_all<T, Operation>(arguments, mask);
    auto *own = static_cast<posted<T, Operation> *>(arguments[__builtin_ctz(mask)]);
    own->board[own->warp] = own->mine.reduced;
}

// Puts the warps before this one in front of what its lanes have, and the whole tile's sum into `reduced`.
template <class T, class Operation> inline void gather(void **arguments, unsigned mask)
{
    auto *own = static_cast<posted<T, Operation> *>(arguments[__builtin_ctz(mask)]);
    Operation &operation = *own->mine.operation;
    T before = own->board[own->first], sum = before;
    for (unsigned warp = own->first + 1; warp < own->end; warp++) {
        sum = operation(sum, own->board[warp]);
        if (warp + 1 == own->warp)
            before = sum;
    }
    for (bool leads = true; mask != 0; mask &= mask - 1, leads = false) {
        collected<T, Operation> &lane = static_cast<posted<T, Operation> *>(arguments[__builtin_ctz(mask)])->mine;
        lane.reduced = sum;
        if (own->warp == own->first)
            continue;
        lane.value = operation(before, lane.value);
        lane.exclusive = leads ? before : operation(before, lane.exclusive);
    }
}

template <class Group, class T, class Operation>
SIM_GROUP_INLINE collected<T, Operation> combine(const Group &group, const T &value, Operation &operation,
                                                 std::true_type)
{
    unsigned rank = block_thread_rank(), first = rank / Group::size() * Group::size() / warp_lanes;
    posted<T, Operation> own = {
        {value, value, T{}, &operation}, warp_board<T>(), rank / warp_lanes, first, first + Group::size() / warp_lanes};
    sim_warp_call(all_lanes, &own, post<T, Operation>);
    group.sync();
    sim_warp_call(all_lanes, &own, gather<T, Operation>);
    group.sync();
    return own.mine;
}
} // namespace details
} // namespace cooperative_groups

#endif
