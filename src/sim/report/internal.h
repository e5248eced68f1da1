// What the files of the report share. The road of a finding: findings.c keeps it with what was known of its address at
// that moment (memory.c); at the end lines.c finds the source lines, conclude.c merges, suppresses and ranks, and
// document.c (JSON) or text.c writes. Facts alone: what the source says about them is read by those who read the
// report. Nothing here uses malloc: the program may have crashed in the middle of it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"
#include "program/arena.h"
#include "program/lines.h"
#include "program/names.h"
#include "program/program.h"
#include "report/report.h"

// Where host code crashed, in `place` too; NULL: it did not, or that is not known. (conclude.c)
const sim_stack *sim_crash_place(sim_place *place);

// --- memory.c ------------------------------------------------------------------------------------------------------

typedef struct sim_described {
    const char *space; // a literal, as in format.md; NULL: not about memory
    char name[128];
    size_t bytes, size;
    int64_t offset;
    bool live;
    bool dynamic;                     // extern __shared__: in the program it has no name
    uintptr_t allocated_at, freed_at; // 0: not known
    const char *function;
} sim_described;

void sim_describe(const sim_finding *finding, sim_described *memory);

// --- findings.c ----------------------------------------------------------------------------------------------------

enum { SIM_PART_BYTES = 256 };

typedef struct sim_record {
    sim_finding finding;
    char part[SIM_PART_BYTES]; // of the program; "": it names none
    sim_described memory;
    uint64_t count, handed_out; // of `count`, how many sim_report_next has seen
    struct sim_record *next_in_bucket, *next;
    // From here on: known at the end.
    const sim_stack *where[SIM_PLACES]; // NULL: no place
    struct sim_record *merged;          // others that are the same in the source
    bool dropped;
} sim_record;

// What sim_report hands over: counted, and kept with what its address belongs to.
void sim_findings_take(const sim_finding *finding, uint64_t times);
// Copies of findings that were seen since they were last asked for, and that `wanted` wants; returns how many.
size_t sim_findings_new(bool (*wanted)(const sim_finding *finding), sim_record *records, size_t room);
// All findings in the order they were first seen. No more are accepted afterwards.
sim_record *sim_findings_close(void);
// Which of two examples to keep: an order that does not depend on which worker came first.
int sim_findings_compare(const sim_finding *a, const sim_finding *b);
void sim_findings_begin_part(const char *name);
uint64_t sim_findings_lost(void); // distinct ones that there was no room for

// --- suppress.c, conclude.c ----------------------------------------------------------------------------------------

bool sim_suppressed(const sim_record *record);

typedef struct sim_conclusion {
    sim_record **findings; // ranked
    size_t count, errors, warnings;
    uint64_t suppressed[SIM_FINDING_KINDS];
} sim_conclusion;

const sim_conclusion *sim_conclude(void);
// Whether a finding is about one barrier of the source that the compiler has copied: no mistake. Its places must be
// known.
bool sim_is_one_barrier(const sim_record *record);

// --- kinds.c -------------------------------------------------------------------------------------------------------

const char *sim_kind_name(sim_finding_kind kind); // as in the report
int sim_kind_rank(sim_finding_kind kind);         // the smaller, the earlier it is shown

// --- output --------------------------------------------------------------------------------------------------------

void sim_counters_want(void);                  // counters.c: asks for the lines of all counters
struct sim_json;                               // json.h
void sim_counters_write(struct sim_json *out); // "kernels" and "totals"
void sim_document_write(const sim_conclusion *conclusion, const char *status, int exit_status, const char *path);
// What is written is a `what`, to where `setting` says: for the message if that fails.
void sim_document_save(const struct sim_json *out, const char *path, const char *what, const char *setting);
// trace.c: asks for the lines of a trace, before sim_conclude; writes it.
void sim_trace_want(void);
void sim_trace_write(const char *path);
void sim_text_write(const sim_conclusion *conclusion, const char *status, int descriptor);
double sim_report_seconds(void); // since it was first asked (ending.c)

// What the run did not come to, in one sentence; false and "": it came to its end. (ending.c)
enum { SIM_UNCHECKED_BYTES = 400 };
bool sim_unchecked_text(const char *status, char *text, size_t bytes);
