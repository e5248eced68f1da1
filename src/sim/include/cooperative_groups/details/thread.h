// Cooperative groups, the ground: where a thread stands, and warp shuffles of values of any size. The groups themselves
// are in groups.h and tile.h.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <cuda_runtime.h>

#include "sim/abi.h"
#include "sim/keywords.h"

// Inlined, so that a finding is shown at the line that called, not at ours.
#define SIM_GROUP_INLINE inline __attribute__((always_inline))

namespace cooperative_groups
{
namespace details
{
constexpr unsigned warp_lanes = 32;

template <class T_> using plain = typename std::remove_cv<typename std::remove_reference<T_>::type>::type;

SIM_GROUP_INLINE unsigned block_thread_rank()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

SIM_GROUP_INLINE unsigned block_threads()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

SIM_GROUP_INLINE unsigned lane()
{
    return block_thread_rank() % warp_lanes;
}

SIM_GROUP_INLINE unsigned lanes_below(unsigned lane_number)
{
    return (1u << lane_number) - 1;
}

// The aligned run of `size` lanes that holds this one; lanes that the block does not have are left out.
SIM_GROUP_INLINE unsigned tile_mask(unsigned size)
{
    unsigned rank = block_thread_rank(), lane_number = rank % warp_lanes;
    unsigned mask = size >= warp_lanes ? ~0u : lanes_below(size) << (lane_number & ~(size - 1));
    unsigned in_warp = block_threads() - (rank - lane_number);
    return in_warp >= warp_lanes ? mask : mask & lanes_below(in_warp);
}

// The lane of the rank-th thread of a mask.
SIM_GROUP_INLINE unsigned lane_of_rank(unsigned mask, unsigned rank)
{
    for (; rank > 0 && (mask & (mask - 1)) != 0; rank--)
        mask &= mask - 1;
    return (unsigned)__builtin_ctz(mask);
}

// One bit for each thread of the group, by rank, from one bit for each lane.
SIM_GROUP_INLINE unsigned pack(unsigned bits, unsigned mask)
{
    unsigned packed = 0;
    for (unsigned rank = 0; mask != 0; mask &= mask - 1, rank++)
        packed |= (bits >> __builtin_ctz(mask) & 1u) << rank;
    return packed;
}

// Values larger than a register travel eight bytes at a time, as the hardware does with four.
template <class T_> SIM_GROUP_INLINE T_ shuffle(int operation, unsigned mask, const T_ &value, int argument, int width)
{
    constexpr size_t word = sizeof(uint64_t);
    static_assert(std::is_trivially_copyable<T_>::value || std::is_class<T_>::value,
                  "only plain values can be shuffled");
    uint64_t words[(sizeof(T_) + word - 1) / word] = {};
    __builtin_memcpy(words, &value, sizeof(T_));
    for (uint64_t &one : words)
        one = sim_warp(operation, mask, one, argument, width);
    T_ result = value;
    __builtin_memcpy(&result, words, sizeof(T_));
    return result;
}
} // namespace details
} // namespace cooperative_groups
