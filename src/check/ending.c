// Ends that are not the program's own: stopped, killed, gone without a report.

#include "check/ending.h"

#include <string.h>

#include "base/text.h"
#include "check/advice.h"

static bool has_error(const heddle_check_report *report)
{
    for (int i = 0; report && i < report->finding_count; i++)
        if (report->findings[i].tier == HEDDLE_CHECK_ERROR && report->findings[i].kind != HEDDLE_CHECK_LEAK)
            return true;
    return false;
}

// Whether the program read an argument where it crashed, and was given none.
static bool lacks_arguments(const heddle_check_options *options, const heddle_check_result *result,
                            const heddle_check_place *crash)
{
    const char *const *arguments = options->arguments;
    for (int i = 0; crash && !(arguments && arguments[0]) && i < crash->frames; i++) {
        const heddle_check_frame *frame = &crash->frame[i];
        if (heddle_check_reads_argument(heddle_check_sources_code(result->sources, frame->file), frame->line))
            return true;
    }
    return false;
}

heddle_status heddle_check_judge_end(const heddle_check_options *options, heddle_check_result *result,
                                     const heddle_child *child, const heddle_check_report *report, const char *where)
{
    // A program (a command has no such sentence) that ignores SIGTERM, or catches it: nothing wrote the report.
    static const char by_force[] = " by force, so what had been found until then is lost";
    const char *gap = where[0] ? " " : "";
    char size[32], time[32];
    switch (child->end) {
    case HEDDLE_CHILD_TIMED_OUT:
        return heddle_check_result_add(result, HEDDLE_CHECK_TIMEOUT, HEDDLE_CHECK_ERROR,
                                       "It was still running after %s and was stopped%s: the rest was not checked.%s%s",
                                       heddle_text_seconds(child->options.seconds, time, sizeof time),
                                       report || !where[0] ? "" : by_force, gap, where);
    case HEDDLE_CHILD_TOO_LARGE:
        return heddle_check_result_add(result, HEDDLE_CHECK_MEMORY, HEDDLE_CHECK_ERROR,
                                       "It used %s and was stopped: the rest was not checked.%s%s",
                                       heddle_text_bytes((double)child->most_memory, size, sizeof size), gap, where);
    case HEDDLE_CHILD_SIGNALLED:
        if (report && has_error(report))
            return HEDDLE_OK;
        return heddle_check_result_add_at(result, HEDDLE_CHECK_DIED, HEDDLE_CHECK_ERROR,
                                          report ? report->crashed : NULL, "It was ended by %s%s%s.",
                                          report && strstr(report->status, "stack is used up")
                                              ? "SIGSEGV (stack overflow, by endless recursion or large local arrays)"
                                              : heddle_child_signal_name(child->code),
                                          report && strstr(report->status, "in host code") ? " in host code" : "",
                                          report && lacks_arguments(options, result, report->crashed)
                                              ? ", where it reads an argument and was given none: arguments go after --"
                                              : "");
    case HEDDLE_CHILD_EXITED:
        if (report)
            return HEDDLE_OK;
        return heddle_check_result_add(result, HEDDLE_CHECK_DIED, HEDDLE_CHECK_ERROR,
                                       "It ended with status %d and left no report, so nothing was checked: it "
                                       "executed another program, bypassed the C library to end, or the report could "
                                       "not be written.",
                                       child->code);
    case HEDDLE_CHILD_RUNNING:
    case HEDDLE_CHILD_STOPPED: break;
    }
    return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
}
