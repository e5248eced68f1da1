// CUB on the simulated GPU: iterators.h.
#pragma once
#include <cub/iterators.h>
