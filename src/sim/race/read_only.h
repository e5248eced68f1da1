// __ldg of memory that another thread of the same launch has written, reads of surfaces there, and fetches of textures
// in such memory, whoever has written there: the read may be served from a cache that no barrier and no fence empties,
// so the memory has to stay as it is while the kernel runs.
#pragma once

#include "race/race.h"
#include "race/view.h"

// Every __ldg of the program, and every read of a surface, puts a byte here (sim/memory_access.h): a program without it
// is not asked.
extern char __start_sim_read_only[] __attribute__((weak));
extern char __stop_sim_read_only[] __attribute__((weak));

static inline bool sim_read_only_any(void)
{
    return (uintptr_t)__start_sim_read_only != (uintptr_t)__stop_sim_read_only;
}

// A read of the view's site that is ordered behind a write of this launch, the word `write`. Looked at once for each
// site; whether the read is an __ldg is asked at the end.
void sim_read_only_read(const sim_view *view, int thread, uint64_t write, uintptr_t address);
void sim_read_only_report(void); // at the end

// The reads at this place, of which there has been one, are fetches.
void sim_read_only_fetches(uintptr_t pc);
// A row of fetches, against what this launch has written.
void sim_read_only_row(sim_worker *worker, const sim_row *row);
