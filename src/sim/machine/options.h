// What the environment asks of a simulated program (its arguments are its own), read once at the first CUDA call or
// launch. `heddle check` sets these for the program it runs.
//
//   SIM_REPORT=FILE    write the report there as JSON (report/format.md); without it findings go to stderr as text;
//                      a folder, with a slash at its end: each process writes a file of its own there (started.h)
//   SIM_WATCH=0        run only: no checks, no counters, even if the program was built with hooks
//   SIM_BUDGET=M       million accesses that a run watches; launches that would go beyond watch some of their blocks.
//                      0 (default): all are watched
//   SIM_SEED=N         draws the blocks that such a launch watches (1)
//   SIM_GPU=NAME       GPU to simulate: h200 (default), h100, a100, rtx4090, ...; a wrong name lists them all
//   SIM_SCHEDULE=N     which legal order of blocks, warps and lanes; 0 (default): ascending
//   SIM_WORKERS=N      OS threads that run blocks; default: the cores of this machine
//   SIM_STRICT=1       warnings count as errors
//   SIM_SPIN_LIMIT=S   seconds a thread may run without a memory access or a meeting before it counts as endless (10)
//   SIM_STACK=K        KiB of stack for each CUDA thread that waits in the middle of a kernel (192)
//   SIM_VALUES=FILE    places (offsets of hooks in the program, one per line) whose stored values are compared: a
//                      second run learns with it whether racing writes stored the same value
//   SIM_COPY=N.K:FILE  the copy to the host that operation N of the program makes as its Kth: its bytes are written to
//                      FILE, or, where that is there already, compared with it
//   SIM_PROGRESS=FILE  tell there how far the current launch has come (shown.h)
//   SIM_TRACE=FILE     write there what small launches did, access by access (watch/trace.h, docs/json.md)
//   SIM_TICK=N         how far the clocks of kernels go for each cycle (1): results that change with it are times
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_options {
    const char *report; // NULL: text to stderr
    bool watch, strict;
    const char *gpu;
    unsigned schedule;
    int workers;
    double spin_limit;
    double budget; // accesses; 0: no limit
    uint64_t seed;
    const char *values, *copy, *progress, *trace;
    unsigned tick;
    size_t stack; // bytes
} sim_options;

enum { SIM_STACK_DEFAULT = 192 }; // KiB; with the gap below it a slot is 256

const sim_options *sim_options_get(void);
enum { SIM_SCHEDULE_ASCENDING, SIM_SCHEDULE_DESCENDING }; // any other number: an order drawn from it
extern unsigned sim_schedule;                             // options.schedule by itself: asked at every choice

// What the program uses, known before main: each of these functions stands in a file of its own in the runtime's
// archive, so that its constructor runs only in programs that call it. Of a launch, only what its kernel can reach
// counts (program/reaches.c). Launches whose blocks can see each other (atomics, fences, printf, device heap) run on
// one worker, so that a run can be repeated; the race detector keeps more where threads can meet in finer ways than the
// block barrier.
enum {
    SIM_USES_ATOMICS = 1,
    SIM_USES_FENCES = 2,
    SIM_USES_WARP_SYNC = 4, // with masks other than the whole warp
    SIM_USES_PRINTF = 8,
    SIM_USES_HEAP = 16,
    SIM_USES_NAMED_BARRIERS = 32,
    SIM_USES_HOOKS = 64, // built with -fsanitize=thread
    SIM_USES_LAUNCHES = 128,
    SIM_USES_REGISTERED = 256, // host memory that is registered with the card
};
extern unsigned sim_program_uses;

// A function of the runtime by which a kernel uses one of these.
typedef struct sim_use {
    uintptr_t function;
    unsigned uses;
} sim_use;
// Called before main: a kernel that can reach `function` uses these.
void sim_use_tell(unsigned uses, uintptr_t function);
const sim_use *sim_uses_told(int *count);
