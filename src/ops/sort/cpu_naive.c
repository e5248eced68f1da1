// sort, first rung: a merge sort from the bottom up, one thread.
//
// A key and its index are one word of 64 bits, so that equal keys keep their order: no two words are equal.
//
// Limited by: one branch per comparison, which nobody can predict, for each of log n passes over the words.

#include "heddle/ops.h"
#include "ops/sort/sort.h"

// from[begin, middle) and from[middle, end), each sorted, into to[begin, end).
static void merge(const uint64_t *from, uint64_t *to, size_t begin, size_t middle, size_t end)
{
    size_t left = begin, right = middle;
    for (size_t i = begin; i < end; i++)
        to[i] = left < middle && (right == end || from[left] < from[right]) ? from[left++] : from[right++];
}

heddle_status heddle_sort_cpu_naive(const heddle_call *call)
{
    const size_t n = (size_t)((const heddle_elements_shape *)call->shape)->n;
    const float *keys = call->input[0];
    const int32_t *values = call->input[1];
    float *sorted_keys = call->output[0];
    int32_t *sorted_values = call->output[1];
    uint64_t *words = call->workspace, *merged = words + n;
    for (size_t i = 0; i < n; i++)
        words[i] = (uint64_t)heddle_sort_bits(keys[i]) << 32 | i;
    for (size_t length = 1; length < n; length *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * length) {
            const size_t middle = begin + length < n ? begin + length : n;
            const size_t end = middle + length < n ? middle + length : n;
            merge(words, merged, begin, middle, end);
        }
        uint64_t *other = words;
        words = merged;
        merged = other;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t index = (uint32_t)words[i];
        sorted_keys[i] = keys[index];
        sorted_values[i] = values[index];
    }
    return HEDDLE_OK;
}
