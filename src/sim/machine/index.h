// The index variables that a kernel reads: one set for each worker, set anew whenever another thread goes on. The
// stand-in headers declare them `extern __thread const`, so compilers neither watch nor reload them.
#pragma once

#include "sim/abi.h"

extern __thread sim_dim sim_thread_index_variable __asm__("threadIdx");
extern __thread sim_dim sim_block_index_variable __asm__("blockIdx");
extern __thread sim_dim sim_block_size_variable __asm__("blockDim");
extern __thread sim_dim sim_grid_size_variable __asm__("gridDim");

// extern __shared__: every such name is an alias of this buffer, which is as large as any chip allows.
enum { SIM_DYNAMIC_BYTES = 233472, SIM_DYNAMIC_ALIGNMENT = 1024 };
extern __thread char sim_dynamic_buffer[SIM_DYNAMIC_BYTES];
