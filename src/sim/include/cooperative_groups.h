// CUDA's cooperative_groups.h on the simulated GPU: groups of threads that meet. Reductions, scans and asynchronous
// copies have their own headers, as in CUDA.
#pragma once
#define _COOPERATIVE_GROUPS_H_

#include <cooperative_groups/details/partition.h>
#include <cooperative_groups/details/several_warps.h>
