// sort: its operator and its rungs.
#pragma once

#include "heddle/op.h"

extern const heddle_op heddle_op_sort;

enum { HEDDLE_SORT_TILE = 4096 }; // keys that a block of the radix sorts handles

heddle_status heddle_sort_cpu_naive(const heddle_call *call);
heddle_status heddle_sort_cpu_radix(const heddle_call *call);
size_t heddle_sort_cpu_radix_workspace(const void *shape, int threads);

// A key as an unsigned number that is ordered as keys are: negative ones have all bits turned, others the sign, and -0
// counts as 0. NaN stands where its bits are, before -infinity or behind infinity: CUB's order.
static inline uint32_t heddle_sort_bits(float key)
{
    union {
        float key;
        uint32_t bits;
    } word = {key};
    if (key == 0)
        word.bits = 0;
    return word.bits ^ (word.bits >> 31 ? 0xffffffffu : 0x80000000u);
}
