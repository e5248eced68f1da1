// Cooperative groups within a warp: tiles (aligned runs of 1 to 32 lanes) and coalesced groups (any lanes). Masks are
// exact; only sync() orders memory, as __syncwarp does. Tiles of several warps have what CUDA gives them: sync, shfl,
// any and all, of which the last three are in several_warps.h.
#pragma once

#include <cooperative_groups/details/groups.h>

namespace cooperative_groups
{
namespace details
{
template <class T_> SIM_GROUP_INLINE uint64_t match_bits(const T_ &value)
{
    static_assert(sizeof(T_) <= sizeof(uint64_t), "match takes values of 4 or 8 bytes");
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof(T_));
    return word;
}

// Votes and matches of the lanes of `Group`, which says what they are, and packs a mask of them to bits by rank.
template <class Group> class warp_votes
{
  public:
    SIM_GROUP_INLINE int any(int predicate) const
    {
        return (int)vote(SIM_ANY, predicate != 0);
    }
    SIM_GROUP_INLINE int all(int predicate) const
    {
        return (int)vote(SIM_ALL, predicate != 0);
    }
    SIM_GROUP_INLINE unsigned ballot(int predicate) const
    {
        return group().by_rank(vote(SIM_BALLOT, predicate != 0));
    }
    template <class T_> SIM_GROUP_INLINE unsigned match_any(T_ value) const
    {
        return group().by_rank(vote(SIM_MATCH_ANY, match_bits(value)));
    }
    template <class T_> SIM_GROUP_INLINE unsigned match_all(T_ value, int &predicate) const
    {
        unsigned equal = vote(SIM_MATCH_ALL, match_bits(value));
        predicate = equal != 0;
        return group().by_rank(equal);
    }
    SIM_GROUP_INLINE operator thread_group() const
    {
        return thread_group(group_lanes, group().lanes());
    }

  private:
    SIM_GROUP_INLINE const Group &group() const
    {
        return static_cast<const Group &>(*this);
    }
    SIM_GROUP_INLINE unsigned vote(int operation, uint64_t value) const
    {
        return (unsigned)sim_warp(operation, group().lanes(), value, 0, warp_lanes);
    }
};
} // namespace details

class coalesced_group : public details::warp_votes<coalesced_group>
{
  public:
    SIM_GROUP_INLINE explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size)
    {
    }
    SIM_GROUP_INLINE unsigned size() const
    {
        return (unsigned)__builtin_popcount(mask_);
    }
    SIM_GROUP_INLINE unsigned num_threads() const
    {
        return size();
    }
    SIM_GROUP_INLINE unsigned thread_rank() const
    {
        return (unsigned)__builtin_popcount(mask_ & details::lanes_below(details::lane()));
    }
    SIM_GROUP_INLINE unsigned meta_group_rank() const
    {
        return meta_rank_;
    }
    SIM_GROUP_INLINE unsigned meta_group_size() const
    {
        return meta_size_;
    }
    SIM_GROUP_INLINE bool is_valid() const
    {
        return true;
    }
    SIM_GROUP_INLINE void sync() const
    {
        sim_warp_sync(mask_);
    }
    template <class T_> SIM_GROUP_INLINE details::plain<T_> shfl(T_ &&value, int rank) const
    {
        return from_rank<details::plain<T_>>(value, (unsigned)rank % size());
    }
    template <class T_> SIM_GROUP_INLINE details::plain<T_> shfl_down(T_ &&value, unsigned delta) const
    {
        unsigned rank = thread_rank();
        return from_rank<details::plain<T_>>(value, rank + delta < size() ? rank + delta : rank);
    }
    template <class T_> SIM_GROUP_INLINE details::plain<T_> shfl_up(T_ &&value, unsigned delta) const
    {
        unsigned rank = thread_rank();
        return from_rank<details::plain<T_>>(value, rank >= delta ? rank - delta : rank);
    }
    SIM_GROUP_INLINE unsigned lanes() const
    {
        return mask_;
    }
    SIM_GROUP_INLINE unsigned by_rank(unsigned bits) const
    {
        return details::pack(bits, mask_);
    }

  private:
    template <class T_> SIM_GROUP_INLINE T_ from_rank(const T_ &value, unsigned rank) const
    {
        return details::shuffle(SIM_SHUFFLE_INDEX, mask_, value, (int)details::lane_of_rank(mask_, rank),
                                details::warp_lanes);
    }

    unsigned mask_, meta_rank_, meta_size_;
};

SIM_GROUP_INLINE coalesced_group coalesced_threads()
{
    return coalesced_group(sim_active_mask());
}

template <unsigned Size, class Parent = void> class thread_block_tile;

namespace details
{
// What every tile has. It holds nothing: the threads follow from the thread's index.
template <unsigned Size> class tile
{
    static_assert(Size != 0 && (Size & (Size - 1)) == 0, "a tile's size must be a power of two");

  public:
    SIM_GROUP_INLINE static constexpr unsigned size()
    {
        return Size;
    }
    SIM_GROUP_INLINE static constexpr unsigned num_threads()
    {
        return Size;
    }
    SIM_GROUP_INLINE static unsigned thread_rank()
    {
        return block_thread_rank() & (Size - 1);
    }
    SIM_GROUP_INLINE static bool is_valid()
    {
        return true;
    }
};

template <unsigned Size> class warp_tile : public tile<Size>, public warp_votes<warp_tile<Size>>
{
  public:
    SIM_GROUP_INLINE static unsigned lanes()
    {
        return tile_mask(Size);
    }
    SIM_GROUP_INLINE static unsigned by_rank(unsigned bits)
    {
        return (bits >> (lane() & ~(Size - 1) & (warp_lanes - 1))) & (Size == warp_lanes ? ~0u : (1u << Size % 32) - 1);
    }
    SIM_GROUP_INLINE void sync() const
    {
        sim_warp_sync(lanes());
    }
    template <class T_> SIM_GROUP_INLINE plain<T_> shfl(T_ &&value, int rank) const
    {
        return shuffle<plain<T_>>(SIM_SHUFFLE_INDEX, lanes(), value, rank, (int)Size);
    }
    template <class T_> SIM_GROUP_INLINE plain<T_> shfl_down(T_ &&value, unsigned delta) const
    {
        return shuffle<plain<T_>>(SIM_SHUFFLE_DOWN, lanes(), value, (int)delta, (int)Size);
    }
    template <class T_> SIM_GROUP_INLINE plain<T_> shfl_up(T_ &&value, unsigned delta) const
    {
        return shuffle<plain<T_>>(SIM_SHUFFLE_UP, lanes(), value, (int)delta, (int)Size);
    }
    template <class T_> SIM_GROUP_INLINE plain<T_> shfl_xor(T_ &&value, unsigned mask) const
    {
        return shuffle<plain<T_>>(SIM_SHUFFLE_XOR, lanes(), value, (int)mask, (int)Size);
    }
    SIM_GROUP_INLINE operator coalesced_group() const
    {
        return coalesced_group(lanes());
    }
};

// Tiles of several warps.
template <unsigned Size> class multi_warp_tile : public tile<Size>
{
  public:
    SIM_GROUP_INLINE void sync() const
    {
        tile_barrier(Size);
    }
    // Every thread of the tile names the same rank.
    template <class T_> SIM_GROUP_INLINE plain<T_> shfl(T_ &&value, unsigned rank) const;
    SIM_GROUP_INLINE int any(int predicate) const;
    SIM_GROUP_INLINE int all(int predicate) const;
    SIM_GROUP_INLINE operator thread_group() const
    {
        return thread_group(group_multi_warp, 0, Size);
    }
};

template <unsigned Size>
using tile_of_size = typename std::conditional<(Size <= warp_lanes), warp_tile<Size>, multi_warp_tile<Size>>::type;

// Threads of the parent, and this thread's rank in it.
template <class Parent> struct parent_of_tile {
    SIM_GROUP_INLINE static unsigned rank()
    {
        return block_thread_rank();
    }
    SIM_GROUP_INLINE static unsigned threads()
    {
        return block_threads();
    }
};
template <unsigned Size, class Grand> struct parent_of_tile<thread_block_tile<Size, Grand>> {
    SIM_GROUP_INLINE static unsigned rank()
    {
        return block_thread_rank() & (Size - 1);
    }
    SIM_GROUP_INLINE static unsigned threads()
    {
        return Size;
    }
};
} // namespace details

template <unsigned Size, class Parent> class thread_block_tile : public details::tile_of_size<Size>
{
  public:
    SIM_GROUP_INLINE explicit thread_block_tile(const Parent &)
    {
    }
    SIM_GROUP_INLINE static unsigned meta_group_rank()
    {
        return details::parent_of_tile<Parent>::rank() / Size;
    }
    SIM_GROUP_INLINE static unsigned meta_group_size()
    {
        return (details::parent_of_tile<Parent>::threads() + Size - 1) / Size;
    }
};

// A tile that has forgotten what it was cut from keeps its place in it.
template <unsigned Size> class thread_block_tile<Size, void> : public details::tile_of_size<Size>
{
  public:
    template <class Parent>
    SIM_GROUP_INLINE thread_block_tile(const thread_block_tile<Size, Parent> &tile)
        : meta_rank_(tile.meta_group_rank()), meta_size_(tile.meta_group_size())
    {
    }
    SIM_GROUP_INLINE explicit thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : meta_rank_(meta_rank), meta_size_(meta_size)
    {
    }
    SIM_GROUP_INLINE unsigned meta_group_rank() const
    {
        return meta_rank_;
    }
    SIM_GROUP_INLINE unsigned meta_group_size() const
    {
        return meta_size_;
    }

  private:
    unsigned meta_rank_, meta_size_;
};

SIM_GROUP_INLINE thread_block_tile<1, void> this_thread()
{
    return thread_block_tile<1, void>(0, 1);
}
} // namespace cooperative_groups
