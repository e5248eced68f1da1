// Racing writes whose values have to be compared, gathered from the findings, and the order in which to ask next.

#include "check/questions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool already_asked(const heddle_check_questions *asked, long long offset)
{
    for (size_t i = 0; i < asked->count; i++)
        if (asked->offset[i] == offset)
            return true;
    return false;
}

heddle_status heddle_check_questions_gather(heddle_check_questions *asked, const heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++)
        for (int v = 0; v < result->findings[i]->value_count; v++) {
            long long offset = result->findings[i]->values[v];
            if (already_asked(asked, offset))
                continue;
            long long *more = realloc(asked->offset, (asked->count + 1) * sizeof *more);
            if (!more)
                return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
            asked->offset = more;
            more[asked->count++] = offset;
        }
    return HEDDLE_OK;
}

heddle_status heddle_check_questions_write(heddle_check_questions *asked, int schedule, const char *path)
{
    unlink(path); // a program may have made it a link to another file
    FILE *file = fopen(path, "wxe");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    for (size_t i = 0; i < asked->count; i++)
        fprintf(file, "%lld\n", asked->offset[i]);
    if (schedule >= 0 && schedule < HEDDLE_CHECK_MOST_RUNS)
        asked->tried[schedule] = asked->count;
    return fclose(file) == 0 ? HEDDLE_OK : heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
}

// The later orders first: a run in one of them is held against the first one's results, too.
int heddle_check_questions_schedule(const heddle_check_questions *asked, const heddle_check_result *result)
{
    int found = -1;
    for (int i = 0; i < result->finding_count; i++)
        for (int run = 0; result->findings[i]->value_count > 0 && run < result->run_count; run++) {
            int schedule = result->runs[run]->schedule;
            bool seen = result->findings[i]->schedules >> run & 1;
            if (seen && schedule > found && schedule < HEDDLE_CHECK_MOST_RUNS && asked->tried[schedule] < asked->count)
                found = schedule;
        }
    return found;
}

void heddle_check_questions_free(heddle_check_questions *asked)
{
    free(asked->offset);
    *asked = (heddle_check_questions){0};
}
