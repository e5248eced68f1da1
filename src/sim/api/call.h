// What every function of the runtime API does first and last: take the lock, refuse where CUDA refuses everything, keep
// the last error, and say in words why a call failed.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"
#include "sim/runtime_errors.h"

#define SIM_CALLER ((uintptr_t)__builtin_return_address(0))

// The body of an API function: `expression` runs with the lock held and gives the function's cudaError_t.
#define SIM_CALL(expression)          SIM_CALL_AS(__func__, expression)
#define SIM_CALL_AS(name, expression) (sim_call_begin(name, SIM_CALLER) ? sim_call_end(expression) : sim_call_refused())

// An API function, with its parameters and their names; the body follows, and runs with the lock held.
#define SIM_API(name, parameters, arguments)                                                                           \
    static cudaError_t name##_body parameters;                                                                         \
    cudaError_t name parameters                                                                                        \
    {                                                                                                                  \
        return SIM_CALL(name##_body arguments);                                                                        \
    }                                                                                                                  \
    static cudaError_t name##_body parameters

bool sim_call_begin(const char *function, uintptr_t pc); // false: refused; sim_call_refused gives the error
cudaError_t sim_call_end(cudaError_t error);
cudaError_t sim_call_refused(void);
// The call that the program is in: its line and its name.
uintptr_t sim_call_pc(void);
const char *sim_call_function(void);
unsigned sim_call_thread(void); // the thread of the host that makes it, by the order in which they came; from 1
// The lock alone, for what is no call of the program: an exit, a wait in the background.
void sim_api_lock(void);
bool sim_api_try_lock(void); // false: another thread is in the API, and may be for long
void sim_api_unlock(void);
bool sim_api_is_copy(void);           // of a process that had used the device, by fork: nothing runs here
pthread_mutex_t *sim_api_mutex(void); // to wait on a condition with

// Reports that the current call fails and why, and gives `error` back.
cudaError_t sim_fail(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same with another kind or tier of finding, about memory at `address` (0: none).
cudaError_t sim_fail_as(sim_finding_kind kind, sim_tier tier, cudaError_t error, uintptr_t address, size_t bytes,
                        const char *format, ...) __attribute__((format(printf, 6, 7)));

// The host has no memory left for the simulator's own tables: what they would have said is lost, so the device is
// broken from here on, as after a fault, and so is the call that is under way.
cudaError_t sim_no_memory(void);

const char *sim_error_name(cudaError_t error); // error_names.c
const char *sim_error_text(cudaError_t error);
// A fault in a kernel: every later call fails with it until the device is reset.
void sim_error_break(cudaError_t error);
void sim_error_reset(void);
cudaError_t sim_error_broken(void); // cudaSuccess, or the fault

// While a stream runs a function of the program: calls from it are refused.
void sim_host_function_enter(void);
void sim_host_function_leave(void);
