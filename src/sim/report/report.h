// Findings: what the simulator says is wrong. Any part of the runtime reports one; equal ones are counted together;
// at the end they are given source lines and written out (as JSON for `check`, as text for a person).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The demanding form of the last step: writes everything once. Called at exit, and by the fault handler of host code.
// `status`: "finished", "crashed: ...", "killed: ...".
// Calls sim_race_finish first: the race detector holds its findings back until it knows their tier.
void sim_report_write(const char *status);
bool sim_report_in_handler(void); // whether a signal handler of the program runs

// At exit, after the destructors of the program's objects, the report is written. What is called before that, in this
// order; each layer above registers its own.
enum { SIM_END_RUN, SIM_END_VARIABLES, SIM_END_EVENTS, SIM_END_LEAKS, SIM_END_ERRORS, SIM_ENDS };
void sim_report_at_end(int when, void (*finish)(void));
// The program calls CUDA. A process that it started leaves a mark beside its report, SIM_REPORT.child: the report is
// about the program's own process alone.
void sim_report_used(void);
// Where in the program's own code host code crashed, as a return address; 0: it did not, or that is not known.
extern uintptr_t sim_crashed_at;

// --- for a program that asks while it runs (report/embedded.c)
// ---------------------------------------------------------

// The program reports findings itself: nothing goes to stderr at the end. SIM_REPORT still gets its file.
void sim_report_embedded(void);
bool sim_report_is_embedded(void);
// The gravest error that threads or memory gave rise to since this was last asked, as one line with its places; false:
// none. What an API call has answered with an error code is left out. Call it when nothing runs on the device.
bool sim_report_next(char *text, size_t bytes);
// Names the part of the program that begins now, such as a test case: findings keep the name of theirs. Call it when
// nothing runs on the device.
void sim_report_part(const char *name);
