// Uninitialised reads. Where a write that nothing orders comes after such a read, it may have been
// late: the race tells of it. It was not, where the thread that writes has been at the place that reads before, and the
// reader was there for the first time: then a barrier between the two would not help, and the read is a mistake of its
// own. In the later rounds of a loop that is not known, because the write may be of an earlier round than the read.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"
#include "race/view.h"

// Which lanes of a warp have been at a site in the interval that `stamp` names, and which of them more than once.
typedef struct sim_ran {
    uint32_t stamp, lanes, again;
} sim_ran;

// Whether the thread has been at the site, to read, since the last barrier.
bool sim_has_read(const sim_view *view, int thread, unsigned site);
// An uninitialised read.
void sim_unwritten_read(const sim_worker *worker, unsigned site, int thread, uintptr_t address);
// The same of eight bytes of which some are written: a number, or a structure with padding or an unused member. The
// source decides, which is read where findings are explained. Tells of one for each site.
void sim_unwritten_part_read(const sim_worker *worker, unsigned site, int thread, uintptr_t address);
// `thread` of the view writes a word, and that races with `earlier`, a read. True: nothing had written the word then.
bool sim_unwritten_raced(const sim_view *view, int thread, const sim_earlier *earlier, uintptr_t address);
// Something else tells of the reads of this word.
void sim_unwritten_explained(const sim_view *view, uintptr_t address);
// At the end: reports those that no race tells of.
void sim_unwritten_report(void);
