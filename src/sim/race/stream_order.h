// Which operation of a stream is ordered before which: by the stream itself, by events, by the legacy default stream,
// by the host's waits. Vector clocks: a chain is a sequence of operations that run one after the other (a stream, or
// one path through a graph); a clock says for each chain how many of its operations came before.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_order_clock {
    uint64_t *at; // by chain; chains beyond `count` are at 0
    size_t count;
} sim_order_clock;

// Where there is no memory for a clock, a chain or a record, these say so and go on with what they have: the API, which
// sets this, breaks the device then, and nothing runs any more that the order could matter to.
extern void (*sim_order_lacks_memory)(void);
enum { SIM_NO_NUMBER = 0 };
#define SIM_NO_CHAIN SIZE_MAX

void sim_order_join(sim_order_clock *into, const sim_order_clock *from);
void sim_order_clear(sim_order_clock *clock); // gives its memory back

size_t sim_chain_new(void);       // SIM_NO_CHAIN: no memory
void sim_chain_end(size_t chain); // another stream may go on with it
bool sim_chain_single(void);      // there is one stream, at most
// The next operation of a chain: `clock` becomes its time.
uint64_t sim_chain_advance(size_t chain, sim_order_clock *clock);

// The time `clock` comes after everything that the chain will ever run.
void sim_chain_all(size_t chain, sim_order_clock *clock);

// What the host has waited for. Everything that it submits comes after that.
extern sim_order_clock sim_host_clock;
void sim_host_waited(const sim_order_clock *clock);
bool sim_host_waited_for_clock(const sim_order_clock *clock);
bool sim_host_waited_for_all(void); // may be asked without the lock

// An operation starts: gives it its number (1, 2, ... in the order of execution) and keeps its clock, which it takes
// over. `submitted`: its place among all that the program has asked for. SIM_NO_NUMBER: no memory.
uint64_t sim_order_start(size_t chain, uint64_t sequence, sim_order_clock *clock, uint64_t submitted);
// The note of a finding about two operations that use the same memory and do not wait for each other: whether the one
// that only reads came first in the program. "": it did not, or that is not known.
const char *sim_order_overwrite_note(uint64_t reader, uint64_t writer);
bool sim_order_waited(uint64_t number);     // the host has waited for it; 0 counts as waited for
uint64_t sim_order_before(uint64_t number); // the operation right before it on its chain; SIM_NO_NUMBER: not known
// How many operations of a chain came before, with the one that has the clock or the number, if it is on the chain.
uint64_t sim_order_at(const sim_order_clock *clock, size_t chain);
uint64_t sim_order_number_at(uint64_t number, size_t chain);
// Nothing is queued any more: once the host has waited for everything, all of it is past.
void sim_order_idle(void);

// Numbers of launches and copies; while a launch runs.
bool sim_ordered(uint64_t earlier, uint64_t later);
uint64_t sim_ordered_below(uint64_t number); // all with smaller numbers than the result are ordered before `number`
