// The judge from a learner's file to the verdict. What is said about it is explain.c's and its neighbours'.

#include "learn/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "check/folder.h"
#include "check/sources.h"
#include "learn/engines.h"
#include "learn/interrupt.h"

// --- the learner's file ----------------------------------------------------------------------------------------------

static heddle_status refuse_kind(const heddle_learn_task *task)
{
    struct stat about;
    const char *number = task->exercise->number;
    if (lstat(task->path, &about) != 0 && errno == ENOENT)
        return heddle_fail(HEDDLE_IO, "%s is gone; `heddle learn reset %s` brings the start back", task->shown, number);
    if (stat(task->path, &about) != 0 && errno == ENOENT)
        return heddle_fail(HEDDLE_IO,
                           "%s is a symbolic link to a file that does not exist; `heddle learn reset %s` puts the "
                           "start in its place",
                           task->shown, number);
    if (stat(task->path, &about) != 0)
        return heddle_fail(HEDDLE_IO, "%s cannot be read: %s", task->shown, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return heddle_fail(HEDDLE_IO,
                           "%s is a folder; move it away, then `heddle learn reset %s` brings the start back",
                           task->shown, number);
    if (!S_ISREG(about.st_mode))
        return heddle_fail(HEDDLE_IO, "%s is not a regular file; move it away, then `heddle learn reset %s`",
                           task->shown, number);
    if (about.st_size > HEDDLE_CHECK_LARGEST_SENT)
        return heddle_fail(HEDDLE_IO,
                           "%s is larger than 1 MB: not a solution; `heddle learn reset %s` keeps it as a "
                           "backup and brings the start back",
                           task->shown, number);
    return HEDDLE_OK;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n\f\v")] == '\0';
}

// Text has no zero bytes and few other control characters.
static bool is_binary(const char *text, size_t size)
{
    size_t odd = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\0')
            return true;
        odd += c < ' ' && !strchr("\t\r\n\f\v", c);
    }
    return odd > size / 100;
}

heddle_status heddle_learn_read_file(const heddle_learn_task *task, char **text, size_t *size)
{
    HEDDLE_TRY(refuse_kind(task));
    if (heddle_file_read(task->path, HEDDLE_CHECK_LARGEST_SENT, text, size) != HEDDLE_OK)
        return heddle_fail(HEDDLE_IO, "%s cannot be read: %s; check its permissions (chmod u+rw)", task->shown,
                           strerror(errno ? errno : EIO));
    if (!is_binary(*text, *size))
        return HEDDLE_OK;
    free(*text);
    *text = NULL;
    return heddle_fail(HEDDLE_IO,
                       "%s holds binary data, not source text; `heddle learn reset %s` keeps it as a backup and brings "
                       "the start back",
                       task->shown, task->exercise->number);
}

static heddle_status read_source(const heddle_learn_task *task, char **text, size_t *size)
{
    HEDDLE_TRY(heddle_learn_read_file(task, text, size));
    if (*text && !is_blank(*text))
        return HEDDLE_OK;
    free(*text);
    *text = NULL;
    return heddle_fail(HEDDLE_IO, "%s is empty; `heddle learn reset %s` brings the start back", task->shown,
                       task->exercise->number);
}

// --- the private folder ----------------------------------------------------------------------------------------------

static heddle_status write_copy(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wbe");
    bool written = file && fwrite(text, 1, size, file) == size;
    if (file && fclose(file) != 0)
        written = false;
    return written ? HEDDLE_OK
                   : heddle_fail(HEDDLE_IO, "%s: %s; free some space, or set TMPDIR", path, strerror(errno));
}

static heddle_status copy_files(const heddle_learn_task *task, heddle_learn_judging *judging, const char *text,
                                size_t size)
{
    const heddle_learn_exercise *exercise = task->exercise;
    char name[32];
    const char *judge;
    snprintf(name, sizeof name, "judge%s", exercise->ending);
    snprintf(judging->source, sizeof judging->source, "%s/%s%s", judging->folder, exercise->name, exercise->ending);
    snprintf(judging->judge, sizeof judging->judge, "%s/%s", judging->folder, name);
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, name, judging->verdict->arena, &judge));
    HEDDLE_TRY(write_copy(judging->source, text, size));
    return write_copy(judging->judge, judge, strlen(judge));
}

// Nobody knows it before the program is built: what a program prints by itself is never taken for the judge's words.
static heddle_status choose_mark(heddle_learn_judging *judging)
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return heddle_fail(HEDDLE_IO, "no random numbers from the system: %s", strerror(errno));
    snprintf(judging->mark, sizeof judging->mark, "learn_%016" PRIx64, number);
    return HEDDLE_OK;
}

// --- judging ---------------------------------------------------------------------------------------------------------

// What follows from something else that went wrong is not shown: counters of a run that was cut short, memory that
// nobody freed because the judge had stopped, and what did no harm so far.
static void rank_consequences(heddle_learn_verdict *verdict)
{
    bool failed = false, refused = false;
    for (int i = 0; i < verdict->reason_count; i++) {
        failed |= verdict->reasons[i].rank <= HEDDLE_LEARN_RANK_WRONG;
        refused |= verdict->reasons[i].rank == HEDDLE_LEARN_RANK_COMPILE;
    }
    for (int i = 0; i < verdict->reason_count; i++) {
        int *rank = &verdict->reasons[i].rank;
        if ((refused && *rank != HEDDLE_LEARN_RANK_COMPILE) ||
            (failed && *rank > HEDDLE_LEARN_RANK_WRONG && *rank != HEDDLE_LEARN_RANK_SOURCE))
            *rank = HEDDLE_LEARN_RANK_FOLLOWS;
    }
}

static heddle_status judge_code(const heddle_learn_task *task, heddle_learn_judging *judging,
                                const heddle_learn_code *code)
{
    judging->code = code;
    if (heddle_learn_refuse_names(judging, code))
        return HEDDLE_OK;
    if (heddle_learn_is_plain_c(task->exercise))
        HEDDLE_TRY(heddle_learn_run_plain(judging));
    else
        HEDDLE_TRY(heddle_learn_run_simulated(judging));
    if (!heddle_learn_has_reason(judging->verdict, "compile")) {
        heddle_learn_apply_output(judging);
        heddle_learn_refuse_calls(judging, code);
        heddle_learn_refuse_initialisers(judging, code);
        heddle_learn_refuse_sizes(judging, code);
    }
    HEDDLE_TRY(heddle_learn_apply_words(judging, code));
    rank_consequences(judging->verdict);
    if (task->on_hardware && judging->verdict->reason_count == 0)
        HEDDLE_TRY(heddle_learn_run_hardware(judging));
    return *heddle_learn_interrupted() ? heddle_fail(HEDDLE_INTERRUPTED, "interrupted") : HEDDLE_OK;
}

static heddle_status judge_copy(const heddle_learn_task *task, heddle_learn_judging *judging, const char *text)
{
    heddle_learn_code code;
    HEDDLE_TRY(heddle_learn_code_read(text, &code));
    heddle_status status = judge_code(task, judging, &code);
    judging->code = NULL;
    heddle_learn_code_free(&code);
    return status;
}

static heddle_status judge_text(const heddle_learn_task *task, const char *text, size_t size,
                                heddle_learn_verdict *verdict)
{
    heddle_check_folder folder;
    heddle_learn_rules rules;
    char include[HEDDLE_PLACE_SIZE], chapter[HEDDLE_PLACE_SIZE], beside[HEDDLE_PLACE_SIZE];
    const char *slash = strrchr(task->path, '/');
    snprintf(include, sizeof include, "%s/include", task->course->folder);
    snprintf(chapter, sizeof chapter, "%s/%s", task->course->folder, task->exercise->chapter);
    snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - task->path) : 1, slash ? task->path : ".");
    heddle_learn_judging judging = {.exercise = task->exercise,
                                    .rules = &rules,
                                    .include = include,
                                    .beside = beside,
                                    .chapter = chapter,
                                    .shown = task->shown,
                                    .utf8 = task->utf8,
                                    .trace = task->trace,
                                    .in_case = "",
                                    .verdict = verdict};
    HEDDLE_TRY(heddle_learn_rules_read(task->exercise, verdict->arena, &rules));
    HEDDLE_TRY(choose_mark(&judging));
    HEDDLE_TRY(heddle_check_folder_create(&folder, false));
    char *whole = realpath(folder.path, NULL);
    snprintf(judging.folder, sizeof judging.folder, "%s", whole ? whole : folder.path);
    free(whole);
    judging.sources = heddle_check_sources_create();
    heddle_status status =
        judging.sources ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the lines of a file");
    if (status == HEDDLE_OK)
        status = copy_files(task, &judging, text, size);
    if (status == HEDDLE_OK)
        status = judge_copy(task, &judging, text);
    heddle_check_sources_free(judging.sources);
    heddle_check_folder_release(&folder);
    return status;
}

heddle_status heddle_learn_judge(const heddle_learn_task *task, heddle_learn_verdict **verdict)
{
    char *text = NULL;
    size_t size = 0;
    double started = heddle_now();
    *verdict = NULL;
    HEDDLE_TRY(read_source(task, &text, &size));
    heddle_learn_verdict *made = NULL;
    heddle_status status = heddle_learn_verdict_create(&made);
    if (status == HEDDLE_OK)
        status = judge_text(task, text, size, made);
    free(text);
    if (status != HEDDLE_OK) {
        heddle_learn_verdict_free(made);
        return status;
    }
    heddle_learn_verdict_settle(made);
    made->seconds = heddle_now() - started;
    *verdict = made;
    return HEDDLE_OK;
}
