// Copies and fills that a kernel asks for, within the card's memory: they run as a launch by that kernel would.
#pragma once

#include <stdint.h>

#include "sim/runtime_api.h"

cudaError_t sim_kernel_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream,
                            uintptr_t pc);
cudaError_t sim_kernel_fill(void *to, int value, size_t bytes, cudaStream_t stream, uintptr_t pc);
