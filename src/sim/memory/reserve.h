// Address space that costs memory only where it is touched: tables by address are as large as what they describe.
#pragma once

#include <stddef.h>

void *sim_reserve(size_t bytes); // zeros; NULL: none left
// Much of [start, start + bytes) will be touched: in huge pages, of which a first touch clears one at a time, where the
// system has them. A small range is left as it is.
void sim_reserve_huge(void *start, size_t bytes);
