// Cooperative groups: how reductions and scans are computed. The group meets once; the last thread to come combines all
// values, in the order in which the hardware's shuffles would, so that floating-point results agree to the bit.
#pragma once

#include <cooperative_groups/details/partition.h>

namespace cooperative_groups
{
template <class T_> struct plus {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return a + b;
    }
};
template <class T_> struct less {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return b < a ? b : a;
    }
};
template <class T_> struct greater {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return a < b ? b : a;
    }
};
template <class T_> struct bit_and {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return a & b;
    }
};
template <class T_> struct bit_xor {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return a ^ b;
    }
};
template <class T_> struct bit_or {
    SIM_GROUP_INLINE T_ operator()(T_ a, T_ b) const
    {
        return a | b;
    }
};

namespace details
{
// What each thread brings, and what it takes away.
template <class T_, class Operation> struct collected {
    T_ value;     // in: its value; out: the inclusive scan
    T_ reduced;   // out: over the whole group
    T_ exclusive; // out: over the threads before it; as it was for the first
    Operation *operation;
};

// Returns how many lanes take part, and lists them by rank.
template <class T_, class Operation>
inline unsigned collect(void **arguments, unsigned mask, collected<T_, Operation> **members)
{
    unsigned count = 0;
    for (; mask != 0; mask &= mask - 1)
        members[count++] = static_cast<collected<T_, Operation> *>(arguments[__builtin_ctz(mask)]);
    return count;
}

template <class T_, class Operation> inline void scan_all(void **arguments, unsigned mask)
{
    collected<T_, Operation> *members[warp_lanes];
    unsigned count = collect(arguments, mask, members);
    for (unsigned distance = 1; distance < count; distance *= 2)
        for (unsigned rank = count - 1; rank >= distance; rank--)
            members[rank]->value = (*members[rank]->operation)(members[rank]->value, members[rank - distance]->value);
    for (unsigned rank = 0; rank < count; rank++) {
        members[rank]->reduced = members[count - 1]->value;
        if (rank > 0)
            members[rank]->exclusive = members[rank - 1]->value;
    }
}

// A butterfly where the group is a whole power of two, a scan otherwise: what CUDA's headers do.
template <class T_, class Operation> inline void reduce_all(void **arguments, unsigned mask)
{
    collected<T_, Operation> *members[warp_lanes];
    unsigned count = collect(arguments, mask, members);
    if ((count & (count - 1)) != 0) {
        scan_all<T_, Operation>(arguments, mask);
        return;
    }
    for (unsigned half = count / 2; half > 0; half /= 2)
        for (unsigned rank = 0; rank < half; rank++)
            members[rank]->value = (*members[rank]->operation)(members[rank]->value, members[rank + half]->value);
    for (unsigned rank = 0; rank < count; rank++)
        members[rank]->reduced = members[0]->value;
}
} // namespace details
} // namespace cooperative_groups
