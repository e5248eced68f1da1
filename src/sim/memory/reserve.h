// Address space that costs memory only where it is touched: tables by address are as large as what they describe.
#pragma once

#include <stddef.h>

void *sim_reserve(size_t bytes); // zeros; NULL: none left
