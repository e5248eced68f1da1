// A process of ours between us and a program that we run: what the program starts ends with the program, even in a
// session of its own, and all of it ends with us, however we end. It also keeps the program within limits.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// 0: no limit.
typedef struct sim_limits {
    double seconds;
    uint64_t memory;    // bytes in use by the program and what it has started
    const char *folder; // for its temporary files; NULL: as the environment says. Only for sim_process_start
} sim_limits;

typedef enum sim_kept_end {
    SIM_KEPT_ENDED, // by itself, or by a signal: status says how
    SIM_KEPT_TIMED_OUT,
    SIM_KEPT_TOO_LARGE,
} sim_kept_end;

typedef struct sim_keeper {
    pid_t id;
    struct sim_kept *kept; // shared with the keeper
    sim_kept_end end;      // these three, once it is collected
    int status;            // as of waitpid
    int error;             // errno where the program could not be started; else 0
} sim_keeper;

// Forks the keeper, and from it the program, which is `become`: it calls execve, and only what is safe after a fork
// before that. The program leads a process group. Signals are blocked in it until `become` has set them up. limits:
// NULL: none. False: errno says why.
bool sim_keeper_start(sim_keeper *keeper, const sim_limits *limits, void (*become)(const void *context),
                      const void *context);
// The program; 0: it is not started yet.
pid_t sim_keeper_program(const sim_keeper *keeper);
// Ends the program and all that it has started. Safe in a signal handler.
void sim_keeper_stop(pid_t keeper);
// Waits until all of it has ended, and for the keeper.
void sim_keeper_collect(sim_keeper *keeper);

// Bytes of memory that the processes below a process have in use.
uint64_t sim_memory_below(pid_t process);
