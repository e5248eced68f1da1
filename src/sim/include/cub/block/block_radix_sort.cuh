// CUB on the simulated GPU: block_sort.h.
#pragma once
#include <cub/block_sort.h>
