// Room for items in a TempStorage: bytes, because shared memory is not constructed, whatever constructors the items
// have.
#pragma once

#include <cooperative_groups/details/collective.h>

namespace cub
{
namespace sim_detail
{
template <class T, int N> struct shared_items {
    alignas(T) unsigned char bytes[sizeof(T) * N];
    SIM_GROUP_INLINE T &operator[](int i)
    {
        return reinterpret_cast<T *>(bytes)[i];
    }
};
} // namespace sim_detail
} // namespace cub
