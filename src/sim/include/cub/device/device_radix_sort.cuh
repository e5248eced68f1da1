// CUB on the simulated GPU: device_sort.h.
#pragma once
#include <cub/device_sort.h>
