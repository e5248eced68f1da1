// What a thread has seen and not fenced yet. An atomic without acquire, or a volatile read, that finds what another
// thread has released orders the two only with a fence behind it; until then a plain read of the other's data may be
// served from an older copy in the reader's cache. So each thread has, beside all it knows (clock.h), what of it is
// certain; the two are kept apart only while they differ.
#pragma once

#include <stdint.h>

#include "race/clock.h"
#include "race/view.h"

// `thread` has learned something at `site` without an acquire; `before`: what it knew till then. near: the part that a
// thread of its own block has released, for which a fence of block scope will do.
void sim_unfenced_saw(sim_block_clock *clock, int thread, sim_knowledge *before, sim_knowledge *near, unsigned site);
// It has learned this by an acquire.
void sim_unfenced_acquired(sim_block_clock *clock, int thread, sim_knowledge *what);
void sim_unfenced_fence(sim_block_clock *clock, int thread, int scope);

// Threads that meet: what is certain for one of them, as far as their block is concerned, becomes so for all. Gather
// from each of them before they share what they know, then spread to each. *met begins as zero; its `near` is the
// gatherer's to drop, its `firm` is the last one's, borrowed.
void sim_unfenced_gather(const sim_block_clock *clock, int thread, sim_unfenced *met);
void sim_unfenced_spread(sim_block_clock *clock, int thread, const sim_unfenced *met);
void sim_unfenced_forget(sim_block_clock *clock);

// `thread` of the view uses what is ordered behind `earlier`, made at its thread's clock `at`: is that certain?
void sim_unfenced_check(const sim_view *view, int thread, const sim_earlier *earlier, unsigned at, uintptr_t address);
void sim_unfenced_report(void); // at the end
// Tests hear of every such read.
void sim_unfenced_observe(void (*callback)(uintptr_t address, size_t bytes, void *context), void *context);

static inline bool sim_unfenced_any(const sim_block_clock *clock, int thread)
{
    return clock->unfenced_threads != 0 && clock->unfenced[thread].any;
}
