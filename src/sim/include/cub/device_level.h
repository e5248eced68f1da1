// CUB's device-wide algorithms on the simulated GPU: the two calls that CUB has. The first asks for the size of the
// temporary storage, the second is work of its stream, as a kernel is.
#pragma once

#include <chrono> // CUB brings it, and programs rely on that
#include <limits>

#include <cub/block_level.h>
#include <thrust/sim/policies.h>

namespace cub
{
template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer(T *current, T *other) : d_buffers{current, other}
    {
    }
    T *Current()
    {
        return d_buffers[selector];
    }
    T *Alternate()
    {
        return d_buffers[selector ^ 1];
    }
};

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

  private:
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
        return sim_detail::in_two_calls("cub::DeviceScan::ExclusiveSum", room, bytes,
                                        sim_detail::room_of_tiles((size_t)n), stream,
                                        [=] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Size>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceScan::InclusiveSum", room, bytes,
                                        sim_detail::room_of_tiles((size_t)n), stream,
                                        [=] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Operation, class T, class Size>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, T start, Size n,
                                     cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceScan::ExclusiveScan", room, bytes,
                                        sim_detail::room_of_tiles((size_t)n), stream,
                                        [=] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out, start, operation); });
    }
    template <class In, class Out, class Operation, class Size>
    static cudaError_t InclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, Size n,
                                     cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceScan::InclusiveScan", room, bytes,
                                        sim_detail::room_of_tiles((size_t)n), stream,
                                        [=] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out, operation); });
    }
};

// All bits of the keys count, whatever begin_bit and end_bit ask for: programs give them to save passes.
struct DeviceRadixSort {
    template <class K, class Size>
    static cudaError_t SortKeys(void *room, size_t &bytes, const K *in, K *out, Size n, int = 0, int = 8 * sizeof(K),
                                cudaStream_t stream = 0)
    {
        return sort_keys({"cub::DeviceRadixSort::SortKeys", room, bytes, stream}, in, out, n, thrust::less<K>());
    }
    template <class K, class Size>
    static cudaError_t SortKeysDescending(void *room, size_t &bytes, const K *in, K *out, Size n, int = 0,
                                          int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_keys({"cub::DeviceRadixSort::SortKeysDescending", room, bytes, stream}, in, out, n,
                         thrust::greater<K>());
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairs(void *room, size_t &bytes, const K *in, K *out, const V *values, V *values_out, Size n,
                                 int = 0, int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_pairs({"cub::DeviceRadixSort::SortPairs", room, bytes, stream}, in, out, values, values_out, n,
                          thrust::less<K>());
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairsDescending(void *room, size_t &bytes, const K *in, K *out, const V *values,
                                           V *values_out, Size n, int = 0, int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_pairs({"cub::DeviceRadixSort::SortPairsDescending", room, bytes, stream}, in, out, values,
                          values_out, n, thrust::greater<K>());
    }
    template <class K, class Size>
    static cudaError_t SortKeys(void *room, size_t &bytes, DoubleBuffer<K> &keys, Size n, int = 0, int = 8 * sizeof(K),
                                cudaStream_t stream = 0)
    {
        cudaError_t error = sort_keys({"cub::DeviceRadixSort::SortKeys", room, bytes, stream, true}, keys.Current(),
                                      keys.Alternate(), n, thrust::less<K>());
        if (room)
            keys.selector ^= 1;
        return error;
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairs(void *room, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, Size n,
                                 int = 0, int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        cudaError_t error = sort_pairs({"cub::DeviceRadixSort::SortPairs", room, bytes, stream, true}, keys.Current(),
                                       keys.Alternate(), values.Current(), values.Alternate(), n, thrust::less<K>());
        if (room) {
            keys.selector ^= 1;
            values.selector ^= 1;
        }
        return error;
    }

  private:
    struct asked {
        const char *call;
        void *room;
        size_t &bytes;
        cudaStream_t stream;
        bool overwrites = false; // the input, too
    };
    template <class K, class Size, class Less>
    static cudaError_t sort_keys(asked by, const K *in, K *out, Size n, Less less_than)
    {
        const size_t needed = sim_detail::room_of_sort((size_t)n, sizeof(K), 0, by.overwrites);
        return sim_detail::in_two_calls(by.call, by.room, by.bytes, needed, by.stream, [=] {
            thrust::sim_detail::apart(out, (size_t)n, in, (size_t)n);
            thrust::copy(in, in + (ptrdiff_t)n, out);
            thrust::stable_sort(out, out + (ptrdiff_t)n, less_than);
        });
    }
    template <class K, class V, class Size, class Less>
    static cudaError_t sort_pairs(asked by, const K *in, K *out, const V *values, V *values_out, Size n, Less less_than)
    {
        const size_t needed = sim_detail::room_of_sort((size_t)n, sizeof(K), sizeof(V), by.overwrites);
        return sim_detail::in_two_calls(by.call, by.room, by.bytes, needed, by.stream, [=] {
            thrust::sim_detail::apart(out, (size_t)n, in, (size_t)n);
            thrust::sim_detail::apart(out, (size_t)n, values, (size_t)n);
            thrust::sim_detail::apart(out, (size_t)n, values_out, (size_t)n);
            thrust::sim_detail::apart(values_out, (size_t)n, in, (size_t)n);
            thrust::sim_detail::apart(values_out, (size_t)n, values, (size_t)n);
            thrust::copy(in, in + (ptrdiff_t)n, out);
            thrust::copy(values, values + (ptrdiff_t)n, values_out);
            thrust::stable_sort_by_key(out, out + (ptrdiff_t)n, values_out, less_than);
        });
    }
};

struct DeviceSelect {
    template <class In, class Out, class Count, class Size, class P>
    static cudaError_t If(void *room, size_t &bytes, In in, Out out, Count count, Size n, P predicate,
                          cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceSelect::If", room, bytes, sim_detail::room_of_tiles((size_t)n),
                                        stream, [=] {
                                            auto end = thrust::copy_if(in, in + (ptrdiff_t)n, out, predicate);
                                            sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end - out));
                                        });
    }
    template <class In, class Flags, class Out, class Count, class Size>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out, Count count, Size n,
                               cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(
            "cub::DeviceSelect::Flagged", room, bytes, sim_detail::room_of_tiles((size_t)n), stream, [=] {
                auto end =
                    thrust::copy_if(in, in + (ptrdiff_t)n, flags, out, [](const auto &flag) { return flag != 0; });
                sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end - out));
            });
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
            Level width = (upper - lower) / (Level)(levels - 1);
            thrust::copy(in, in + (ptrdiff_t)n, values.begin());
            for (const T &value : values)
                if ((Level)value >= lower && (Level)value < upper)
                    counts[(size_t)(((Level)value - lower) / width)]++;
            thrust::copy(counts.begin(), counts.end(), histogram);
        });
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
