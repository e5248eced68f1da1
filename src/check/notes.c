// Notes on what a check did not see.

#include "check/notes.h"

#include <stdio.h>
#include <string.h>

#include "check/describe.h"

// Said once: the runs mostly stop at the same place. "": they all came to their end.
static const char *unchecked(const heddle_check_result *result)
{
    for (int run = 0; run < result->run_count; run++)
        if (result->runs[run]->unchecked[0])
            return result->runs[run]->unchecked;
    return "";
}

// A program that found no card, or whose work is unused and was removed by the compiler, must not pass for a clean one.
static heddle_status note_nothing(const heddle_check_options *options, heddle_check_result *result)
{
    double accesses = 0, launches = 0;
    for (int run = 0; run < result->run_count; run++) {
        accesses += result->runs[run]->accesses;
        launches += result->runs[run]->launches;
    }
    if (accesses > 0 || result->run_count == 0 || options->unwatched || heddle_check_result_has_errors(result))
        return HEDDLE_OK;
    if (heddle_check_library_calls(result) > 0)
        return heddle_check_result_note(
            result, "the program launched no kernel of its own: what it passes to libraries "
                    "(pointers, sizes, whether the data is initialised) and its copies were checked");
    if (launches > 0)
        return heddle_check_result_note(
            result, "the kernels ran but accessed no memory that could be checked: they only print, a guard "
                    "excludes all threads, or the compiler removed work whose result is unused");
    if (options->grade)
        return heddle_check_result_add(result, HEDDLE_CHECK_NO_LAUNCH, HEDDLE_CHECK_ERROR,
                                       "The program ran to its end without a kernel.");
    return heddle_check_result_note(result,
                                    "the program launched no kernel: only its calls of the CUDA runtime and libraries "
                                    "were checked; if it has kernels, see what it needs to reach them (arguments go "
                                    "after --)");
}

// Which kernels had blocks that were not watched in full.
static heddle_status note_left_out(heddle_check_result *result)
{
    enum { MOST_NAMED = 3 };
    char kernels[HEDDLE_CHECK_SENTENCE] = "", watched[32], blocks[32];
    const heddle_check_report *first = result->run_count > 0 ? result->runs[0] : NULL;
    int named = 0;
    for (int k = 0; first && k < first->kernel_count; k++) {
        const heddle_check_kernel *kernel = &first->kernels[k];
        if (kernel->watched_blocks >= kernel->blocks || ++named > MOST_NAMED)
            continue;
        const size_t used = strlen(kernels);
        snprintf(kernels + used, sizeof kernels - used, "%s%s: %s of %s", used > 0 ? "; " : "", kernel->name,
                 heddle_check_count_text(kernel->watched_blocks, watched, sizeof watched),
                 heddle_check_count_text(kernel->blocks, blocks, sizeof blocks));
    }
    if (named == 0)
        return HEDDLE_OK;
    return heddle_check_result_note(result,
                                    "past its budget, the check watched some of the blocks in full (%s%s) and only the "
                                    "addresses of the others' accesses; counts are of the blocks watched in full; "
                                    "--budget SECONDS raises the budget, --full watches all blocks",
                                    kernels, named > MOST_NAMED ? "; ..." : "");
}

// How many launches were left out because they repeat an earlier one.
static heddle_status note_repeated(heddle_check_result *result)
{
    double launches = 0, repeated = 0;
    const heddle_check_report *first = result->run_count > 0 ? result->runs[0] : NULL;
    for (int k = 0; first && k < first->kernel_count; k++) {
        launches += first->kernels[k].launches;
        repeated += first->kernels[k].repeated;
    }
    char those[32], all[32];
    if (repeated == 0)
        return HEDDLE_OK;
    return heddle_check_result_note(
        result,
        "%s of %s launches repeat an earlier one on memory with the same contents, and were not "
        "run again; they are not in the counts; --full runs them",
        heddle_check_count_text(repeated, those, sizeof those), heddle_check_count_text(launches, all, sizeof all));
}

heddle_status heddle_check_notes(const heddle_check_options *options, heddle_check_result *result)
{
    if (unchecked(result)[0])
        HEDDLE_TRY(heddle_check_result_note(result, "%s", unchecked(result)));
    if (!unchecked(result)[0] || options->grade)
        HEDDLE_TRY(note_nothing(options, result));
    HEDDLE_TRY(note_left_out(result));
    return note_repeated(result);
}
