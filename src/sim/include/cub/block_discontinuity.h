// CUB's BlockDiscontinuity on the simulated GPU: flags where an item differs from the one before it, or from the one
// behind it. The edge items go through TempStorage, so that a barrier forgotten before its next use is found.
#pragma once

#include <utility>

#include <cub/shared_items.h>

namespace cub
{
struct Equality {
    template <class T, class U> SIM_GROUP_INLINE bool operator()(const T &a, const U &b) const
    {
        return a == b;
    }
};
struct Inequality {
    template <class T, class U> SIM_GROUP_INLINE bool operator()(const T &a, const U &b) const
    {
        return a != b;
    }
};

template <class T, int X, int Y = 1, int Z = 1, int = 0> class BlockDiscontinuity
{
  public:
    struct TempStorage {
        sim_detail::shared_items<T, X * Y * Z> first, last;
    };
    SIM_GROUP_INLINE explicit BlockDiscontinuity(TempStorage &storage)
        : storage_(storage), thread_((int)cooperative_groups::details::block_thread_rank())
    {
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeads(Flag (&heads)[Items], T (&items)[Items], Operation operation)
    {
        storage_.last[thread_] = items[Items - 1];
        sim_barrier();
        flag_heads(heads, items, operation, (const T *)nullptr);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeads(Flag (&heads)[Items], T (&items)[Items], Operation operation, T before)
    {
        storage_.last[thread_] = items[Items - 1];
        sim_barrier();
        flag_heads(heads, items, operation, &before);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagTails(Flag (&tails)[Items], T (&items)[Items], Operation operation)
    {
        storage_.first[thread_] = items[0];
        sim_barrier();
        flag_tails(tails, items, operation, (const T *)nullptr);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagTails(Flag (&tails)[Items], T (&items)[Items], Operation operation, T behind)
    {
        storage_.first[thread_] = items[0];
        sim_barrier();
        flag_tails(tails, items, operation, &behind);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T (&items)[Items],
                                            Operation operation)
    {
        flag_both(heads, (const T *)nullptr, tails, (const T *)nullptr, items, operation);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeadsAndTails(Flag (&heads)[Items], Flag (&tails)[Items], T behind, T (&items)[Items],
                                            Operation operation)
    {
        flag_both(heads, (const T *)nullptr, tails, &behind, items, operation);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeadsAndTails(Flag (&heads)[Items], T before, Flag (&tails)[Items], T (&items)[Items],
                                            Operation operation)
    {
        flag_both(heads, &before, tails, (const T *)nullptr, items, operation);
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void FlagHeadsAndTails(Flag (&heads)[Items], T before, Flag (&tails)[Items], T behind,
                                            T (&items)[Items], Operation operation)
    {
        flag_both(heads, &before, tails, &behind, items, operation);
    }

  private:
    // An operation may take the index of the second item, too.
    template <class Operation>
    SIM_GROUP_INLINE static auto differ(Operation &operation, const T &a, const T &b, int index, int)
        -> decltype((bool)operation(a, b, index))
    {
        return operation(a, b, index);
    }
    template <class Operation>
    SIM_GROUP_INLINE static bool differ(Operation &operation, const T &a, const T &b, int, long)
    {
        return operation(a, b);
    }
    // The block's first item begins a run, and its last one ends one, unless there is a neighbour to compare it with.
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void flag_heads(Flag (&heads)[Items], T (&items)[Items], Operation &operation, const T *before)
    {
        for (int i = 0; i < Items; i++) {
            const bool edge = thread_ == 0 && i == 0;
            if (edge && before == nullptr) {
                heads[i] = 1;
                continue;
            }
            const T other = i > 0 ? items[i - 1] : edge ? *before : storage_.last[thread_ - 1];
            heads[i] = differ(operation, other, items[i], thread_ * Items + i, 0);
        }
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void flag_tails(Flag (&tails)[Items], T (&items)[Items], Operation &operation, const T *behind)
    {
        for (int i = 0; i < Items; i++) {
            const bool edge = thread_ == X * Y * Z - 1 && i == Items - 1;
            if (edge && behind == nullptr) {
                tails[i] = 1;
                continue;
            }
            const T other = i + 1 < Items ? items[i + 1] : edge ? *behind : storage_.first[thread_ + 1];
            tails[i] = differ(operation, items[i], other, thread_ * Items + i + 1, 0);
        }
    }
    template <int Items, class Flag, class Operation>
    SIM_GROUP_INLINE void flag_both(Flag (&heads)[Items], const T *before, Flag (&tails)[Items], const T *behind,
                                    T (&items)[Items], Operation &operation)
    {
        storage_.first[thread_] = items[0];
        storage_.last[thread_] = items[Items - 1];
        sim_barrier();
        flag_heads(heads, items, operation, before);
        flag_tails(tails, items, operation, behind);
    }

    TempStorage &storage_;
    int thread_;
};
} // namespace cub
