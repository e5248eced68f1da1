// CUB on the simulated GPU: block_adjacent.h.
#pragma once
#include <cub/block_adjacent.h>
