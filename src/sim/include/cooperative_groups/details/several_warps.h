// Cooperative groups: collectives of tiles that span several warps. Each warp combines its own values and leaves the
// result on a board of the block; when all warps of the tile have come, each reads what the others left.
#pragma once

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
template <class T_> SIM_GROUP_INLINE T_ *warp_board()
{
    alignas(T_) SIM_SHARED unsigned char board[block_warps * sizeof(T_)];
    return reinterpret_cast<T_ *>(board);
}

template <class T_, class Operation> struct posted {
    collected<T_, Operation> mine; // first: sim_warp_call's functions of one warp take the same argument
    T_ *board;
    unsigned warp, first, end; // this warp, and the tile's warps, of the block
};

template <class T_, class Operation> inline void post(void **arguments, unsigned mask)
{
    scan_all<T_, Operation>(arguments, mask);
    auto *own = static_cast<posted<T_, Operation> *>(arguments[__builtin_ctz(mask)]);
    own->board[own->warp] = own->mine.reduced;
}

// Puts the warps before this one in front of what its lanes have, and the whole tile's sum into `reduced`.
template <class T_, class Operation> inline void gather(void **arguments, unsigned mask)
{
    auto *own = static_cast<posted<T_, Operation> *>(arguments[__builtin_ctz(mask)]);
    Operation &operation = *own->mine.operation;
    T_ before = own->board[own->first], sum = before;
    for (unsigned warp = own->first + 1; warp < own->end; warp++) {
        sum = operation(sum, own->board[warp]);
        if (warp + 1 == own->warp)
            before = sum;
    }
    for (bool leads = true; mask != 0; mask &= mask - 1, leads = false) {
        collected<T_, Operation> &lane = static_cast<posted<T_, Operation> *>(arguments[__builtin_ctz(mask)])->mine;
        lane.reduced = sum;
        if (own->warp == own->first)
            continue;
        lane.value = operation(before, lane.value);
        lane.exclusive = leads ? before : operation(before, lane.exclusive);
    }
}

template <class Group, class T_, class Operation>
SIM_GROUP_INLINE collected<T_, Operation> combine(const Group &group, const T_ &value, Operation &operation,
                                                  std::true_type)
{
    unsigned rank = block_thread_rank(), first = rank / Group::size() * Group::size() / warp_lanes;
    posted<T_, Operation> own = {{value, value, T_{}, &operation},
                                 warp_board<T_>(),
                                 rank / warp_lanes,
                                 first,
                                 first + Group::size() / warp_lanes};
    sim_warp_call(all_lanes, &own, post<T_, Operation>);
    group.sync();
    sim_warp_call(all_lanes, &own, gather<T_, Operation>);
    group.sync();
    return own.mine;
}

// One thread's value for all.
template <class T_> struct handed {
    T_ value;
    T_ *place;
    bool gives;
};

template <class T_> inline void give(void **arguments, unsigned mask)
{
    for (; mask != 0; mask &= mask - 1) {
        auto *own = static_cast<handed<T_> *>(arguments[__builtin_ctz(mask)]);
        if (own->gives)
            *own->place = own->value;
    }
}

template <class T_> inline void take(void **arguments, unsigned mask)
{
    for (; mask != 0; mask &= mask - 1) {
        auto *own = static_cast<handed<T_> *>(arguments[__builtin_ctz(mask)]);
        own->value = *own->place;
    }
}

template <unsigned Size>
template <class T_>
SIM_GROUP_INLINE plain<T_> multi_warp_tile<Size>::shfl(T_ &&value, unsigned rank) const
{
    typedef plain<T_> type;
    handed<type> own = {value, warp_board<type>() + block_thread_rank() / Size * Size / warp_lanes,
                        this->thread_rank() == rank % Size};
    sim_warp_call(all_lanes, &own, give<type>);
    sync();
    sim_warp_call(all_lanes, &own, take<type>);
    sync();
    return own.value;
}

template <unsigned Size> SIM_GROUP_INLINE int multi_warp_tile<Size>::any(int predicate) const
{
    bit_or<int> either;
    return combine(*this, (int)(predicate != 0), either, std::true_type()).reduced;
}

template <unsigned Size> SIM_GROUP_INLINE int multi_warp_tile<Size>::all(int predicate) const
{
    bit_and<int> both;
    return combine(*this, (int)(predicate != 0), both, std::true_type()).reduced;
}
} // namespace details
} // namespace cooperative_groups
