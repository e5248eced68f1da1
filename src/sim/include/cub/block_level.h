// CUB's warp and block collectives on the simulated GPU: reduce, scan, load and store. They use their TempStorage as
// CUB does (a value for each warp), so that a barrier forgotten before its next use is found.
#pragma once

#include <cub/shared_items.h>

namespace cub
{
struct NullType {
};
struct Sum {
    template <class T> SIM_GROUP_INLINE T operator()(const T &a, const T &b) const
    {
        return a + b;
    }
};
struct Max {
    template <class T> SIM_GROUP_INLINE T operator()(const T &a, const T &b) const
    {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T> SIM_GROUP_INLINE T operator()(const T &a, const T &b) const
    {
        return b < a ? b : a;
    }
};

template <class Key, class Value> struct KeyValuePair {
    Key key;
    Value value;
    KeyValuePair() = default;
    SIM_GROUP_INLINE KeyValuePair(const Key &its_key, const Value &its_value) : key(its_key), value(its_value)
    {
    }
    SIM_GROUP_INLINE bool operator!=(const KeyValuePair &other) const
    {
        return key != other.key || value != other.value;
    }
};
// Of equal values, the one with the smaller key.
struct ArgMax {
    template <class K, class V>
    SIM_GROUP_INLINE KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const
    {
        return a.value < b.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    SIM_GROUP_INLINE KeyValuePair<K, V> operator()(const KeyValuePair<K, V> &a, const KeyValuePair<K, V> &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE
};

namespace sim_detail
{
namespace groups = cooperative_groups::details;

// The lanes of this thread's logical warp, all together: reduced, inclusive and exclusive values.
template <class T, class Operation>
SIM_GROUP_INLINE groups::collected<T, Operation> collect(unsigned threads, const T &value, Operation &operation)
{
    groups::collected<T, Operation> mine = {value, value, T(), &operation};
    sim_warp_call(groups::tile_mask(threads), &mine, groups::scan_all<T, Operation>);
    return mine;
}
} // namespace sim_detail

template <class T, int LOGICAL_WARP_THREADS = 32> class WarpReduce
{
  public:
    struct TempStorage {
        char unused;
    };
    SIM_GROUP_INLINE explicit WarpReduce(TempStorage &)
    {
    }
    template <class Operation> SIM_GROUP_INLINE T Reduce(const T &value, Operation operation)
    {
        return sim_detail::collect((unsigned)LOGICAL_WARP_THREADS, value, operation).reduced;
    }
    SIM_GROUP_INLINE T Sum(const T &value)
    {
        return Reduce(value, cub::Sum());
    }
};

template <class T, int LOGICAL_WARP_THREADS = 32> class WarpScan
{
  public:
    struct TempStorage {
        char unused;
    };
    SIM_GROUP_INLINE explicit WarpScan(TempStorage &)
    {
    }
    template <class Operation> SIM_GROUP_INLINE void InclusiveScan(T value, T &result, Operation operation)
    {
        result = sim_detail::collect((unsigned)LOGICAL_WARP_THREADS, value, operation).value;
    }
    SIM_GROUP_INLINE void InclusiveSum(T value, T &result)
    {
        InclusiveScan(value, result, cub::Sum());
    }
    SIM_GROUP_INLINE void InclusiveSum(T value, T &result, T &total)
    {
        cub::Sum sum;
        auto all = sim_detail::collect((unsigned)LOGICAL_WARP_THREADS, value, sum);
        result = all.value;
        total = all.reduced;
    }
    SIM_GROUP_INLINE void ExclusiveSum(T value, T &result)
    {
        cub::Sum sum;
        result = sim_detail::collect((unsigned)LOGICAL_WARP_THREADS, value, sum).exclusive;
    }
    SIM_GROUP_INLINE void ExclusiveSum(T value, T &result, T &total)
    {
        cub::Sum sum;
        auto all = sim_detail::collect((unsigned)LOGICAL_WARP_THREADS, value, sum);
        result = all.exclusive;
        total = all.reduced;
    }
};

template <class T, int X, int Y = 1, int Z = 1> struct sim_block_storage {
    static constexpr int warps = (X * Y * Z + 31) / 32;
    sim_detail::shared_items<T, warps> of_warp;
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce
{
  public:
    typedef sim_block_storage<T, X, Y, Z> TempStorage;
    SIM_GROUP_INLINE explicit BlockReduce(TempStorage &storage) : storage_(storage)
    {
    }
    // The result is thread 0's alone, as in CUB.
    template <class Operation> SIM_GROUP_INLINE T Reduce(const T &value, Operation operation, int valid = X * Y * Z)
    {
        unsigned thread = sim_detail::groups::block_thread_rank(), warp = thread / 32;
        unsigned mask = sim_detail::groups::tile_mask(32), first = warp * 32;
        unsigned inside = (unsigned)valid <= first        ? 0
                          : (unsigned)valid - first >= 32 ? ~0u
                                                          : (1u << (valid - first)) - 1;
        T result = value;
        if ((mask & inside) != 0 && (inside >> (thread % 32) & 1)) {
            sim_detail::groups::collected<T, Operation> mine = {value, value, T(), &operation};
            sim_warp_call(mask & inside, &mine, sim_detail::groups::reduce_all<T, Operation>);
            result = mine.reduced;
        }
        if (thread % 32 == 0)
            storage_.of_warp[warp] = result;
        sim_barrier();
        if (thread == 0)
            for (int i = 1; i * 32 < valid; i++)
                result = operation(result, storage_.of_warp[i]);
        return result;
    }
    SIM_GROUP_INLINE T Sum(const T &value)
    {
        return Reduce(value, cub::Sum());
    }
    SIM_GROUP_INLINE T Sum(const T &value, int valid)
    {
        return Reduce(value, cub::Sum(), valid);
    }
    template <int Items, class Operation> SIM_GROUP_INLINE T Reduce(T (&values)[Items], Operation operation)
    {
        T sum = values[0];
        for (int i = 1; i < Items; i++)
            sum = operation(sum, values[i]);
        return Reduce(sum, operation);
    }
    template <int Items> SIM_GROUP_INLINE T Sum(T (&values)[Items])
    {
        return Reduce(values, cub::Sum());
    }

  private:
    TempStorage &storage_;
};

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0> class BlockScan
{
  public:
    struct TempStorage {
        sim_block_storage<T, X, Y, Z> sums;
        sim_detail::shared_items<T, 1> prefix;
    };
    SIM_GROUP_INLINE explicit BlockScan(TempStorage &storage) : storage_(storage)
    {
    }
    template <class Operation>
    SIM_GROUP_INLINE void ExclusiveScan(T value, T &result, T start, Operation operation, T &total)
    {
        T before, inclusive;
        bool first = !scan(value, operation, before, inclusive, total);
        result = first ? start : operation(start, before);
    }
    template <class Operation> SIM_GROUP_INLINE void ExclusiveScan(T value, T &result, T start, Operation operation)
    {
        T total;
        ExclusiveScan(value, result, start, operation, total);
    }
    template <class Operation> SIM_GROUP_INLINE void InclusiveScan(T value, T &result, Operation operation, T &total)
    {
        T before;
        scan(value, operation, before, result, total);
    }
    template <class Operation> SIM_GROUP_INLINE void InclusiveScan(T value, T &result, Operation operation)
    {
        T total;
        InclusiveScan(value, result, operation, total);
    }
    SIM_GROUP_INLINE void ExclusiveSum(T value, T &result)
    {
        ExclusiveScan(value, result, T(), cub::Sum());
    }
    SIM_GROUP_INLINE void ExclusiveSum(T value, T &result, T &total)
    {
        ExclusiveScan(value, result, T(), cub::Sum(), total);
    }
    SIM_GROUP_INLINE void InclusiveSum(T value, T &result)
    {
        InclusiveScan(value, result, cub::Sum());
    }
    SIM_GROUP_INLINE void InclusiveSum(T value, T &result, T &total)
    {
        InclusiveScan(value, result, cub::Sum(), total);
    }
    // Without a start: thread 0's result is undefined.
    template <class Operation> SIM_GROUP_INLINE void ExclusiveScan(T value, T &result, Operation operation)
    {
        T total, before, inclusive;
        if (scan(value, operation, before, inclusive, total))
            result = before;
    }
    template <int Items> SIM_GROUP_INLINE void ExclusiveSum(T (&values)[Items], T (&results)[Items])
    {
        T total;
        ExclusiveScan(values, results, T(), cub::Sum(), total);
    }
    template <int Items> SIM_GROUP_INLINE void ExclusiveSum(T (&values)[Items], T (&results)[Items], T &total)
    {
        ExclusiveScan(values, results, T(), cub::Sum(), total);
    }
    template <int Items> SIM_GROUP_INLINE void InclusiveSum(T (&values)[Items], T (&results)[Items])
    {
        T total;
        InclusiveScan(values, results, cub::Sum(), total);
    }
    template <int Items> SIM_GROUP_INLINE void InclusiveSum(T (&values)[Items], T (&results)[Items], T &total)
    {
        InclusiveScan(values, results, cub::Sum(), total);
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE void ExclusiveScan(T (&values)[Items], T (&results)[Items], T start, Operation operation, T &total)
    {
        T before, inclusive;
        const bool first = !scan(sum_of(values, operation), operation, before, inclusive, total);
        exclusive_items(values, results, first ? start : operation(start, before), operation);
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE void ExclusiveScan(T (&values)[Items], T (&results)[Items], T start, Operation operation)
    {
        T total;
        ExclusiveScan(values, results, start, operation, total);
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE void InclusiveScan(T (&values)[Items], T (&results)[Items], Operation operation, T &total)
    {
        T before, inclusive;
        const bool first = !scan(sum_of(values, operation), operation, before, inclusive, total);
        inclusive_items(values, results, first ? values[0] : operation(before, values[0]), operation);
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE void InclusiveScan(T (&values)[Items], T (&results)[Items], Operation operation)
    {
        T total;
        InclusiveScan(values, results, operation, total);
    }

    // With a prefix for the whole block, which a function of the program's gives when it is told the block's total. The
    // first warp calls it, and what its first thread returns counts.
    template <class Prefix> SIM_GROUP_INLINE void ExclusiveSum(T value, T &result, Prefix &prefix)
    {
        ExclusiveScan(value, result, cub::Sum(), prefix);
    }
    template <class Prefix> SIM_GROUP_INLINE void InclusiveSum(T value, T &result, Prefix &prefix)
    {
        InclusiveScan(value, result, cub::Sum(), prefix);
    }
    template <int Items, class Prefix>
    SIM_GROUP_INLINE void ExclusiveSum(T (&values)[Items], T (&results)[Items], Prefix &prefix)
    {
        ExclusiveScan(values, results, cub::Sum(), prefix);
    }
    template <int Items, class Prefix>
    SIM_GROUP_INLINE void InclusiveSum(T (&values)[Items], T (&results)[Items], Prefix &prefix)
    {
        InclusiveScan(values, results, cub::Sum(), prefix);
    }
    template <class Operation, class Prefix>
    SIM_GROUP_INLINE void ExclusiveScan(T value, T &result, Operation operation, Prefix &prefix)
    {
        T inclusive;
        result = scan_behind(value, operation, prefix, inclusive);
    }
    template <class Operation, class Prefix>
    SIM_GROUP_INLINE void InclusiveScan(T value, T &result, Operation operation, Prefix &prefix)
    {
        scan_behind(value, operation, prefix, result);
    }
    template <int Items, class Operation, class Prefix>
    SIM_GROUP_INLINE void ExclusiveScan(T (&values)[Items], T (&results)[Items], Operation operation, Prefix &prefix)
    {
        T inclusive;
        const T before = scan_behind(sum_of(values, operation), operation, prefix, inclusive);
        exclusive_items(values, results, before, operation);
    }
    template <int Items, class Operation, class Prefix>
    SIM_GROUP_INLINE void InclusiveScan(T (&values)[Items], T (&results)[Items], Operation operation, Prefix &prefix)
    {
        T inclusive;
        const T before = scan_behind(sum_of(values, operation), operation, prefix, inclusive);
        inclusive_items(values, results, operation(before, values[0]), operation);
    }

  private:
    // Returns whether any thread comes before this one.
    template <class Operation>
    SIM_GROUP_INLINE bool scan(T value, Operation operation, T &before, T &inclusive, T &total)
    {
        unsigned thread = sim_detail::groups::block_thread_rank(), warp = thread / 32;
        auto mine = sim_detail::collect(32, value, operation);
        if (thread % 32 == 0)
            storage_.sums.of_warp[warp] = mine.reduced;
        sim_barrier();
        unsigned warps = (sim_detail::groups::block_threads() + 31) / 32;
        T sum = storage_.sums.of_warp[0], prefix = T();
        for (unsigned i = 1; i < warps; i++) {
            if (i == warp)
                prefix = sum;
            sum = operation(sum, storage_.sums.of_warp[i]);
        }
        total = sum;
        inclusive = warp == 0 ? mine.value : operation(prefix, mine.value);
        before = warp == 0 ? mine.exclusive : thread % 32 == 0 ? prefix : operation(prefix, mine.exclusive);
        return thread > 0;
    }
    // Returns what comes before this thread's value.
    template <class Operation, class Prefix>
    SIM_GROUP_INLINE T scan_behind(T value, Operation operation, Prefix &prefix, T &inclusive)
    {
        T before, within, total;
        const bool first = !scan(value, operation, before, within, total);
        const unsigned thread = sim_detail::groups::block_thread_rank();
        if (thread < 32) {
            T behind = prefix(total);
            if (thread == 0)
                storage_.prefix[0] = behind;
        }
        sim_barrier();
        const T behind = storage_.prefix[0];
        inclusive = operation(behind, within);
        return first ? behind : operation(behind, before);
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE static T sum_of(const T (&values)[Items], Operation &operation)
    {
        T sum = values[0];
        for (int i = 1; i < Items; i++)
            sum = operation(sum, values[i]);
        return sum;
    }
    // The results may take the place of the values.
    template <int Items, class Operation>
    SIM_GROUP_INLINE static void exclusive_items(const T *values, T (&results)[Items], T before, Operation &operation)
    {
        for (int i = 0; i < Items; i++) {
            const T value = values[i];
            results[i] = before;
            before = operation(before, value);
        }
    }
    template <int Items, class Operation>
    SIM_GROUP_INLINE static void inclusive_items(const T *values, T (&results)[Items], T first, Operation &operation)
    {
        results[0] = first;
        for (int i = 1; i < Items; i++)
            results[i] = operation(results[i - 1], values[i]);
    }

    TempStorage &storage_;
};

// Thread t has elements t * Items to t * Items + Items - 1.
template <class T, int X, int Items, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad
{
  public:
    struct TempStorage {
        char unused;
    };
    BlockLoad() = default;
    SIM_GROUP_INLINE explicit BlockLoad(TempStorage &)
    {
    }
    template <class From> SIM_GROUP_INLINE void Load(From from, T (&items)[Items])
    {
        Load(from, items, X * Y * Z * Items);
    }
    template <class From> SIM_GROUP_INLINE void Load(From from, T (&items)[Items], int valid)
    {
        for (int i = 0; i < Items; i++)
            if (place(i) < valid)
                items[i] = from[place(i)];
    }
    template <class From, class Default>
    SIM_GROUP_INLINE void Load(From from, T (&items)[Items], int valid, Default otherwise)
    {
        for (int i = 0; i < Items; i++)
            items[i] = otherwise;
        Load(from, items, valid);
    }

  private:
    SIM_GROUP_INLINE static int place(int i)
    {
        int thread = (int)sim_detail::groups::block_thread_rank();
        return Algorithm == BLOCK_LOAD_STRIPED ? thread + i * X * Y * Z : thread * Items + i;
    }
};

template <class T, int X, int Items, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore
{
  public:
    struct TempStorage {
        char unused;
    };
    BlockStore() = default;
    SIM_GROUP_INLINE explicit BlockStore(TempStorage &)
    {
    }
    template <class To> SIM_GROUP_INLINE void Store(To to, T (&items)[Items])
    {
        Store(to, items, X * Y * Z * Items);
    }
    template <class To> SIM_GROUP_INLINE void Store(To to, T (&items)[Items], int valid)
    {
        int thread = (int)sim_detail::groups::block_thread_rank();
        for (int i = 0; i < Items; i++) {
            int place = Algorithm == BLOCK_STORE_STRIPED ? thread + i * X * Y * Z : thread * Items + i;
            if (place < valid)
                to[place] = items[i];
        }
    }
};
} // namespace cub
