// CUB on the simulated GPU: block_exchange.h.
#pragma once
#include <cub/block_exchange.h>
