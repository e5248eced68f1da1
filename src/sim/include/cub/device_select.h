// CUB's device-wide selections on the simulated GPU: what fulfils a condition, what differs from its neighbour,
// partitions, differences of neighbours; and a function called for each of many elements.
#pragma once

#include <algorithm>
#include <vector>

#include <cub/device_level.h>

namespace cub
{
namespace sim_detail
{
struct is_set {
    template <class Flag> bool operator()(const Flag &flag) const
    {
        return static_cast<bool>(flag);
    }
};
struct difference {
    template <class T> T operator()(const T &a, const T &b) const
    {
        return a - b;
    }
};
template <class Count> inline void store_count(Count count, ptrdiff_t n)
{
    store(count, (thrust::sim_detail::value_of<Count>)n);
}
template <class Size, class Work>
inline cudaError_t select(const char *call, void *room, size_t &bytes, Size n, cudaStream_t stream, const Work &work)
{
    return in_two_calls(call, room, bytes, room_of_tiles((size_t)n), stream, work);
}
} // namespace sim_detail

struct DeviceSelect {
    template <class In, class Out, class Count, class Size, class P>
    static cudaError_t If(void *room, size_t &bytes, In in, Out out, Count count, Size n, P predicate,
                          cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::If", room, bytes, n, stream, [=] {
            sim_detail::store_count(count, thrust::copy_if(in, in + (ptrdiff_t)n, out, predicate) - out);
        });
    }
    template <class In, class Flags, class Out, class Count, class Size>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out, Count count, Size n,
                               cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::Flagged", room, bytes, n, stream, [=] {
            auto end = thrust::copy_if(in, in + (ptrdiff_t)n, flags, out, sim_detail::is_set());
            sim_detail::store_count(count, end - out);
        });
    }
    template <class In, class Flags, class Out, class Count, class Size, class P>
    static cudaError_t FlaggedIf(void *room, size_t &bytes, In in, Flags flags, Out out, Count count, Size n,
                                 P predicate, cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::FlaggedIf", room, bytes, n, stream, [=] {
            sim_detail::store_count(count, thrust::copy_if(in, in + (ptrdiff_t)n, flags, out, predicate) - out);
        });
    }
    template <class In, class Out, class Count, class Size>
    static cudaError_t Unique(void *room, size_t &bytes, In in, Out out, Count count, Size n, cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::Unique", room, bytes, n, stream, [=] {
            sim_detail::store_count(count, thrust::unique_copy(in, in + (ptrdiff_t)n, out) - out);
        });
    }
    template <class Keys, class In, class OutKeys, class Out, class Count, class Size>
    static cudaError_t UniqueByKey(void *room, size_t &bytes, Keys keys, In in, OutKeys out_keys, Out out, Count count,
                                   Size n, cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::UniqueByKey", room, bytes, n, stream, [=] {
            auto end = thrust::unique_by_key_copy(keys, keys + (ptrdiff_t)n, in, out_keys, out);
            sim_detail::store_count(count, end.first - out_keys);
        });
    }

    // In place.
    template <class Data, class Count, class Size, class P>
    static cudaError_t If(void *room, size_t &bytes, Data data, Count count, Size n, P predicate,
                          cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::If", room, bytes, n, stream, [=] {
            std::vector<thrust::sim_detail::value_of<Data>> kept((size_t)n);
            auto end = thrust::copy_if(data, data + (ptrdiff_t)n, kept.begin(), predicate);
            thrust::copy(kept.begin(), end, data);
            sim_detail::store_count(count, end - kept.begin());
        });
    }
    template <class Data, class Flags, class Count, class Size>
    static cudaError_t Flagged(void *room, size_t &bytes, Data data, Flags flags, Count count, Size n,
                               cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DeviceSelect::Flagged", room, bytes, n, stream, [=] {
            std::vector<thrust::sim_detail::value_of<Data>> kept((size_t)n);
            auto end = thrust::copy_if(data, data + (ptrdiff_t)n, flags, kept.begin(), sim_detail::is_set());
            thrust::copy(kept.begin(), end, data);
            sim_detail::store_count(count, end - kept.begin());
        });
    }
};

// What is selected comes first, in its order; the rest comes behind it, the other way round.
struct DevicePartition {
    template <class In, class Out, class Count, class Size, class P>
    static cudaError_t If(void *room, size_t &bytes, In in, Out out, Count count, Size n, P predicate,
                          cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DevicePartition::If", room, bytes, n, stream, [=] {
            thrust::sim_detail::apart(out, (size_t)n, in, (size_t)n);
            std::vector<thrust::sim_detail::value_of<In>> rest((size_t)n);
            auto ends = thrust::partition_copy(in, in + (ptrdiff_t)n, out, rest.begin(), predicate);
            std::reverse(rest.begin(), ends.second);
            thrust::copy(rest.begin(), ends.second, ends.first);
            sim_detail::store_count(count, ends.first - out);
        });
    }
    template <class In, class Flags, class Out, class Count, class Size>
    static cudaError_t Flagged(void *room, size_t &bytes, In in, Flags flags, Out out, Count count, Size n,
                               cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DevicePartition::Flagged", room, bytes, n, stream, [=] {
            thrust::sim_detail::apart(out, (size_t)n, in, (size_t)n);
            std::vector<thrust::sim_detail::value_of<In>> rest((size_t)n);
            auto end = thrust::copy_if(in, in + (ptrdiff_t)n, flags, out, sim_detail::is_set());
            auto left = thrust::remove_copy_if(in, in + (ptrdiff_t)n, flags, rest.begin(), sim_detail::is_set());
            std::reverse(rest.begin(), left);
            thrust::copy(rest.begin(), left, end);
            sim_detail::store_count(count, end - out);
        });
    }
    // In three parts, of which each keeps its order.
    template <class In, class First, class Second, class Rest, class Count, class Size, class P, class Q>
    static cudaError_t If(void *room, size_t &bytes, In in, First first, Second second, Rest rest, Count count, Size n,
                          P in_first, Q in_second, cudaStream_t stream = 0)
    {
        return sim_detail::select("cub::DevicePartition::If", room, bytes, n, stream, [=] {
            typedef thrust::sim_detail::value_of<In> T;
            std::vector<T> others((size_t)n);
            auto ends = thrust::partition_copy(in, in + (ptrdiff_t)n, first, others.begin(), in_first);
            auto left = thrust::partition_copy(others.begin(), ends.second, second, rest, in_second);
            const thrust::sim_detail::value_of<Count> counts[2] = {
                (thrust::sim_detail::value_of<Count>)(ends.first - first),
                (thrust::sim_detail::value_of<Count>)(left.first - second)};
            sim_detail::store(count, counts[0]);
            sim_detail::store(count + 1, counts[1]);
        });
    }
};

struct DeviceAdjacentDifference {
    template <class In, class Out, class Size, class Operation = sim_detail::difference>
    static cudaError_t SubtractLeftCopy(void *room, size_t &bytes, In in, Out out, Size n,
                                        Operation operation = Operation(), cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceAdjacentDifference::SubtractLeftCopy", room, bytes, 1, stream,
                                        [=] { thrust::adjacent_difference(in, in + (ptrdiff_t)n, out, operation); });
    }
    template <class Data, class Size, class Operation = sim_detail::difference>
    static cudaError_t SubtractLeft(void *room, size_t &bytes, Data data, Size n, Operation operation = Operation(),
                                    cudaStream_t stream = 0)
    {
        return sim_detail::in_two_calls("cub::DeviceAdjacentDifference::SubtractLeft", room, bytes, 1, stream, [=] {
            thrust::adjacent_difference(data, data + (ptrdiff_t)n, data, operation);
        });
    }
};

// Without temporary storage.
struct DeviceFor {
    template <class Size, class F> static cudaError_t Bulk(Size n, F f, cudaStream_t stream = 0)
    {
        return thrust::sim_detail::run_later("cub::DeviceFor::Bulk", stream, [=] {
            thrust::counting_iterator<Size> first(0);
            thrust::for_each(first, first + (ptrdiff_t)n, f);
        });
    }
    template <class In, class Size, class F> static cudaError_t ForEachN(In first, Size n, F f, cudaStream_t stream = 0)
    {
        return thrust::sim_detail::run_later("cub::DeviceFor::ForEachN", stream,
                                             [=] { thrust::for_each(first, first + (ptrdiff_t)n, f); });
    }
    template <class In, class F> static cudaError_t ForEach(In first, In last, F f, cudaStream_t stream = 0)
    {
        return thrust::sim_detail::run_later("cub::DeviceFor::ForEach", stream,
                                             [=] { thrust::for_each(first, last, f); });
    }
};
} // namespace cub
