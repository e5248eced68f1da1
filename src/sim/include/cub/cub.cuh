// CUB on the simulated GPU: block_adjacent.h, block_discontinuity.h, block_exchange.h, block_level.h, block_sort.h,
// device_level.h, device_select.h, device_sort.h and iterators.h.
#pragma once
#include <cub/block_adjacent.h>
#include <cub/block_discontinuity.h>
#include <cub/block_exchange.h>
#include <cub/block_sort.h>
#include <cub/device_level.h>
#include <cub/device_select.h>
#include <cub/device_sort.h>
#include <cub/iterators.h>
