// CUB's device-wide algorithms on the simulated GPU: the two calls that CUB has. The first asks for the size of the
// temporary storage, the second is work of its stream, as a kernel is.
#pragma once

#include <algorithm>
#include <chrono> // CUB brings it, and programs rely on that
#include <limits>
#include <type_traits>
#include <vector>

#include <cub/block_discontinuity.h>
#include <cub/block_level.h>
#include <cuda/functional>
#include <thrust/sim/policies.h>

namespace cub
{
namespace sim_detail
{
template <class Work>
inline cudaError_t in_two_calls(const char *call, void *room, size_t &bytes, size_t needed, cudaStream_t stream,
                                const Work &work)
{
    if (!room) {
        bytes = needed;
        return cudaSuccess;
    }
    if (bytes < needed)
        return sim_library_short(call, bytes, needed);
    return thrust::sim_detail::run_later(call, stream, [=]() mutable {
        sim_library_room(room, needed);
        Work own = work;
        own();
    });
}

// How much temporary storage an algorithm needs: no more than the real one takes on any GPU, so that a program with a
// size of its own making is not blamed for less than a GPU would blame it for. What fits into one block needs none, and
// gets one byte, so that there is an address to pass. CUB aligns each part of the storage to 256 bytes.
inline size_t whole_parts(size_t bytes)
{
    const size_t part = 256;
    return (bytes + part - 1) / part * part + part - 1;
}
inline size_t room_of_reduction(size_t n, size_t element)
{
    const size_t one_block = 4096;
    return n <= one_block ? 1 : whole_parts(element);
}
// Scans, selections, runs: a few words for each tile, by which the blocks hand sums on.
inline size_t room_of_tiles(size_t n)
{
    const size_t tile = 16384, before = 32, state = 8;
    return whole_parts((n / tile + before) * state);
}
// A sort that may overwrite its input needs no room for the elements.
inline size_t room_of_sort(size_t n, size_t key, size_t value, bool overwrites)
{
    const size_t one_block = 4864 * 4, digits = 256, largest = key > value ? key : value;
    if (n * largest <= one_block || n <= one_block / 4)
        return 1;
    return whole_parts(digits * sizeof(int) + (overwrites ? 0 : n * (key + value)));
}

template <class Out, class T> inline void store(Out out, const T &value)
{
    thrust::fill(out, out + 1, value);
}
} // namespace sim_detail

struct DeviceReduce {
    template <class In, class Out, class Size, class Operation, class T>
    static cudaError_t Reduce(void *room, size_t &bytes, In in, Out out, Size n, Operation operation, T start,
                              cudaStream_t stream = 0)
    {
        return reduce("cub::DeviceReduce::Reduce", room, bytes, in, out, n, operation, start, stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t Sum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce("cub::DeviceReduce::Sum", room, bytes, in, out, n, cub::Sum(), T(0), stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t Max(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce("cub::DeviceReduce::Max", room, bytes, in, out, n, cub::Max(), std::numeric_limits<T>::lowest(),
                      stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t Min(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce("cub::DeviceReduce::Min", room, bytes, in, out, n, cub::Min(), std::numeric_limits<T>::max(),
                      stream);
    }
    template <class In, class Out, class Size, class Operation, class F, class T>
    static cudaError_t TransformReduce(void *room, size_t &bytes, In in, Out out, Size n, Operation operation, F f,
                                       T start, cudaStream_t stream = 0)
    {
        return reduce("cub::DeviceReduce::TransformReduce", room, bytes, thrust::make_transform_iterator(in, f), out, n,
                      operation, start, stream);
    }
    template <class Keys, class Unique, class In, class Out, class Count, class Operation, class Size>
    static cudaError_t ReduceByKey(void *room, size_t &bytes, Keys keys, Unique unique, In in, Out out, Count count,
                                   Operation operation, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(
            "cub::DeviceReduce::ReduceByKey", room, bytes, sim_detail::room_of_tiles((size_t)n), stream, [=] {
                auto end = thrust::reduce_by_key(keys, keys + (ptrdiff_t)n, in, unique, out, Equality(), operation);
                sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end.first - unique));
            });
    }
    // Of equal values, the first. CUDA 12 has pairs of index and value, CUDA 13 two results as well.
    template <class In, class Out, class Size>
    static cudaError_t ArgMin(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return pair("cub::DeviceReduce::ArgMin", room, bytes, in, out, n, Less(), stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t ArgMax(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return pair("cub::DeviceReduce::ArgMax", room, bytes, in, out, n, Greater(), stream);
    }
    template <class In, class Out, class Index>
    static cudaError_t ArgMin(void *room, size_t &bytes, In in, Out out, Index index, long long n,
                              cudaStream_t stream = 0)
    {
        return two_results("cub::DeviceReduce::ArgMin", room, bytes, in, out, index, n, Less(), stream);
    }
    template <class In, class Out, class Index>
    static cudaError_t ArgMax(void *room, size_t &bytes, In in, Out out, Index index, long long n,
                              cudaStream_t stream = 0)
    {
        return two_results("cub::DeviceReduce::ArgMax", room, bytes, in, out, index, n, Greater(), stream);
    }

  private:
    struct Less {
        template <class T> bool operator()(const T &a, const T &b) const
        {
            return a < b;
        }
    };
    struct Greater {
        template <class T> bool operator()(const T &a, const T &b) const
        {
            return b < a;
        }
    };
    // The place of the first element before which no other comes.
    template <class In, class Before>
    static size_t first_of(In in, size_t n, Before before, thrust::sim_detail::value_of<In> &value)
    {
        std::vector<thrust::sim_detail::value_of<In>> values(n);
        size_t best = 0;
        thrust::copy(in, in + (ptrdiff_t)n, values.begin());
        for (size_t i = 1; i < n; i++)
            best = before(values[i], values[best]) ? i : best;
        value = values[best];
        return best;
    }
    template <class In, class Out, class Size, class Before>
    static cudaError_t pair(const char *call, void *room, size_t &bytes, In in, Out out, Size n, Before before,
                            cudaStream_t stream)
    {
        typedef thrust::sim_detail::value_of<Out> Pair;
        return sim_detail::in_two_calls(call, room, bytes, 1, stream, [=] {
            thrust::sim_detail::value_of<In> value = {};
            Pair result = {};
            if (n > 0)
                result.key = (decltype(result.key))first_of(in, (size_t)n, before, value);
            result.value = value;
            sim_detail::store(out, result);
        });
    }
    template <class In, class Out, class Index, class Before>
    static cudaError_t two_results(const char *call, void *room, size_t &bytes, In in, Out out, Index index,
                                   long long n, Before before, cudaStream_t stream)
    {
        return sim_detail::in_two_calls(call, room, bytes, 1, stream, [=] {
            if (n <= 0)
                return;
            thrust::sim_detail::value_of<In> value = {};
            const size_t at = first_of(in, (size_t)n, before, value);
            sim_detail::store(out, (thrust::sim_detail::value_of<Out>)value);
            sim_detail::store(index, (thrust::sim_detail::value_of<Index>)at);
        });
    }
    template <class In, class Out, class Size, class Operation, class T>
    static cudaError_t reduce(const char *call, void *room, size_t &bytes, In in, Out out, Size n, Operation operation,
                              T start, cudaStream_t stream)
    {
        const size_t needed = sim_detail::room_of_reduction((size_t)n, sizeof(T));
        return sim_detail::in_two_calls(call, room, bytes, needed, stream, [=] {
            sim_detail::store(out, thrust::reduce(in, in + (ptrdiff_t)n, start, operation));
        });
    }
};

// A segment that is empty, or ends before it begins, gives the start value. CUB needs no temporary storage for this.
struct DeviceSegmentedReduce {
    template <class In, class Out, class Size, class Begins, class Ends, class Operation, class T>
    static cudaError_t Reduce(void *room, size_t &bytes, In in, Out out, Size segments, Begins begins, Ends ends,
                              Operation operation, T start, cudaStream_t stream = 0)
    {
        return reduce({"cub::DeviceSegmentedReduce::Reduce", room, bytes, stream}, in, out, segments, begins, ends,
                      operation, start);
    }
    template <class In, class Out, class Size, class Begins, class Ends>
    static cudaError_t Sum(void *room, size_t &bytes, In in, Out out, Size segments, Begins begins, Ends ends,
                           cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce({"cub::DeviceSegmentedReduce::Sum", room, bytes, stream}, in, out, segments, begins, ends,
                      cub::Sum(), T(0));
    }
    template <class In, class Out, class Size, class Begins, class Ends>
    static cudaError_t Max(void *room, size_t &bytes, In in, Out out, Size segments, Begins begins, Ends ends,
                           cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce({"cub::DeviceSegmentedReduce::Max", room, bytes, stream}, in, out, segments, begins, ends,
                      cub::Max(), std::numeric_limits<T>::lowest());
    }
    template <class In, class Out, class Size, class Begins, class Ends>
    static cudaError_t Min(void *room, size_t &bytes, In in, Out out, Size segments, Begins begins, Ends ends,
                           cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return reduce({"cub::DeviceSegmentedReduce::Min", room, bytes, stream}, in, out, segments, begins, ends,
                      cub::Min(), std::numeric_limits<T>::max());
    }

  private:
    struct asked {
        const char *call;
        void *room;
        size_t &bytes;
        cudaStream_t stream;
    };
    template <class In, class Out, class Size, class Begins, class Ends, class Operation, class T>
    static cudaError_t reduce(asked by, In in, Out out, Size segments, Begins begins, Ends ends, Operation operation,
                              T start)
    {
        return sim_detail::in_two_calls(by.call, by.room, by.bytes, 1, by.stream, [=] {
            const size_t count = (size_t)segments;
            std::vector<ptrdiff_t> first(count), last(count);
            thrust::copy(begins, begins + (ptrdiff_t)count, first.begin());
            thrust::copy(ends, ends + (ptrdiff_t)count, last.begin());
            std::vector<T> results(count, start);
            for (size_t i = 0; i < count; i++)
                if (first[i] < last[i])
                    results[i] = thrust::reduce(in + first[i], in + last[i], start, operation);
            thrust::copy(results.begin(), results.end(), out);
        });
    }
};

struct DeviceScan {
    template <class In, class Out, class Size>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::ExclusiveSum", room, bytes, n, stream,
                    [=] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Size>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::InclusiveSum", room, bytes, n, stream,
                    [=] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Operation, class T, class Size>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, T start, Size n,
                                     cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::ExclusiveScan", room, bytes, n, stream,
                    [=] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out, start, operation); });
    }
    template <class In, class Out, class Operation, class Size>
    static cudaError_t InclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, Size n,
                                     cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::InclusiveScan", room, bytes, n, stream,
                    [=] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out, operation); });
    }
    template <class In, class Out, class Operation, class T, class Size>
    static cudaError_t InclusiveScanInit(void *room, size_t &bytes, In in, Out out, Operation operation, T start,
                                         Size n, cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::InclusiveScanInit", room, bytes, n, stream, [=] {
            thrust::inclusive_scan(in, in + (ptrdiff_t)n, out, operation);
            thrust::transform(out, out + (ptrdiff_t)n, out, [=](const auto &x) { return operation(start, x); });
        });
    }

    // In place.
    template <class Data, class Size>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, Data data, Size n, cudaStream_t stream = 0)
    {
        return ExclusiveSum(room, bytes, data, data, n, stream);
    }
    template <class Data, class Size>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, Data data, Size n, cudaStream_t stream = 0)
    {
        return InclusiveSum(room, bytes, data, data, n, stream);
    }
    template <class Data, class Operation, class T, class Size>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, Data data, Operation operation, T start, Size n,
                                     cudaStream_t stream = 0)
    {
        return ExclusiveScan(room, bytes, data, data, operation, start, n, stream);
    }
    template <class Data, class Operation, class Size>
    static cudaError_t InclusiveScan(void *room, size_t &bytes, Data data, Operation operation, Size n,
                                     cudaStream_t stream = 0)
    {
        return InclusiveScan(room, bytes, data, data, operation, n, stream);
    }

    // Of runs of equal keys.
    template <class Keys, class In, class Out, class Size, class Same = Equality>
    static cudaError_t ExclusiveSumByKey(void *room, size_t &bytes, Keys keys, In in, Out out, Size n,
                                         Same same = Same(), cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return scan("cub::DeviceScan::ExclusiveSumByKey", room, bytes, n, stream,
                    [=] { thrust::exclusive_scan_by_key(keys, keys + (ptrdiff_t)n, in, out, T(), same, cub::Sum()); });
    }
    template <class Keys, class In, class Out, class Size, class Same = Equality>
    static cudaError_t InclusiveSumByKey(void *room, size_t &bytes, Keys keys, In in, Out out, Size n,
                                         Same same = Same(), cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::InclusiveSumByKey", room, bytes, n, stream,
                    [=] { thrust::inclusive_scan_by_key(keys, keys + (ptrdiff_t)n, in, out, same, cub::Sum()); });
    }
    template <class Keys, class In, class Out, class Operation, class T, class Size, class Same = Equality>
    static cudaError_t ExclusiveScanByKey(void *room, size_t &bytes, Keys keys, In in, Out out, Operation operation,
                                          T start, Size n, Same same = Same(), cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::ExclusiveScanByKey", room, bytes, n, stream,
                    [=] { thrust::exclusive_scan_by_key(keys, keys + (ptrdiff_t)n, in, out, start, same, operation); });
    }
    template <class Keys, class In, class Out, class Operation, class Size, class Same = Equality>
    static cudaError_t InclusiveScanByKey(void *room, size_t &bytes, Keys keys, In in, Out out, Operation operation,
                                          Size n, Same same = Same(), cudaStream_t stream = 0)
    {
        return scan("cub::DeviceScan::InclusiveScanByKey", room, bytes, n, stream,
                    [=] { thrust::inclusive_scan_by_key(keys, keys + (ptrdiff_t)n, in, out, same, operation); });
    }

  private:
    template <class Size, class Work>
    static cudaError_t scan(const char *call, void *room, size_t &bytes, Size n, cudaStream_t stream, const Work &work)
    {
        return sim_detail::in_two_calls(call, room, bytes, sim_detail::room_of_tiles((size_t)n), stream, work);
    }
};

struct DeviceHistogram {
    template <class In, class Counter, class Level, class Size>
    static cudaError_t HistogramEven(void *room, size_t &bytes, In in, Counter *histogram, int levels, Level lower,
                                     Level upper, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        const size_t needed = sim_detail::whole_parts((size_t)(levels - 1) * sizeof(Counter));
        return sim_detail::in_two_calls("cub::DeviceHistogram::HistogramEven", room, bytes, needed, stream, [=] {
            std::vector<Counter> counts((size_t)(levels - 1), 0);
            std::vector<T> values((size_t)n);
            thrust::copy(in, in + (ptrdiff_t)n, values.begin());
            for (const T &value : values)
                if ((Level)value >= lower && (Level)value < upper)
                    counts[even_bin<Level>((Level)value, lower, upper, (size_t)(levels - 1))]++;
            thrust::copy(counts.begin(), counts.end(), histogram);
        });
    }
    template <class In, class Counter, class Level, class Size>
    static cudaError_t HistogramRange(void *room, size_t &bytes, In in, Counter *histogram, int levels,
                                      const Level *bounds, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        const size_t needed = sim_detail::whole_parts((size_t)(levels - 1) * sizeof(Counter));
        return sim_detail::in_two_calls("cub::DeviceHistogram::HistogramRange", room, bytes, needed, stream, [=] {
            std::vector<Counter> counts((size_t)(levels - 1), 0);
            std::vector<T> values((size_t)n);
            std::vector<Level> bound((size_t)levels);
            thrust::copy(in, in + (ptrdiff_t)n, values.begin());
            thrust::copy(bounds, bounds + levels, bound.begin());
            for (const T &value : values) {
                const ptrdiff_t above = std::upper_bound(bound.begin(), bound.end(), (Level)value) - bound.begin();
                if (above > 0 && above < levels)
                    counts[(size_t)above - 1]++;
            }
            thrust::copy(counts.begin(), counts.end(), histogram);
        });
    }

  private:
    // The bins need not divide the range: as CUB, without a width that would be rounded.
    template <class Level>
    static typename std::enable_if<std::is_integral<Level>::value, size_t>::type even_bin(Level value, Level lower,
                                                                                          Level upper, size_t bins)
    {
        typedef unsigned long long wide;
        return (size_t)(((wide)value - (wide)lower) * bins / ((wide)upper - (wide)lower));
    }
    template <class Level>
    static typename std::enable_if<!std::is_integral<Level>::value, size_t>::type even_bin(Level value, Level lower,
                                                                                           Level upper, size_t bins)
    {
        const size_t bin = (size_t)((value - lower) * ((Level)bins / (upper - lower)));
        return bin < bins ? bin : bins - 1;
    }
};

struct DeviceRunLengthEncode {
    template <class In, class Out, class Lengths, class Count, class Size>
    static cudaError_t Encode(void *room, size_t &bytes, In in, Out out, Lengths lengths, Count count, Size n,
                              cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<Lengths> Length;
        return sim_detail::in_two_calls(
            "cub::DeviceRunLengthEncode::Encode", room, bytes, sim_detail::room_of_tiles((size_t)n), stream, [=] {
                auto end = thrust::reduce_by_key(in, in + (ptrdiff_t)n, thrust::make_constant_iterator((Length)1), out,
                                                 lengths);
                sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end.first - out));
            });
    }
    // Runs of two and more.
    template <class In, class Offsets, class Lengths, class Count, class Size>
    static cudaError_t NonTrivialRuns(void *room, size_t &bytes, In in, Offsets offsets, Lengths lengths, Count count,
                                      Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return sim_detail::in_two_calls("cub::DeviceRunLengthEncode::NonTrivialRuns", room, bytes,
                                        sim_detail::room_of_tiles((size_t)n), stream, [=] {
                                            std::vector<thrust::sim_detail::value_of<Offsets>> starts;
                                            std::vector<thrust::sim_detail::value_of<Lengths>> sizes;
                                            std::vector<T> values((size_t)n);
                                            thrust::copy(in, in + (ptrdiff_t)n, values.begin());
                                            for (size_t first = 0, i = 1; i <= values.size(); i++) {
                                                if (i < values.size() && values[i] == values[first])
                                                    continue;
                                                if (i - first > 1) {
                                                    starts.push_back((thrust::sim_detail::value_of<Offsets>)first);
                                                    sizes.push_back((thrust::sim_detail::value_of<Lengths>)(i - first));
                                                }
                                                first = i;
                                            }
                                            thrust::copy(starts.begin(), starts.end(), offsets);
                                            thrust::copy(sizes.begin(), sizes.end(), lengths);
                                            sim_detail::store(count,
                                                              (thrust::sim_detail::value_of<Count>)starts.size());
                                        });
    }
};
} // namespace cub
