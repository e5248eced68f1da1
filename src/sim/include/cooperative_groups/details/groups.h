// Cooperative groups: the block, the cluster (always of one block here), the grid, and thread_group, which any of them
// can become.
#pragma once

#include <cooperative_groups/details/thread.h>

namespace cooperative_groups
{
namespace details
{
enum group_kind { group_block, group_grid, group_cluster, group_lanes, group_multi_warp };

// Where a tile of several warps meets: at a named barrier, so at most fifteen tiles in a block. Tiles of another size
// have others: the two largest have 1 and 2, the next four 3 to 6, and so on.
SIM_GROUP_INLINE void tile_barrier(unsigned size)
{
    constexpr unsigned named_barriers = 15;
    unsigned tiles = 1;
    while (tiles * size < block_threads())
        tiles *= 2;
    unsigned barrier = tiles - 1 + block_thread_rank() / size;
    if (block_threads() == size)
        sim_barrier();
    else if (barrier > named_barriers)
        sim_unsupported("more than fifteen tiles of several warps in a block", "fewer threads in the block");
    else
        sim_barrier_named((int)barrier, (int)size);
}
} // namespace details

// A group whose kind is known only when the program runs.
class thread_group
{
  public:
    SIM_GROUP_INLINE thread_group(details::group_kind kind, unsigned mask = 0, unsigned tile = 0)
        : kind_(kind), mask_(mask), tile_(tile)
    {
    }

    SIM_GROUP_INLINE unsigned long long size() const
    {
        switch (kind_) {
        case details::group_grid:
            return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * details::block_threads();
        case details::group_lanes: return (unsigned)__builtin_popcount(mask_);
        case details::group_multi_warp: return tile_;
        default: return details::block_threads();
        }
    }

    SIM_GROUP_INLINE unsigned long long num_threads() const
    {
        return size();
    }

    SIM_GROUP_INLINE unsigned long long thread_rank() const
    {
        unsigned rank = details::block_thread_rank();
        switch (kind_) {
        case details::group_grid:
            return (blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)) *
                       details::block_threads() +
                   rank;
        case details::group_lanes: return (unsigned)__builtin_popcount(mask_ & details::lanes_below(details::lane()));
        case details::group_multi_warp: return rank % tile_;
        default: return rank;
        }
    }

    SIM_GROUP_INLINE void sync() const
    {
        switch (kind_) {
        case details::group_grid: sim_barrier_grid(); break;
        case details::group_lanes: sim_warp_sync(mask_); break;
        case details::group_multi_warp: details::tile_barrier(tile_); break;
        default: sim_barrier();
        }
    }

    SIM_GROUP_INLINE bool is_valid() const
    {
        return true;
    }

    SIM_GROUP_INLINE unsigned get_type() const
    {
        return (unsigned)kind_;
    }

    SIM_GROUP_INLINE unsigned lanes() const
    {
        return mask_;
    }

  private:
    details::group_kind kind_;
    unsigned mask_; // of the lanes, in groups within a warp
    unsigned tile_; // threads, in tiles of several warps
};

// Room for tiles of several warps: the simulator needs none of it, and programs only name it.
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
    unsigned long long room[MaxBlockSize / details::warp_lanes + 1];
};

namespace details
{
// Waiting in two halves. The simulator waits in the second.
struct arrival {
};

// What a block and a cluster, which is one block here, have in common.
class one_block
{
  public:
    typedef arrival arrival_token;

    SIM_GROUP_INLINE static void sync()
    {
        sim_barrier();
    }
    SIM_GROUP_INLINE static arrival_token barrier_arrive()
    {
        return arrival_token();
    }
    SIM_GROUP_INLINE static void barrier_wait(arrival_token &&)
    {
        sync();
    }
    SIM_GROUP_INLINE static unsigned size()
    {
        return block_threads();
    }
    SIM_GROUP_INLINE static unsigned num_threads()
    {
        return size();
    }
    SIM_GROUP_INLINE static unsigned thread_rank()
    {
        return block_thread_rank();
    }
    SIM_GROUP_INLINE static dim3 thread_index()
    {
        return dim3(threadIdx.x, threadIdx.y, threadIdx.z);
    }
    SIM_GROUP_INLINE static dim3 dim_threads()
    {
        return dim3(blockDim.x, blockDim.y, blockDim.z);
    }
};
} // namespace details

class thread_block : public details::one_block
{
  public:
    SIM_GROUP_INLINE static dim3 group_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    SIM_GROUP_INLINE static dim3 group_dim()
    {
        return dim_threads();
    }
    SIM_GROUP_INLINE static bool is_valid()
    {
        return true;
    }
    SIM_GROUP_INLINE operator thread_group() const
    {
        return thread_group(details::group_block);
    }
};

SIM_GROUP_INLINE thread_block this_thread_block()
{
    return thread_block();
}

template <unsigned MaxBlockSize> SIM_GROUP_INLINE thread_block this_thread_block(block_tile_memory<MaxBlockSize> &)
{
    return thread_block();
}

// Without cluster dimensions every block is a cluster by itself, here as on the hardware.
class cluster_group : public details::one_block
{
  public:
    using one_block::barrier_wait;
    SIM_GROUP_INLINE static void barrier_wait()
    {
        sync();
    }
    SIM_GROUP_INLINE static unsigned query_shared_rank(const void *)
    {
        return 0;
    }
    template <class T_> SIM_GROUP_INLINE static T_ *map_shared_rank(T_ *address, int rank)
    {
        if (rank != 0)
            sim_unsupported("shared memory of another block of the cluster", "a cluster of one block");
        return address;
    }
    SIM_GROUP_INLINE static dim3 block_index()
    {
        return dim3(0, 0, 0);
    }
    SIM_GROUP_INLINE static unsigned block_rank()
    {
        return 0;
    }
    SIM_GROUP_INLINE static dim3 dim_blocks()
    {
        return dim3(1, 1, 1);
    }
    SIM_GROUP_INLINE static unsigned num_blocks()
    {
        return 1;
    }
    SIM_GROUP_INLINE operator thread_group() const
    {
        return thread_group(details::group_cluster);
    }
};

SIM_GROUP_INLINE cluster_group this_cluster()
{
    return cluster_group();
}

class grid_group
{
  public:
    typedef details::arrival arrival_token;

    SIM_GROUP_INLINE bool is_valid() const
    {
        return true;
    }
    SIM_GROUP_INLINE void sync() const
    {
        sim_barrier_grid();
    }
    SIM_GROUP_INLINE arrival_token barrier_arrive() const
    {
        return arrival_token();
    }
    SIM_GROUP_INLINE void barrier_wait(arrival_token &&) const
    {
        sim_barrier_grid();
    }
    SIM_GROUP_INLINE static unsigned long long num_blocks()
    {
        return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
    }
    SIM_GROUP_INLINE static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    SIM_GROUP_INLINE static unsigned long long num_threads()
    {
        return num_blocks() * details::block_threads();
    }
    SIM_GROUP_INLINE static unsigned long long size()
    {
        return num_threads();
    }
    SIM_GROUP_INLINE static unsigned long long thread_rank()
    {
        return block_rank() * details::block_threads() + details::block_thread_rank();
    }
    SIM_GROUP_INLINE static dim3 dim_blocks()
    {
        return dim3(gridDim.x, gridDim.y, gridDim.z);
    }
    SIM_GROUP_INLINE static dim3 group_dim()
    {
        return dim_blocks();
    }
    SIM_GROUP_INLINE static dim3 dim_threads()
    {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    }
    SIM_GROUP_INLINE static dim3 block_index()
    {
        return dim3(blockIdx.x, blockIdx.y, blockIdx.z);
    }
    SIM_GROUP_INLINE static dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
    SIM_GROUP_INLINE static dim3 dim_clusters()
    {
        return dim_blocks();
    }
    SIM_GROUP_INLINE static unsigned long long num_clusters()
    {
        return num_blocks();
    }
    SIM_GROUP_INLINE static dim3 cluster_index()
    {
        return block_index();
    }
    SIM_GROUP_INLINE static unsigned long long cluster_rank()
    {
        return block_rank();
    }
    SIM_GROUP_INLINE operator thread_group() const
    {
        return thread_group(details::group_grid);
    }
};

SIM_GROUP_INLINE grid_group this_grid()
{
    return grid_group();
}

// Several devices in one launch: gone from CUDA 13 too.
class multi_grid_group
{
  public:
    SIM_GROUP_INLINE void sync() const
    {
        sim_unsupported("multi_grid_group", "one grid, or a stream for each device");
    }
    SIM_GROUP_INLINE static unsigned grid_rank()
    {
        return 0;
    }
    SIM_GROUP_INLINE static unsigned num_grids()
    {
        return 1;
    }
    SIM_GROUP_INLINE static unsigned long long size()
    {
        return grid_group::size();
    }
    SIM_GROUP_INLINE static unsigned long long thread_rank()
    {
        return grid_group::thread_rank();
    }
    SIM_GROUP_INLINE static bool is_valid()
    {
        return false;
    }
};

SIM_GROUP_INLINE multi_grid_group this_multi_grid()
{
    return multi_grid_group();
}
} // namespace cooperative_groups
