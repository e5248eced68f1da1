// What the files of the report share. The road of a finding: findings.c keeps it with what was known of its address at
// that moment (memory.c); at the end lines.c finds the source lines, conclude.c classifies, merges, suppresses and
// ranks, and document.c (JSON) or text.c writes. Nothing here uses malloc: the program may have crashed in the middle
// of it.
#ifndef SIM_REPORT_INTERNAL_H
#define SIM_REPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"
#include "program/arena.h"
#include "program/names.h"
#include "program/program.h"
#include "report/lines.h"
#include "report/report.h"

// Where host code crashed, in `place` too; NULL: it did not, or that is not known. (conclude.c)
const sim_stack *sim_crash_place(sim_place *place);

// --- source.c ------------------------------------------------------------------------------------------------------

// All of it; NULL: no such file.
const char *sim_source_text(const char *path, size_t *bytes);
typedef enum sim_piece_kind { SIM_PIECE_END, SIM_PIECE_WORD, SIM_PIECE_SIGN, SIM_PIECE_DIRECTIVE } sim_piece_kind;

// Reads a text by words, signs and the preprocessor's lines; comments, literals and white space are passed over.
typedef struct sim_reader {
    const char *at, *end;
    bool line_begins;
    const char *piece; // the last one, up to `at`
} sim_reader;

sim_piece_kind sim_source_next(sim_reader *reader);
bool sim_source_in_word(char c);

// --- reach.c -------------------------------------------------------------------------------------------------------

// Why the threads that have ended did not come to the barrier at this place.
sim_reach sim_reach_of(const sim_stack *where, const char *kernel);

// --- loop.c --------------------------------------------------------------------------------------------------------

// The same place, but at the line where the loop around it begins, if it is in one.
const sim_stack *sim_loop_of(const sim_stack *where);

// --- memory.c ------------------------------------------------------------------------------------------------------

typedef struct sim_described {
    const char *space; // a literal, as in format.md; NULL: not about memory
    char name[128];
    size_t bytes, size;
    int64_t offset;
    bool live;
    bool dynamic;                     // extern __shared__: the program does not tell its name, the source does
    uintptr_t allocated_at, freed_at; // 0: not known
    const char *function;
} sim_described;

void sim_describe(const sim_finding *finding, sim_described *memory);

// --- dynamic.c -----------------------------------------------------------------------------------------------------

// The name that extern __shared__ has at this place in the source.
void sim_dynamic_name(sim_described *memory, const sim_stack *where);

// --- allocation.c --------------------------------------------------------------------------------------------------

// Asks for the lines of every allocation, so that sim_describe_name can tell two calls on one line apart.
void sim_describe_want(const sim_described *memory);
void sim_describe_name(sim_described *memory);
// "cudaMalloc((void **)&d_c, n)" gives "d_c"; `which`: of several calls of `function` in `text`, from 0.
bool sim_describe_parse(const char *text, const char *function, size_t which, char *name, size_t bytes);

// --- findings.c ----------------------------------------------------------------------------------------------------

typedef struct sim_record {
    sim_finding finding;
    sim_described memory;
    uint64_t count, told; // of `count`, how many sim_report_next has told of
    struct sim_record *next_in_bucket, *next;
    // From here on: known at the end.
    const sim_stack *where[SIM_PLACES]; // NULL: no place
    struct sim_record *merged;          // others that are the same in the source
    bool dropped;
} sim_record;

// What sim_report hands over: counted, and kept with what its address belongs to.
void sim_findings_take(const sim_finding *finding, uint64_t times);
// Copies of findings that were seen since they were last asked for, and that `wanted` wants; returns how many.
size_t sim_findings_untold(bool (*wanted)(const sim_finding *finding), sim_record *records, size_t room);
// All findings in the order they were first seen. No more are accepted afterwards.
sim_record *sim_findings_close(void);
// Which of two examples to keep: an order that does not depend on which worker came first.
int sim_findings_compare(const sim_finding *a, const sim_finding *b);
uint64_t sim_findings_lost(void); // distinct ones that there was no room for

// --- indexed.c -----------------------------------------------------------------------------------------------------

// Puts the array's name before "an array" in the message, and the column of the user's source into the finding.
#define SIM_AN_ARRAY "an array"
void sim_indexed_name(sim_record *record);

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

typedef struct sim_kind_text {
    const char *name;  // as in the report
    const char *title; // for a person
    const char *tier;  // what it mostly is, and when it is the other
    const char *cause, *cure;
    int rank; // the smaller, the earlier it is shown
} sim_kind_text;

const sim_kind_text *sim_kind_of(sim_finding_kind kind);
// Of this finding: a race's depend on how far apart its threads are, a barrier's on why threads do not come to it.
const char *sim_cause_of(const sim_record *record);
const char *sim_cure_of(const sim_record *record);

// --- output --------------------------------------------------------------------------------------------------------

void sim_counters_want(void);                  // counters.c: asks for the lines of all counters
struct sim_json;                               // json.h
void sim_counters_write(struct sim_json *out); // "kernels" and "totals"
void sim_document_write(const sim_conclusion *conclusion, const char *status, const char *path);
void sim_text_write(const sim_conclusion *conclusion, const char *status, int descriptor);
double sim_report_seconds(void); // since the program started

// What the run did not come to, in one sentence; false and "": it came to its end.
enum { SIM_UNCHECKED_BYTES = 400 };
bool sim_unchecked_text(const char *status, char *text, size_t bytes);

#endif
