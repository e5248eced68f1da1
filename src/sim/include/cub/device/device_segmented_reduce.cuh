// CUB on the simulated GPU: block_level.h and device_level.h.
#pragma once
#include <cub/device_level.h>
