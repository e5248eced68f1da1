// CUB's BlockExchange and BlockHistogram on the simulated GPU. Items go through TempStorage as in CUB, so that a
// barrier forgotten before its next use is found.
#pragma once

#include <cub/block_level.h>

namespace cub
{
template <class T, int X, int Items, bool = false, int Y = 1, int Z = 1, int = 0> class BlockExchange
{
    static constexpr int THREADS = X * Y * Z;

  public:
    struct TempStorage {
        sim_detail::shared_items<T, THREADS * Items> items;
    };
    SIM_GROUP_INLINE explicit BlockExchange(TempStorage &storage) : storage_(storage)
    {
    }
    template <class To> SIM_GROUP_INLINE void StripedToBlocked(const T (&values)[Items], To (&results)[Items])
    {
        put(values, true);
        get(results, false);
    }
    template <class To> SIM_GROUP_INLINE void BlockedToStriped(const T (&values)[Items], To (&results)[Items])
    {
        put(values, false);
        get(results, true);
    }
    template <class To, class Rank>
    SIM_GROUP_INLINE void ScatterToBlocked(const T (&values)[Items], To (&results)[Items], const Rank (&ranks)[Items])
    {
        put_by_rank(values, ranks);
        get(results, false);
    }
    template <class To, class Rank>
    SIM_GROUP_INLINE void ScatterToStriped(const T (&values)[Items], To (&results)[Items], const Rank (&ranks)[Items])
    {
        put_by_rank(values, ranks);
        get(results, true);
    }
    SIM_GROUP_INLINE void StripedToBlocked(T (&values)[Items])
    {
        StripedToBlocked(values, values);
    }
    SIM_GROUP_INLINE void BlockedToStriped(T (&values)[Items])
    {
        BlockedToStriped(values, values);
    }
    template <class Rank> SIM_GROUP_INLINE void ScatterToBlocked(T (&values)[Items], const Rank (&ranks)[Items])
    {
        ScatterToBlocked(values, values, ranks);
    }
    template <class Rank> SIM_GROUP_INLINE void ScatterToStriped(T (&values)[Items], const Rank (&ranks)[Items])
    {
        ScatterToStriped(values, values, ranks);
    }

  private:
    SIM_GROUP_INLINE static int place(int i, bool striped)
    {
        const int thread = (int)sim_detail::groups::block_thread_rank();
        return striped ? thread + i * THREADS : thread * Items + i;
    }
    SIM_GROUP_INLINE void put(const T *values, bool striped)
    {
        for (int i = 0; i < Items; i++)
            storage_.items[place(i, striped)] = values[i];
        sim_barrier();
    }
    template <class Rank> SIM_GROUP_INLINE void put_by_rank(const T *values, const Rank *ranks)
    {
        for (int i = 0; i < Items; i++)
            storage_.items[ranks[i]] = values[i];
        sim_barrier();
    }
    template <class To> SIM_GROUP_INLINE void get(To *results, bool striped)
    {
        for (int i = 0; i < Items; i++)
            results[i] = storage_.items[place(i, striped)];
    }

    TempStorage &storage_;
};

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int X, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1,
          int = 0>
class BlockHistogram
{
  public:
    struct TempStorage {
        char unused;
    };
    SIM_GROUP_INLINE explicit BlockHistogram(TempStorage &)
    {
    }
    template <class Counter> SIM_GROUP_INLINE void InitHistogram(Counter (&histogram)[Bins])
    {
        for (int i = (int)sim_detail::groups::block_thread_rank(); i < Bins; i += X * Y * Z)
            histogram[i] = 0;
    }
    // As in CUB, the caller's barriers come before and behind it.
    template <class Counter> SIM_GROUP_INLINE void Composite(T (&values)[Items], Counter (&histogram)[Bins])
    {
        for (int i = 0; i < Items; i++)
            atomicAdd(&histogram[values[i]], (Counter)1);
    }
    template <class Counter> SIM_GROUP_INLINE void Histogram(T (&values)[Items], Counter (&histogram)[Bins])
    {
        InitHistogram(histogram);
        sim_barrier();
        Composite(values, histogram);
    }
};
} // namespace cub
