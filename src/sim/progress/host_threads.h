// Threads of the program itself. As long as one of them goes on, it may yet do what a kernel waits for.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The simulator has one thread more (1), or less (-1), of its own. Before it starts, and as the last it does.
void sim_host_threads_ours(int change);
void sim_host_thread_is_ours(void); // said by such a thread, if it runs launches

// This thread, if it is one of the program, begins (1) or ends (-1) to wait for a launch, or for whoever may do so.
void sim_host_thread_waits(int change);
// The thread that has let another run what is queued goes on meanwhile, or polls in vain; until that run ends.
void sim_host_thread_polls(bool polls);
void sim_host_run_turns(void); // such a run begins or ends

void sim_host_called(void);    // this thread calls the API
uint64_t sim_host_calls(void); // by all of them, so far
// Whether this thread made the last call, and how many there were until then.
bool sim_host_called_last(uint64_t *calls);

// Whether a thread of the program neither waits nor polls. It may be waiting for something else, which is not seen.
bool sim_host_goes_on(void);
// Changes when any of that does: what a thread of the program did before, kernels have to have looked at.
uint64_t sim_host_turns(void);
