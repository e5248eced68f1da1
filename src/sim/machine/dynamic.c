// The buffer behind extern __shared__ arrays, in a file of its own so that the linker can make their names aliases of
// it.
#include "machine/index.h"

__thread char sim_dynamic_buffer[SIM_DYNAMIC_BYTES] __attribute__((aligned(SIM_DYNAMIC_ALIGNMENT)));
