// What the library headers (cooperative groups, cuda::barrier, wmma, textures, ...) share: announcing accesses, and
// copies that complete later. A copy is made when somebody waits for it and not before, so that a program which reads
// too early finds what hardware may let it find: nothing, or old data. Implemented in watch/async_copy.c.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/abi.h"
#include "sim/keywords.h"

// A lambda of these headers: inlined, so that its accesses show at the program's line.
#define SIM_LAMBDA __attribute__((always_inline))

#if SIM_WATCHED
#define SIM_TOUCH(address, bytes, write)              sim_touch(address, bytes, write)
#define SIM_TOUCH_TEXTURE(address, bytes)             sim_touch_texture(address, bytes)
#define SIM_TOUCH_ATOMIC(address, bytes, scope, what) SIM_ANY_ATOMIC(address, bytes, scope, what)
#define SIM_TOUCH_DISCARDS()                          ((void)sim_discard()) // the next atomic's result is not used
#define SIM_COPY_TO_COME(copy)                        ((copy)->place = sim_copy_issued(copy))
#define SIM_COPY_COMES(copy)                          sim_copy_landed(copy)
#define SIM_COPY_ALIGNED(to, from, bytes)             sim_copy_aligned(to, from, bytes)
#else
#define SIM_TOUCH(address, bytes, write)              ((void)0)
#define SIM_TOUCH_TEXTURE(address, bytes)             ((void)0)
#define SIM_TOUCH_ATOMIC(address, bytes, scope, what) ((void)0)
#define SIM_TOUCH_DISCARDS()                          ((void)0)
#define SIM_COPY_TO_COME(copy)                        ((void)0)
#define SIM_COPY_COMES(copy)                          ((void)0)
#define SIM_COPY_ALIGNED(to, from, bytes)             ((void)0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sim_copy {
    void *to;
    const void *from;
    size_t bytes, zeros; // bytes copied, then bytes set to zero
    uintptr_t place;     // where it was asked for
} sim_copy;

// Tells that a copy is asked for, and returns where; and, just before it is made, that somebody has waited for it.
// Between the two its target is being written and its source read.
uintptr_t sim_copy_issued(const sim_copy *copy);
void sim_copy_landed(const sim_copy *copy);
// The copy needs both addresses to be multiples of `bytes`; reports the one that is not.
void sim_copy_aligned(const void *to, const void *from, size_t bytes);

// Copies of the current CUDA thread, in batches (cp.async).
void sim_copy_add(const sim_copy *copy);
void sim_copy_commit(void);
// The oldest copy that has to be made so that no more than `batches` committed batches are left; 0: there is none.
int sim_copy_next(unsigned batches, sim_copy *copy);

// Copies that a phase of a barrier waits for, whichever thread of the block asked for them.
void sim_copy_add_to(const void *barrier, unsigned phase, const sim_copy *copy);
// 1: this copy has to be made, and sim_copy_made_for called when it is; 0: none is left; -1: other threads are making
// some. `mine`: copies that the caller took and has not reported yet.
int sim_copy_next_for(const void *barrier, unsigned phase, sim_copy *copy, unsigned mine);
void sim_copy_made_for(const void *barrier, unsigned phase, unsigned made);

void sim_copy_make(const sim_copy *copy);

#ifdef __cplusplus
}

namespace sim
{
// Asks for a copy. Its source counts as read here, its target as written where the wait is; for races both are in use
// in between.
SIM_INLINE sim_copy copy_announced(void *to, const void *from, size_t bytes, size_t zeros = 0)
{
    if (bytes > 0)
        SIM_TOUCH(from, bytes, 0);
    sim_copy copy = {to, from, bytes, zeros, 0};
    SIM_COPY_TO_COME(&copy);
    return copy;
}

SIM_INLINE void copy_wait(unsigned batches)
{
    for (sim_copy copy; sim_copy_next(batches, &copy);) {
        SIM_COPY_COMES(&copy);
        sim_copy_make(&copy);
    }
}

// The widest piece, up to 16 bytes, that addresses and size allow.
SIM_INLINE size_t copy_piece(const void *to, const void *from, size_t bytes)
{
    uintptr_t low = (uintptr_t)to | (uintptr_t)from | bytes;
    return low % 16 == 0 ? 16 : low % 8 == 0 ? 8 : low % 4 == 0 ? 4 : low % 2 == 0 ? 2 : 1;
}
} // namespace sim
#endif
