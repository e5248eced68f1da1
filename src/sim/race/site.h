// A site is one place in the program that accesses memory: one call of one hook. Its number is found from the hook's
// return address by a table over the program's code, filled as sites are met; what is constant about it stands here.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/abi.h"

enum { SIM_READ, SIM_WRITE, SIM_ATOMIC, SIM_VOLATILE_READ, SIM_VOLATILE_WRITE };

// What an access of an asynchronous copy is (under_way.h): its issue and the last look at its source are there for
// races alone.
enum { SIM_NO_COPY, SIM_COPY_ISSUED, SIM_COPY_LANDED, SIM_COPY_SOURCE };

typedef struct sim_site {
    uintptr_t pc;
    uint8_t kind;      // SIM_READ, ...
    uint8_t bytes;     // 1, 2, 4, 8, 16
    uint8_t scope;     // of an atomic: SIM_SCOPE_...
    uint8_t what;      // of an atomic: SIM_ATOMIC_... flags
    uint8_t copy;      // SIM_NO_COPY, ...
    bool whole;        // a number or vector as the source has it, not a piece of a copy or structure
    bool partly;       // has read bytes of which some were written (unwritten.c)
    bool discards;     // an atomic whose result is not used
    bool optimistic;   // a plain read whose thread goes on to an atomic on the same word that confirms it
    bool values;       // the values stored here are to be compared (values.c)
    bool fetches;      // a read of a texture (atomic access)
    bool polls;        // a volatile read whose thread looked at a word from here again (polls.c)
    uint16_t reads_at; // of a volatile write: from where its thread read the word last, by volatile; 0: not so
    uint16_t other;    // the next site at the same place, for another number of bytes; 0: none
} sim_site;

// 14 bits hold a site in shadow memory (race/cell.h); site 0 stands for "more sites than that".
enum { SIM_SITES = 1 << 14 };

// An entry of a lane's log: the site in the top 16 bits, the address below.
enum { SIM_ENTRY_SHIFT = 48 };
#define SIM_ENTRY_ADDRESS (((uint64_t)1 << SIM_ENTRY_SHIFT) - 1)

// Return addresses are multiples of four on aarch64, of anything on x86_64.
#if defined(__aarch64__)
enum { SIM_CODE_SHIFT = 2 };
#else
enum { SIM_CODE_SHIFT = 0 };
#endif

extern sim_site sim_sites[SIM_SITES];
extern uint16_t *sim_site_table; // by (pc - sim_code_lo) >> SIM_CODE_SHIFT
extern uintptr_t sim_code_lo, sim_code_bytes;

void sim_sites_start(void);
// The site's number, made on the first call. A wrong number of bytes or kind for a known pc cannot happen.
unsigned sim_site_make(uintptr_t pc, unsigned kind, unsigned bytes);
// The same where a place may read and write, and different numbers of bytes, as copies do: each is a site of its own.
unsigned sim_site_sized(uintptr_t pc, unsigned kind, unsigned bytes);

// The same for the accesses of asynchronous copies, of which one place may have several kinds.
unsigned sim_site_copying(uintptr_t pc, unsigned copy, unsigned kind, unsigned bytes);

// Whether a guess about the word before this atomic does no harm. An exchange whose result is looked at tests and sets.
static inline bool sim_site_confirms(const sim_site *site)
{
    return site->kind == SIM_ATOMIC &&
           ((site->what & SIM_ATOMIC_CONFIRM) || ((site->what & SIM_ATOMIC_REPLACE) && !site->discards));
}

static inline unsigned sim_site_find(uintptr_t pc)
{
    uintptr_t offset = pc - sim_code_lo;
    return offset < sim_code_bytes ? sim_site_table[offset >> SIM_CODE_SHIFT] : 0;
}
