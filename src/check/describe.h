// A finding in words: headline, memory, cause and cure. The text, the page, JSON and SARIF all say it with these.
#pragma once

#include "check/result.h"

enum { HEDDLE_CHECK_SENTENCE = 1024 }; // enough for any of the texts below

const char *heddle_check_tier_name(heddle_check_tier tier);

// Each writes into `text` and returns it.
// "race on shared memory As in kernel mm"
const char *heddle_check_headline(const heddle_check_finding *finding, char *text, size_t size);
// "d_c, 4096 bytes of global memory, allocated at main.cu:31; 4 bytes past its end"; "" when it is not about memory.
// The index of an access of this size, where it is one of 32 bits that has become negative; else 0.
long long heddle_check_wrapped_index(const heddle_check_memory *memory);
// The same of an index that the message names, of an array whose bounds the compiler knows.
long long heddle_check_negative_index(const heddle_check_finding *finding);
// Whether the access lies so close to the allocation that it is the one meant: an access far from all memory is
// reported with the allocation that happens to be nearest. An index that is negative as an unsigned number is near.
bool heddle_check_is_near(const heddle_check_memory *memory);
const char *heddle_check_memory_sentence(const heddle_check_finding *finding, char *text, size_t size);
// "block (0,0,0) thread (1,0,0)", "" in host code.
const char *heddle_check_thread_text(const heddle_check_place *place, char *text, size_t size);
// "main.cu:31"; with the path as a person would type it here.
const char *heddle_check_frame_text(const heddle_check_frame *frame, char *text, size_t size);
// "3 errors, 1 warning", "clean: 2 schedules, 1.2 million accesses, 0 findings".
const char *heddle_check_verdict(const heddle_check_result *result, char *text, size_t size);
// "29,696", "1.2 million".
const char *heddle_check_count_text(double count, char *text, size_t size);
// "in schedule 1 only": where not every run saw it; else "".
const char *heddle_check_schedules_text(const heddle_check_result *result, const heddle_check_finding *finding,
                                        char *text, size_t size);

// How it came out, best first.
typedef enum heddle_check_status {
    HEDDLE_CHECK_CLEAN,      // nothing was found
    HEDDLE_CHECK_WARNINGS,   // and no errors
    HEDDLE_CHECK_NOTHING,    // nothing was found, but no kernel touched memory either
    HEDDLE_CHECK_UNWATCHED,  // it only ran
    HEDDLE_CHECK_UNANSWERED, // no errors here, but nvcc, which may find some, did not answer
    HEDDLE_CHECK_FAILED,     // no errors, but the program ended with a status of its own
    HEDDLE_CHECK_ERRORS,
    HEDDLE_CHECK_UNBUILT,
} heddle_check_status;
heddle_check_status heddle_check_status_of(const heddle_check_result *result);
const char *heddle_check_status_name(heddle_check_status status);    // "clean", "nothing checked", ...
const char *heddle_check_nvcc_name(heddle_check_nvcc_answer answer); // "not asked", "accepted", ...
// The share of the blocks, over all runs, in which every access was watched, from 0 to 1.
double heddle_check_watched(const heddle_check_result *result);
double heddle_check_library_calls(const heddle_check_result *result); // of cuBLAS and its kin, in the first run

// Whether something was found that makes the check fail.
static inline bool heddle_check_failed(const heddle_check_result *result)
{
    return result->errors > 0 || !result->built || result->unanswered ||
           (result->exit_status != 0 && !result->any_status);
}

// --- counters --------------------------------------------------------------------------------------------------------

// A line of counters with the kernel it belongs to.
typedef struct heddle_check_row {
    const heddle_check_kernel *kernel;
    const heddle_check_line *line;
} heddle_check_row;

// All lines of the first run, those that waste most first. The caller frees *rows.
heddle_status heddle_check_rows(const heddle_check_result *result, heddle_check_row **rows, int *count);
// "sectors" or "wavefronts"
const char *heddle_check_unit(const heddle_check_line *line);
// Percent beyond the ideal.
double heddle_check_excess(const heddle_check_line *line);
