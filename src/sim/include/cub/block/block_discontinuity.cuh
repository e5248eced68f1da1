// CUB on the simulated GPU: block_discontinuity.h.
#pragma once
#include <cub/block_discontinuity.h>
