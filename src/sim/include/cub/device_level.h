// CUB's device-wide algorithms on the simulated GPU: the two calls that CUB has (ask for room, then run), done on the
// host after what the stream still has to do.
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
// The first call asks for room; one byte is enough, and tells a program that forgot the second apart.
template <class Work> inline cudaError_t in_two_calls(void *room, size_t &bytes, cudaStream_t stream, Work work)
{
    if (!room) {
        bytes = 1;
        return cudaSuccess;
    }
    cudaError_t error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess)
        return error;
    try {
        thrust::sim_detail::in_stream here(stream);
        work();
    } catch (const thrust::system_error &failed) {
        return failed.sim_error();
    }
    return cudaSuccess;
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
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            sim_detail::store(out, thrust::reduce(in, in + (ptrdiff_t)n, start, operation));
        });
    }
    template <class In, class Out, class Size>
    static cudaError_t Sum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return Reduce(room, bytes, in, out, n, cub::Sum(), thrust::sim_detail::value_of<In>(0), stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t Max(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return Reduce(room, bytes, in, out, n, cub::Max(), std::numeric_limits<T>::lowest(), stream);
    }
    template <class In, class Out, class Size>
    static cudaError_t Min(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return Reduce(room, bytes, in, out, n, cub::Min(), std::numeric_limits<T>::max(), stream);
    }
};

struct DeviceScan {
    template <class In, class Out, class Size>
    static cudaError_t ExclusiveSum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream,
                                        [&] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Size>
    static cudaError_t InclusiveSum(void *room, size_t &bytes, In in, Out out, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream,
                                        [&] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out); });
    }
    template <class In, class Out, class Operation, class T, class Size>
    static cudaError_t ExclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, T start, Size n,
                                     cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream,
                                        [&] { thrust::exclusive_scan(in, in + (ptrdiff_t)n, out, start, operation); });
    }
    template <class In, class Out, class Operation, class Size>
    static cudaError_t InclusiveScan(void *room, size_t &bytes, In in, Out out, Operation operation, Size n,
                                     cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream,
                                        [&] { thrust::inclusive_scan(in, in + (ptrdiff_t)n, out, operation); });
    }
};

// All bits of the keys count, whatever begin_bit and end_bit ask for: programs give them to save passes.
struct DeviceRadixSort {
    template <class K, class Size>
    static cudaError_t SortKeys(void *room, size_t &bytes, const K *in, K *out, Size n, int = 0, int = 8 * sizeof(K),
                                cudaStream_t stream = 0)
    {
        return sort_keys(room, bytes, in, out, n, thrust::less<K>(), stream);
    }
    template <class K, class Size>
    static cudaError_t SortKeysDescending(void *room, size_t &bytes, const K *in, K *out, Size n, int = 0,
                                          int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_keys(room, bytes, in, out, n, thrust::greater<K>(), stream);
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairs(void *room, size_t &bytes, const K *in, K *out, const V *values, V *values_out, Size n,
                                 int = 0, int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_pairs(room, bytes, in, out, values, values_out, n, thrust::less<K>(), stream);
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairsDescending(void *room, size_t &bytes, const K *in, K *out, const V *values,
                                           V *values_out, Size n, int = 0, int = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        return sort_pairs(room, bytes, in, out, values, values_out, n, thrust::greater<K>(), stream);
    }
    template <class K, class Size>
    static cudaError_t SortKeys(void *room, size_t &bytes, DoubleBuffer<K> &keys, Size n, int begin = 0,
                                int end = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        cudaError_t error = SortKeys(room, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream);
        if (room)
            keys.selector ^= 1;
        return error;
    }
    template <class K, class V, class Size>
    static cudaError_t SortPairs(void *room, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values, Size n,
                                 int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = 0)
    {
        cudaError_t error = SortPairs(room, bytes, keys.Current(), keys.Alternate(), values.Current(),
                                      values.Alternate(), n, begin, end, stream);
        if (room) {
            keys.selector ^= 1;
            values.selector ^= 1;
        }
        return error;
    }

  private:
    template <class K, class Size, class Less>
    static cudaError_t sort_keys(void *room, size_t &bytes, const K *in, K *out, Size n, Less less_than,
                                 cudaStream_t stream)
    {
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            thrust::copy(in, in + (ptrdiff_t)n, out);
            thrust::stable_sort(out, out + (ptrdiff_t)n, less_than);
        });
    }
    template <class K, class V, class Size, class Less>
    static cudaError_t sort_pairs(void *room, size_t &bytes, const K *in, K *out, const V *values, V *values_out,
                                  Size n, Less less_than, cudaStream_t stream)
    {
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
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
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            auto end = thrust::copy_if(in, in + (ptrdiff_t)n, out, predicate);
            sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end - out));
        });
    }
    template <class In, class Flags, class Out, class Count, class Size>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out, Count count, Size n,
                               cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            auto end = thrust::copy_if(in, in + (ptrdiff_t)n, flags, out, [](const auto &flag) { return flag != 0; });
            sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end - out));
        });
    }
};

struct DeviceHistogram {
    template <class In, class Counter, class Level, class Size>
    static cudaError_t HistogramEven(void *room, size_t &bytes, In in, Counter *histogram, int levels, Level lower,
                                     Level upper, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            std::vector<Counter> counts((size_t)(levels - 1), 0);
            Level width = (upper - lower) / (Level)(levels - 1);
            thrust::for_each(in, in + (ptrdiff_t)n, [&](const thrust::sim_detail::value_of<In> &value) {
                if ((Level)value >= lower && (Level)value < upper)
                    counts[(size_t)(((Level)value - lower) / width)]++;
            });
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
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
            auto end =
                thrust::reduce_by_key(in, in + (ptrdiff_t)n, thrust::make_constant_iterator((Length)1), out, lengths);
            sim_detail::store(count, (thrust::sim_detail::value_of<Count>)(end.first - out));
        });
    }
    // Runs of two and more.
    template <class In, class Offsets, class Lengths, class Count, class Size>
    static cudaError_t NonTrivialRuns(void *room, size_t &bytes, In in, Offsets offsets, Lengths lengths, Count count,
                                      Size n, cudaStream_t stream = 0)
    {
        typedef thrust::sim_detail::value_of<In> T;
        return sim_detail::in_two_calls(room, bytes, stream, [&] {
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
            sim_detail::store(count, (thrust::sim_detail::value_of<Count>)starts.size());
        });
    }
};
} // namespace cub
