// CUB's BlockAdjacentDifference on the simulated GPU: each item and the one before it, or the one behind it, given to
// an operation. The edge items go through TempStorage, so that a barrier forgotten before its next use is found.
#pragma once

#include <cub/shared_items.h>

namespace cub
{
template <class T, int X, int Y = 1, int Z = 1, int = 0> class BlockAdjacentDifference
{
  public:
    struct TempStorage {
        sim_detail::shared_items<T, X * Y * Z> edge;
    };
    SIM_GROUP_INLINE explicit BlockAdjacentDifference(TempStorage &storage)
        : storage_(storage), thread_((int)cooperative_groups::details::block_thread_rank())
    {
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractLeft(T (&items)[Items], To (&results)[Items], Operation operation)
    {
        left(items, results, operation, X * Y * Z * Items, (const T *)nullptr);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractLeft(T (&items)[Items], To (&results)[Items], Operation operation, T before)
    {
        left(items, results, operation, X * Y * Z * Items, &before);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractLeftPartialTile(T (&items)[Items], To (&results)[Items], Operation operation,
                                                  int valid)
    {
        left(items, results, operation, valid, (const T *)nullptr);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractLeftPartialTile(T (&items)[Items], To (&results)[Items], Operation operation,
                                                  int valid, T before)
    {
        left(items, results, operation, valid, &before);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractRight(T (&items)[Items], To (&results)[Items], Operation operation)
    {
        right(items, results, operation, X * Y * Z * Items, (const T *)nullptr);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractRight(T (&items)[Items], To (&results)[Items], Operation operation, T behind)
    {
        right(items, results, operation, X * Y * Z * Items, &behind);
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void SubtractRightPartialTile(T (&items)[Items], To (&results)[Items], Operation operation,
                                                   int valid)
    {
        right(items, results, operation, valid, (const T *)nullptr);
    }

  private:
    // An operation may take references to its operands. Items from `valid` on, and the block's edge without a
    // neighbour, are copied. Results may be the items.
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void left(T (&items)[Items], To (&results)[Items], Operation operation, int valid, const T *before)
    {
        storage_.edge[thread_] = items[Items - 1];
        sim_barrier();
        for (int i = Items - 1; i >= 0; i--) {
            const bool edge = thread_ == 0 && i == 0;
            T other = i > 0 ? items[i - 1] : edge ? (before ? *before : T()) : storage_.edge[thread_ - 1];
            if (thread_ * Items + i >= valid || (edge && before == nullptr))
                results[i] = items[i];
            else
                results[i] = operation(items[i], other);
        }
    }
    template <int Items, class To, class Operation>
    SIM_GROUP_INLINE void right(T (&items)[Items], To (&results)[Items], Operation operation, int valid,
                                const T *behind)
    {
        storage_.edge[thread_] = items[0];
        sim_barrier();
        for (int i = 0; i < Items; i++) {
            const int place = thread_ * Items + i;
            const bool edge = place == X * Y * Z * Items - 1;
            T other = i + 1 < Items ? items[i + 1] : edge ? (behind ? *behind : T()) : storage_.edge[thread_ + 1];
            if (edge ? behind == nullptr || place >= valid : place + 1 >= valid)
                results[i] = items[i];
            else
                results[i] = operation(items[i], other);
        }
    }

    TempStorage &storage_;
    int thread_;
};
} // namespace cub
