// For rungs whose threads meet in finer ways than the block's barrier: by fences, or at barriers of part of a block.
// There the simulated GPU's race detector must keep more of every access. It goes by what the whole module holds, and a
// module holds all rungs; so that not every kernel pays for those of one operator, a module begins without
// (heddle_sim_coarse, when a device is opened and no other is), and the launcher of such a rung asks for it from then
// on (heddle_sim_finer), until the last device is closed. On a real card both do nothing.
#ifndef HEDDLE_DEVICE_CUDA_FINER_H
#define HEDDLE_DEVICE_CUDA_FINER_H

#if defined(HEDDLE_SIM_MODULE)

#include "sim/core/options.h"

enum { HEDDLE_SIM_FINER = SIM_USES_FENCES | SIM_USES_NAMED_BARRIERS };

static inline void heddle_sim_coarse(void)
{
    sim_program_uses &= ~(unsigned)HEDDLE_SIM_FINER;
}

static inline void heddle_sim_finer(void)
{
    sim_program_uses |= HEDDLE_SIM_FINER;
}

#else

static inline void heddle_sim_coarse(void)
{
}

static inline void heddle_sim_finer(void)
{
}

#endif

#endif
