// CUB's device-wide sorts on the simulated GPU: by radix, by comparison, and of segments.
#pragma once

#include <type_traits>
#include <vector>

#include <cub/block_sort.h>
#include <cub/device_level.h>

namespace cub
{
template <class T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector = 0;
    DoubleBuffer() : d_buffers{nullptr, nullptr}
    {
    }
    DoubleBuffer(T *current, T *other) : d_buffers{current, other}
    {
    }
    T *Current() const
    {
        return d_buffers[selector];
    }
    T *Alternate() const
    {
        return d_buffers[selector ^ 1];
    }
};

namespace sim_detail
{
// A sort by radix sees the bits from `begin` to before `end` alone; keys that are equal there keep their order.
template <class K, bool HasWord = sizeof(K) == 1 || sizeof(K) == 2 || sizeof(K) == 4 || sizeof(K) == 8>
struct by_radix {
    int begin, end;
    bool descending;
    bool operator()(const K &a, const K &b) const
    {
        return descending ? digits(b) < digits(a) : digits(a) < digits(b);
    }

  private:
    unsigned long long digits(const K &key) const
    {
        const int count = end - begin;
        const unsigned long long bits = radix_bits(key);
        return count >= 64 ? bits : bits >> begin & ((1ull << count) - 1);
    }
};
// Wider keys are sorted by all of their bits.
template <class K> struct by_radix<K, false> {
    int begin, end;
    bool descending;
    bool operator()(const K &a, const K &b) const
    {
        return descending ? b < a : a < b;
    }
};

struct sort_call {
    const char *call;
    void *room;
    size_t &bytes;
    cudaStream_t stream;
    bool overwrites = false; // the input, too
};

// Without values these are null, and of a type that is not read.
template <class K> inline void copy_for_sort(const K *in, K *out, const NullType *, NullType *, ptrdiff_t n)
{
    thrust::sim_detail::apart(out, (size_t)n, in, (size_t)n);
    thrust::copy(in, in + n, out);
}
template <class K, class V> inline void copy_for_sort(const K *in, K *out, const V *values, V *values_out, ptrdiff_t n)
{
    const size_t count = (size_t)n;
    thrust::sim_detail::apart(out, count, in, count);
    thrust::sim_detail::apart(out, count, values, count);
    thrust::sim_detail::apart(out, count, values_out, count);
    thrust::sim_detail::apart(values_out, count, in, count);
    thrust::sim_detail::apart(values_out, count, values, count);
    thrust::copy(in, in + n, out);
    thrust::copy(values, values + n, values_out);
}
template <class K, class Less> inline void sort_range(K keys, NullType *, ptrdiff_t first, ptrdiff_t last, Less less)
{
    thrust::stable_sort(keys + first, keys + last, less);
}
template <class K, class V, class Less>
inline void sort_range(K keys, V values, ptrdiff_t first, ptrdiff_t last, Less less)
{
    thrust::stable_sort_by_key(keys + first, keys + last, values + first, less);
}
template <class V> struct size_of_value {
    enum { SIZE = sizeof(V) };
};
template <> struct size_of_value<NullType> {
    enum { SIZE = 0 };
};

template <class K, class V, class Size, class Less>
inline cudaError_t sort_copy(sort_call by, const K *in, K *out, const V *values, V *values_out, Size n, Less less)
{
    const size_t needed = room_of_sort((size_t)n, sizeof(K), size_of_value<V>::SIZE, by.overwrites);
    return in_two_calls(by.call, by.room, by.bytes, needed, by.stream, [=] {
        copy_for_sort(in, out, values, values_out, (ptrdiff_t)n);
        sort_range(out, values_out, 0, (ptrdiff_t)n, less);
    });
}

// What belongs to no segment is not written.
template <class K, class V, class Segments, class Begins, class Ends, class Less>
inline cudaError_t sort_segments(sort_call by, const K *in, K *out, const V *values, V *values_out, Segments segments,
                                 Begins begins, Ends ends, Less less)
{
    return in_two_calls(by.call, by.room, by.bytes, 1, by.stream, [=] {
        const size_t count = (size_t)segments;
        std::vector<ptrdiff_t> first(count), last(count);
        thrust::copy(begins, begins + (ptrdiff_t)count, first.begin());
        thrust::copy(ends, ends + (ptrdiff_t)count, last.begin());
        for (size_t i = 0; i < count; i++) {
            if (first[i] >= last[i])
                continue;
            const ptrdiff_t n = last[i] - first[i];
            const bool has_values = size_of_value<V>::SIZE > 0;
            copy_for_sort(in + first[i], out + first[i], has_values ? values + first[i] : values,
                          has_values ? values_out + first[i] : values_out, n);
            sort_range(out, values_out, first[i], last[i], less);
        }
    });
}

template <class K> inline DoubleBuffer<K> &turned(DoubleBuffer<K> &buffer, const void *room)
{
    buffer.selector ^= room != nullptr;
    return buffer;
}
} // namespace sim_detail

#define SIM_CUB_SORTS(name, descending)                                                                                \
    template <class K, class Size>                                                                                     \
    static cudaError_t SortKeys##name(void *room, size_t &bytes, const K *in, K *out, Size n, int begin = 0,           \
                                      int end = 8 * sizeof(K), cudaStream_t stream = 0)                                \
    {                                                                                                                  \
        NullType *none = nullptr;                                                                                      \
        return sim_detail::sort_copy({"cub::DeviceRadixSort::SortKeys" #name, room, bytes, stream}, in, out, none,     \
                                     none, n, sim_detail::by_radix<K>{begin, end, descending});                        \
    }                                                                                                                  \
    template <class K, class Size>                                                                                     \
    static cudaError_t SortKeys##name(void *room, size_t &bytes, DoubleBuffer<K> &keys, Size n, int begin = 0,         \
                                      int end = 8 * sizeof(K), cudaStream_t stream = 0)                                \
    {                                                                                                                  \
        NullType *none = nullptr;                                                                                      \
        cudaError_t error =                                                                                            \
            sim_detail::sort_copy({"cub::DeviceRadixSort::SortKeys" #name, room, bytes, stream, true}, keys.Current(), \
                                  keys.Alternate(), none, none, n, sim_detail::by_radix<K>{begin, end, descending});   \
        sim_detail::turned(keys, room);                                                                                \
        return error;                                                                                                  \
    }                                                                                                                  \
    template <class K, class V, class Size>                                                                            \
    static cudaError_t SortPairs##name(void *room, size_t &bytes, const K *in, K *out, const V *values, V *values_out, \
                                       Size n, int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = 0)        \
    {                                                                                                                  \
        return sim_detail::sort_copy({"cub::DeviceRadixSort::SortPairs" #name, room, bytes, stream}, in, out, values,  \
                                     values_out, n, sim_detail::by_radix<K>{begin, end, descending});                  \
    }                                                                                                                  \
    template <class K, class V, class Size>                                                                            \
    static cudaError_t SortPairs##name(void *room, size_t &bytes, DoubleBuffer<K> &keys, DoubleBuffer<V> &values,      \
                                       Size n, int begin = 0, int end = 8 * sizeof(K), cudaStream_t stream = 0)        \
    {                                                                                                                  \
        cudaError_t error = sim_detail::sort_copy(                                                                     \
            {"cub::DeviceRadixSort::SortPairs" #name, room, bytes, stream, true}, keys.Current(), keys.Alternate(),    \
            values.Current(), values.Alternate(), n, sim_detail::by_radix<K>{begin, end, descending});                 \
        sim_detail::turned(keys, room);                                                                                \
        sim_detail::turned(values, room);                                                                              \
        return error;                                                                                                  \
    }

struct DeviceRadixSort {
    SIM_CUB_SORTS(, false)
    SIM_CUB_SORTS(Descending, true)
};
#undef SIM_CUB_SORTS

#define SIM_CUB_SORTS(call, name, descending)                                                                          \
    template <class K, class Size, class Segments, class Begins, class Ends>                                           \
    static cudaError_t SortKeys##name(void *room, size_t &bytes, const K *in, K *out, Size, Segments segments,         \
                                      Begins begins, Ends ends, int begin = 0, int end = 8 * sizeof(K),                \
                                      cudaStream_t stream = 0)                                                         \
    {                                                                                                                  \
        NullType *none = nullptr;                                                                                      \
        return sim_detail::sort_segments({call "SortKeys" #name, room, bytes, stream}, in, out, none, none, segments,  \
                                         begins, ends, sim_detail::by_radix<K>{begin, end, descending});               \
    }                                                                                                                  \
    template <class K, class V, class Size, class Segments, class Begins, class Ends>                                  \
    static cudaError_t SortPairs##name(void *room, size_t &bytes, const K *in, K *out, const V *values, V *values_out, \
                                       Size, Segments segments, Begins begins, Ends ends, int begin = 0,               \
                                       int end = 8 * sizeof(K), cudaStream_t stream = 0)                               \
    {                                                                                                                  \
        return sim_detail::sort_segments({call "SortPairs" #name, room, bytes, stream}, in, out, values, values_out,   \
                                         segments, begins, ends, sim_detail::by_radix<K>{begin, end, descending});     \
    }

struct DeviceSegmentedRadixSort {
    SIM_CUB_SORTS("cub::DeviceSegmentedRadixSort::", , false)
    SIM_CUB_SORTS("cub::DeviceSegmentedRadixSort::", Descending, true)
};
#undef SIM_CUB_SORTS

// The same without bits, and with forms that promise to be stable, which all are here.
#define SIM_CUB_SORTS(prefix, name, descending)                                                                        \
    template <class K, class Size, class Segments, class Begins, class Ends>                                           \
    static cudaError_t prefix##Keys##name(void *room, size_t &bytes, const K *in, K *out, Size, Segments segments,     \
                                          Begins begins, Ends ends, cudaStream_t stream = 0)                           \
    {                                                                                                                  \
        NullType *none = nullptr;                                                                                      \
        return sim_detail::sort_segments({"cub::DeviceSegmentedSort::" #prefix "Keys" #name, room, bytes, stream}, in, \
                                         out, none, none, segments, begins, ends,                                      \
                                         sim_detail::by_radix<K>{0, 8 * sizeof(K), descending});                       \
    }                                                                                                                  \
    template <class K, class V, class Size, class Segments, class Begins, class Ends>                                  \
    static cudaError_t prefix##Pairs##name(void *room, size_t &bytes, const K *in, K *out, const V *values,            \
                                           V *values_out, Size, Segments segments, Begins begins, Ends ends,           \
                                           cudaStream_t stream = 0)                                                    \
    {                                                                                                                  \
        return sim_detail::sort_segments({"cub::DeviceSegmentedSort::" #prefix "Pairs" #name, room, bytes, stream},    \
                                         in, out, values, values_out, segments, begins, ends,                          \
                                         sim_detail::by_radix<K>{0, 8 * sizeof(K), descending});                       \
    }

struct DeviceSegmentedSort {
    SIM_CUB_SORTS(Sort, , false)
    SIM_CUB_SORTS(Sort, Descending, true)
    SIM_CUB_SORTS(StableSort, , false)
    SIM_CUB_SORTS(StableSort, Descending, true)
};
#undef SIM_CUB_SORTS

#define SIM_CUB_SORTS(prefix)                                                                                          \
    template <class Keys, class Size, class Less>                                                                      \
    static cudaError_t prefix##Keys(void *room, size_t &bytes, Keys keys, Size n, Less less, cudaStream_t stream = 0)  \
    {                                                                                                                  \
        return sim_detail::in_two_calls("cub::DeviceMergeSort::" #prefix "Keys", room, bytes, 1, stream,               \
                                        [=] { thrust::stable_sort(keys, keys + (ptrdiff_t)n, less); });                \
    }                                                                                                                  \
    template <class Keys, class Values, class Size, class Less>                                                        \
    static cudaError_t prefix##Pairs(void *room, size_t &bytes, Keys keys, Values values, Size n, Less less,           \
                                     cudaStream_t stream = 0)                                                          \
    {                                                                                                                  \
        return sim_detail::in_two_calls("cub::DeviceMergeSort::" #prefix "Pairs", room, bytes, 1, stream,              \
                                        [=] { thrust::stable_sort_by_key(keys, keys + (ptrdiff_t)n, values, less); }); \
    }                                                                                                                  \
    template <class In, class Out, class Size, class Less>                                                             \
    static cudaError_t prefix##KeysCopy(void *room, size_t &bytes, In in, Out out, Size n, Less less,                  \
                                        cudaStream_t stream = 0)                                                       \
    {                                                                                                                  \
        return sim_detail::in_two_calls("cub::DeviceMergeSort::" #prefix "KeysCopy", room, bytes, 1, stream, [=] {     \
            thrust::copy(in, in + (ptrdiff_t)n, out);                                                                  \
            thrust::stable_sort(out, out + (ptrdiff_t)n, less);                                                        \
        });                                                                                                            \
    }

struct DeviceMergeSort {
    SIM_CUB_SORTS(Sort)
    SIM_CUB_SORTS(StableSort)
};
#undef SIM_CUB_SORTS
} // namespace cub
