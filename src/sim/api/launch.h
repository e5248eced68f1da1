// Launches: what graphs need of them.
#pragma once

#include "sim/runtime_api.h"

// Whether the card can run it; reports the cause when not.
cudaError_t sim_launch_check(const sim_config *config, const sim_kernel *kernel);
// The kernel at this address with copies of these arguments.
cudaError_t sim_kernel_bind(const void *function, void **arguments, sim_kernel *kernel);
