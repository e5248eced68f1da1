// One lane's place in time, worked out once for all the words it touches in a row; and the two things that every check
// of a word needs: whether an earlier access is ordered before this one, and where to report one that is not.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"
#include "race/cell.h"
#include "race/clock.h"
#include "race/site.h"

typedef struct sim_view {
    sim_worker *worker;
    sim_block_clock *clock;
    uint64_t floor; // words below are ordered before: in shared memory all of earlier intervals
    uint64_t begun; // words below are of launches before this one
    bool shared;
    bool common;        // other workers may be at the same words
    bool finer_lanes;   // lanes of this kernel can meet in part of a warp
    bool finer_threads; // any two threads of it can, through fences or named barriers, or a kernel that it launches
    unsigned site, kind, scope, what;
} sim_view;

// One earlier access that conflicts, as the detector remembers it.
typedef struct sim_earlier {
    uint32_t stamp;
    unsigned thread, site, kind;
    // An atomic or volatile write that a later atomic of this very thread on the same word came after: the word itself
    // orders them.
    bool confirmed;
    // A volatile write: from where this very thread looked at the word since, by a volatile read; 0: it did not.
    unsigned looked;
} sim_earlier;

void sim_race_report(void); // at the end (verdict.c)
// At the end: whether the reads of this site poll. (polling.c)
bool sim_polls_at(unsigned site);
bool sim_on_one_line(unsigned site, unsigned other); // of the source (polling.c)
// Reports that `thread` of the view's block, at the view's site, races with `earlier` on `address`. (verdict.c)
void sim_race_found(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address);

// "volatile read", ...; at an asynchronous copy's site a write is a "copy". (place.c)
const char *sim_role(unsigned kind);
const char *sim_role_at(unsigned site, unsigned kind);
// Thread and block of an earlier access, from the launch that its interval belonged to. (place.c)
sim_place sim_race_place(const sim_earlier *earlier);

static inline bool sim_view_ordered(const sim_view *view, int me, uint64_t word)
{
    return word < view->floor || sim_clock_ordered(view->clock, me, sim_stamp_of(word), sim_thread_of(word),
                                                   sim_clock_of(word), view->shared);
}
