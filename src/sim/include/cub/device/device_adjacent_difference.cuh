// CUB on the simulated GPU: device_select.h.
#pragma once
#include <cub/device_select.h>
