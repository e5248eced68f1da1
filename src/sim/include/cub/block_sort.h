// CUB's BlockRadixSort on the simulated GPU. As in CUB, keys and values go through the TempStorage one after the other,
// so that a barrier forgotten before its next use is found; their ranks are worked out by one thread between two
// barriers.
#pragma once

#include <type_traits>

#include <cub/block_level.h>

namespace cub
{
namespace sim_detail
{
template <int Bytes> struct radix_word;
template <> struct radix_word<1> {
    typedef unsigned char type;
};
template <> struct radix_word<2> {
    typedef unsigned short type;
};
template <> struct radix_word<4> {
    typedef unsigned type;
};
template <> struct radix_word<8> {
    typedef unsigned long long type;
};

// A key as an unsigned number of the same order. What is no integer is a floating-point number, half and bfloat16 too;
// the two zeros are one.
template <class Key> SIM_UNWATCHED inline unsigned long long radix_bits(const Key &key)
{
    typedef typename radix_word<sizeof(Key)>::type word;
    const word sign = (word)((word)1 << (8 * sizeof(Key) - 1));
    word bits;
    __builtin_memcpy(&bits, &key, sizeof bits);
    if (std::is_integral<Key>::value)
        return std::is_signed<Key>::value ? (word)(bits ^ sign) : bits;
    if (bits == sign)
        bits = 0;
    return bits & sign ? (word)~bits : (word)(bits | sign);
}

// Keys stand from the last to the first. In the place of key i: where it comes to stand, by its bits from `begin` to
// before `end`. Equal keys keep their order.
template <int N, class Key>
SIM_UNWATCHED SIM_NOINLINE void radix_ranks(void *storage, int begin, int end, bool descending)
{
    const Key *keys = (const Key *)storage;
    enum { DIGIT = 8, DIGITS = 1 << DIGIT };
    unsigned short order[2][N]; // key numbers, sorted by the digits so far
    int now = 0;
    for (int i = 0; i < N; i++)
        order[0][i] = (unsigned short)i;
    for (int bit = begin; bit < end; bit += DIGIT, now = !now) {
        unsigned mask = (1u << (end - bit < DIGIT ? end - bit : DIGIT)) - 1, starts[DIGITS + 1] = {0};
        for (int i = 0; i < N; i++) {
            unsigned digit = (unsigned)(radix_bits(keys[N - 1 - i]) >> bit) & mask;
            starts[(descending ? mask - digit : digit) + 1]++;
        }
        for (int digit = 0; digit < DIGITS; digit++)
            starts[digit + 1] += starts[digit];
        for (int i = 0; i < N; i++) {
            unsigned digit = (unsigned)(radix_bits(keys[N - 1 - order[now][i]]) >> bit) & mask;
            order[!now][starts[descending ? mask - digit : digit]++] = order[now][i];
        }
    }
    for (int i = 0; i < N; i++)
        ((unsigned short *)storage)[order[now][i]] = (unsigned short)i;
}
SIM_UNWATCHED SIM_NOINLINE inline int radix_rank(const void *storage, int i)
{
    return ((const unsigned short *)storage)[i];
}
} // namespace sim_detail

// Thread t has elements t * Items to t * Items + Items - 1, before and after, unless it is to get them striped.
template <class Key, int X, int Items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int Y = 1,
          int Z = 1, int = 0>
class BlockRadixSort
{
    enum { THREADS = X * Y * Z, N = THREADS * Items, KEY_BITS = 8 * sizeof(Key) };
    enum { WIDER = sizeof(Key) > sizeof(Value) ? sizeof(Key) : sizeof(Value), WIDEST = WIDER > 2 ? WIDER : 2 };
    static_assert(N <= 16384, "more keys than the simulated sort has room for");

  public:
    // Bytes, because shared memory is not constructed.
    struct TempStorage {
        alignas(Key) alignas(Value) alignas(unsigned short) unsigned char bytes[N * WIDEST];
    };
    SIM_GROUP_INLINE explicit BlockRadixSort(TempStorage &storage) : storage_(storage)
    {
    }
    SIM_GROUP_INLINE void Sort(Key (&keys)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, nullptr, begin, end, false, false);
    }
    SIM_GROUP_INLINE void Sort(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, values, begin, end, false, false);
    }
    SIM_GROUP_INLINE void SortDescending(Key (&keys)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, nullptr, begin, end, true, false);
    }
    SIM_GROUP_INLINE void SortDescending(Key (&keys)[Items], Value (&values)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, values, begin, end, true, false);
    }
    SIM_GROUP_INLINE void SortBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, nullptr, begin, end, false, true);
    }
    SIM_GROUP_INLINE void SortBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                               int end = KEY_BITS)
    {
        sort(keys, values, begin, end, false, true);
    }
    SIM_GROUP_INLINE void SortDescendingBlockedToStriped(Key (&keys)[Items], int begin = 0, int end = KEY_BITS)
    {
        sort(keys, nullptr, begin, end, true, true);
    }
    SIM_GROUP_INLINE void SortDescendingBlockedToStriped(Key (&keys)[Items], Value (&values)[Items], int begin = 0,
                                                         int end = KEY_BITS)
    {
        sort(keys, values, begin, end, true, true);
    }

  private:
    // Through shared memory, from this thread's ranks to its places. The caller's barrier comes behind it.
    template <class T> SIM_GROUP_INLINE static void exchange(T *room, T *items, const int *rank, bool striped)
    {
        const int thread = (int)sim_detail::groups::block_thread_rank();
        for (int i = 0; i < Items; i++)
            room[rank[i]] = items[i];
        sim_barrier();
        for (int i = 0; i < Items; i++)
            items[i] = room[striped ? thread + i * THREADS : thread * Items + i];
    }
    SIM_GROUP_INLINE void exchange_values(Value *values, const int *rank, bool striped)
    {
        sim_barrier();
        exchange((Value *)storage_.bytes, values, rank, striped);
    }
    template <class None> SIM_GROUP_INLINE void exchange_values(None, const int *, bool)
    {
    }
    template <class Values>
    SIM_GROUP_INLINE void sort(Key *keys, Values values, int begin, int end, bool descending, bool striped)
    {
        const int thread = (int)sim_detail::groups::block_thread_rank();
        int rank[Items];
        // From behind, to where other threads have read: CUB counts digits there, and wants a barrier before.
        for (int i = 0; i < Items; i++)
            ((Key *)storage_.bytes)[N - 1 - (thread * Items + i)] = keys[i];
        sim_barrier();
        if (thread == 0)
            sim_detail::radix_ranks<N, Key>(storage_.bytes, begin, end, descending);
        sim_barrier();
        for (int i = 0; i < Items; i++)
            rank[i] = sim_detail::radix_rank(storage_.bytes, thread * Items + i);
        sim_barrier();
        exchange((Key *)storage_.bytes, keys, rank, striped);
        exchange_values(values, rank, striped);
    }

    TempStorage &storage_;
};
} // namespace cub
