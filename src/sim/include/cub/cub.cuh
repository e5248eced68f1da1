// CUB on the simulated GPU: block_adjacent.h, block_discontinuity.h, block_level.h, block_sort.h and device_level.h.
#pragma once
#include <cub/block_adjacent.h>
#include <cub/block_discontinuity.h>
#include <cub/block_sort.h>
#include <cub/device_level.h>
