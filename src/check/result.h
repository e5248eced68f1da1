// What a check found out: the findings of all runs united, the counters of the first run, and notes. finish.h ranks and
// counts them.
#pragma once

#include "check/report.h"
#include "check/sources.h"

enum { HEDDLE_CHECK_MOST_RUNS = 64 }; // a finding keeps a bit for each

typedef enum heddle_check_nvcc_answer {
    HEDDLE_CHECK_NOT_ASKED, // not installed, or not wanted
    HEDDLE_CHECK_ACCEPTED,
    HEDDLE_CHECK_REJECTED,
    HEDDLE_CHECK_NOT_JUDGED, // it lacks a header, say
    HEDDLE_CHECK_NO_ANSWER,
} heddle_check_nvcc_answer;

// Why something that a program uses may differ on a GPU.
typedef enum heddle_check_fidelity {
    HEDDLE_CHECK_FAST_MATH, // an intrinsic with few bits: here it has all of them
    HEDDLE_CHECK_MATH,      // a function whose last bits are the host library's
    HEDDLE_CHECK_TENSOR,    // sums of tensor cores, whose order NVIDIA does not tell
    HEDDLE_CHECK_LIBRARY,   // results of cuBLAS and its kin, up to rounding
    HEDDLE_CHECK_TIMING,    // clocks and measured times: not simulated
    HEDDLE_CHECK_PLACEMENT, // which multiprocessor runs a block: not simulated
} heddle_check_fidelity;

typedef struct heddle_check_use {
    heddle_check_fidelity fidelity;
    const char *name; // "__expf"
    const char *file; // of the first use
    int line;
    int decides_line;    // where its result may decide something; 0: nowhere, as far as the function shows
    const char *decides; // "branch", "index" or "comparison"
} heddle_check_use;

enum { HEDDLE_CHECK_MOST_USES = 32 }; // others are not listed

typedef struct heddle_check_result {
    heddle_arena *arena;
    heddle_check_sources *sources;
    heddle_check_report *runs[HEDDLE_CHECK_MOST_RUNS]; // in the order they ran; the counters shown are the first's
    int run_count;
    heddle_check_report *compared;      // a further run, whose strings an order-dependent finding uses; or NULL
    heddle_check_report *unset;         // and one whose strings a finding of unset.h uses; or NULL
    heddle_check_report *branches;      // the run that counted divergent branches; NULL: there was none
    struct heddle_check_result *joined; // of programs that this one speaks for (join.h), in a list; NULL: none
    heddle_check_finding **findings;
    int finding_count, finding_room;
    const char **notes;
    int note_count, note_room;
    heddle_check_use uses[HEDDLE_CHECK_MOST_USES]; // fidelity.h; each name once
    int use_count;
    int errors, warnings, suppressed;
    bool built;           // the program was compiled
    bool unwatched;       // it only ran
    int suspected;        // local variables that the compiler thinks may be read before they are set; notes name them
    const char *subject;  // name of the file that was checked, without its folder; NULL: none, or several
    const char *messages; // of the compiler, where there are any; NULL
    int exit_status;      // of the program itself, in its first run
    bool open_line;       // what it printed there ended without a newline
    bool coloured;        // and had escapes in it, which may still colour a terminal
    bool unrepeatable;    // two runs in the same order gave different results, which has been reported
    int changing;         // the first copy to the host, from 1, that differed there, which a note names; 0: none
    bool any_status;      // it may end as it likes: only findings count
    bool graded;          // comments in the source suppress nothing
    heddle_check_nvcc_answer nvcc;
    const char *unanswered; // why nvcc gave no answer; NULL: it gave one, or was not asked
    const char *sandbox;    // what contained the program (sandbox.h); "off": nothing was to
    struct cJSON *trace;    // of the first run, as the simulator wrote it (trace.h); NULL: there is none
    bool unwritten;         // a file that was asked for could not be written
    double seconds;         // all of it, as the person waited
} heddle_check_result;

heddle_status heddle_check_result_create(heddle_check_result **result);
void heddle_check_result_free(heddle_check_result *result); // NULL is fine

// Takes the report over. Findings that an earlier run had already are one with those; a race whose written values were
// not known takes the tier of a later run that knows them.
heddle_status heddle_check_result_add_run(heddle_check_result *result, heddle_check_report *report);
// Copies the finding and its places; its strings must live in the result's arena or as long as the result.
heddle_status heddle_check_result_add_finding(heddle_check_result *result, const heddle_check_finding *finding);
// A finding of the check itself, without a place.
heddle_status heddle_check_result_add(heddle_check_result *result, heddle_check_kind kind, heddle_check_tier tier,
                                      const char *format, ...) HEDDLE_PRINTF(4, 5);
// The same at a place, of which it keeps the strings; NULL: without.
heddle_status heddle_check_result_add_at(heddle_check_result *result, heddle_check_kind kind, heddle_check_tier tier,
                                         heddle_check_place *place, const char *format, ...) HEDDLE_PRINTF(5, 6);
// Something worth knowing that is not a finding.
// Text that lives as long as the result; NULL: no memory for it.
const char *heddle_check_result_text(heddle_check_result *result, const char *format, ...) HEDDLE_PRINTF(2, 3);
heddle_status heddle_check_result_note(heddle_check_result *result, const char *format, ...) HEDDLE_PRINTF(2, 3);

// Whether two findings are about one call, as far as their lines do not tell: several calls may stand in one.
bool heddle_check_same_call(const heddle_check_finding *a, const heddle_check_finding *b);
// Whether any of them is an error, as far as they are known: finish() may yet drop some.
bool heddle_check_result_has_errors(const heddle_check_result *result);
// Whether something that was found explains that results differ from run to run.
bool heddle_check_result_explains_difference(const heddle_check_result *result);
