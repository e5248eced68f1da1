// Judges starts, solutions and near misses of a course, several exercises at a time.

#include "learn/verify.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "base/spawn.h"
#include "learn/interrupt.h"
#include "learn/rules.h"

enum { LEAST_HINTS = 2, MOST_JOBS = 64 };

static const char near_misses[] = "near-misses";

typedef struct verifying {
    const heddle_learn_verification *what;
    heddle_arena *arena;
    heddle_learn_verified *results;
    pthread_mutex_t lock; // of everything below and of the arena
    int next;
    heddle_status status; // the first failure that ends it all
    char error[1024];
} verifying;

// Problems of one exercise, while they are found.
typedef struct problems {
    char *text;
    size_t size;
    FILE *file;
} problems;

// --- one exercise ----------------------------------------------------------------------------------------------------

static void check_texts(const heddle_learn_exercise *exercise, heddle_arena *arena, FILE *problem)
{
    const char *text, **hints;
    int count = 0;
    if (heddle_learn_exercise_read(exercise, "README.md", arena, &text) != HEDDLE_OK) {
        fprintf(problem, "%s\n", heddle_last_error());
    } else {
        char title[64];
        snprintf(title, sizeof title, "# %s · ", exercise->number);
        if (strncmp(text, title, strlen(title)) != 0)
            fprintf(problem, "README.md: the first line must be \"%sTITLE\"\n", title);
        if (!strstr(text, "**Goal:**"))
            fprintf(problem, "README.md: no **Goal:**\n");
    }
    if (heddle_learn_hints(exercise, arena, &hints, &count) != HEDDLE_OK)
        fprintf(problem, "%s\n", heddle_last_error());
    else if (count < LEAST_HINTS)
        fprintf(problem, "hints.md: fewer than %d hints in a numbered list\n", LEAST_HINTS);
}

// Each reason once: "race, wrong".
static const char *list_reasons(const heddle_learn_verdict *verdict, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < verdict->reason_count && used < size; i++) {
        bool seen = false;
        for (int k = 0; k < i; k++)
            seen |= strcmp(verdict->reasons[k].tag, verdict->reasons[i].tag) == 0;
        if (!seen)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", verdict->reasons[i].tag);
    }
    return text;
}

// Of a stated reason: the tag, without the question mark of one that depends on luck.
static bool is_stated(const char *const *stated, const char *tag)
{
    for (int i = 0; stated[i]; i++) {
        const size_t length = strcspn(stated[i], "?");
        if (strlen(tag) == length && strncmp(stated[i], tag, length) == 0)
            return true;
    }
    return false;
}

static void compare_reasons(const heddle_learn_verdict *verdict, const heddle_learn_rules *rules, FILE *problem)
{
    if (verdict->passed)
        fprintf(problem, "start passes\n");
    for (int i = 0; rules->start_fails_because[i]; i++)
        if (!verdict->passed && !strchr(rules->start_fails_because[i], '?') &&
            !heddle_learn_has_reason(verdict, rules->start_fails_because[i]))
            fprintf(problem, "start does not fail because of: %s\n", rules->start_fails_because[i]);
    for (int i = 0; i < verdict->reason_count; i++)
        if (!is_stated((const char *const *)rules->start_fails_because, verdict->reasons[i].tag))
            fprintf(problem, "start also fails because of: %s (%s)\n", verdict->reasons[i].tag,
                    verdict->reasons[i].headline);
}

// A file of the exercise's folder; `name` has no ending.
static heddle_status judge(const heddle_learn_verification *what, const heddle_learn_exercise *exercise,
                           const char *name, heddle_learn_verdict **verdict)
{
    char path[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE];
    snprintf(shown, sizeof shown, "%s%s", name, exercise->ending);
    snprintf(path, sizeof path, "%s/%s", exercise->folder, shown);
    heddle_learn_task task = {.course = what->course,
                              .exercise = exercise,
                              .path = path,
                              .shown = shown,
                              .on_hardware = what->on_hardware && strcmp(name, "solution") == 0};
    return heddle_learn_judge(&task, verdict);
}

// Whether the learner reads this text in the reason.
static bool says(const heddle_learn_reason *reason, const char *text)
{
    bool found = strstr(reason->headline, text) != NULL;
    for (int i = 0; i < reason->item_count; i++)
        found |= strstr(reason->items[i].text, text) != NULL;
    return found;
}

// The first line of a near miss, "// REASON: TEXT", tells what the learner has to read first about it.
static heddle_status judge_near_miss(const heddle_learn_verification *what, const heddle_learn_exercise *exercise,
                                     const char *name, heddle_arena *arena, FILE *problem)
{
    char tag[64], text[256];
    const char *source, *file = heddle_learn_format(arena, "%s%s", name, exercise->ending);
    heddle_learn_verdict *verdict = NULL;
    if (!file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to verify an exercise");
    HEDDLE_TRY(heddle_learn_exercise_read(exercise, file, arena, &source));
    if (sscanf(source, "// %63[a-z-]: %255[^\n]", tag, text) != 2) {
        fprintf(problem, "%s: the first line must be \"// REASON: TEXT\"\n", file);
        return HEDDLE_OK;
    }
    HEDDLE_TRY(judge(what, exercise, name, &verdict));
    const heddle_learn_reason *first = verdict->reasons;
    if (verdict->passed)
        fprintf(problem, "%s passes\n", file);
    else if (strcmp(first->tag, tag) != 0)
        fprintf(problem, "%s fails first because of: %s (%s)\n", file, first->tag, first->headline);
    else if (!says(first, text))
        fprintf(problem, "%s: \"%s\" is not said: %s\n", file, text, first->headline);
    heddle_learn_verdict_free(verdict);
    return HEDDLE_OK;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static heddle_status judge_near_misses(const heddle_learn_verification *what, heddle_learn_verified *result,
                                       heddle_arena *arena, FILE *problem)
{
    const heddle_learn_exercise *exercise = result->exercise;
    char folder[HEDDLE_PLACE_SIZE];
    struct dirent **entries = NULL;
    heddle_status status = HEDDLE_OK;
    snprintf(folder, sizeof folder, "%s/%s", exercise->folder, near_misses);
    int count = scandir(folder, &entries, is_visible, alphasort); // -1: there is no such folder
    for (int i = 0; i < count; i++) {
        size_t stem = strcspn(entries[i]->d_name, ".");
        const char *name = heddle_learn_format(arena, "%s/%.*s", near_misses, (int)stem, entries[i]->d_name);
        if (strcmp(entries[i]->d_name + stem, exercise->ending) != 0)
            fprintf(problem, "%s/%s: its name must end with %s\n", near_misses, entries[i]->d_name, exercise->ending);
        else if (status == HEDDLE_OK && name)
            status = judge_near_miss(what, exercise, name, arena, problem);
        result->near_misses++;
        free(entries[i]);
    }
    free(entries);
    return status;
}

// What a person has to mend is a problem; what is missing on this machine, or an interrupt, ends the verification.
static bool is_problem(heddle_status status)
{
    return status == HEDDLE_CORRUPT || status == HEDDLE_NOT_FOUND || status == HEDDLE_INVALID || status == HEDDLE_IO;
}

static heddle_status judge_all(const heddle_learn_verification *what, const heddle_learn_rules *rules,
                               heddle_learn_verified *result, heddle_arena *arena, FILE *problem)
{
    heddle_learn_verdict *verdict = NULL;
    char reasons[256];
    HEDDLE_TRY(judge(what, result->exercise, "start", &verdict));
    compare_reasons(verdict, rules, problem);
    result->start_fails = heddle_arena_copy_text(arena, list_reasons(verdict, reasons, sizeof reasons));
    result->start_seconds = verdict->seconds;
    heddle_learn_verdict_free(verdict);
    HEDDLE_TRY(judge(what, result->exercise, "solution", &verdict));
    for (int i = 0; i < verdict->reason_count; i++)
        fprintf(problem, "solution fails because of: %s (%s)\n", verdict->reasons[i].tag, verdict->reasons[i].headline);
    result->solution_seconds = verdict->seconds;
    if (verdict->gpu)
        result->gpu = heddle_arena_copy_text(arena, verdict->gpu);
    result->times = heddle_arena_alloc(arena, ((size_t)verdict->time_count + 1) * sizeof *result->times);
    for (int i = 0; result->times && i < verdict->time_count; i++)
        result->times[result->time_count++] =
            (heddle_learn_time){heddle_arena_copy_text(arena, verdict->times[i].name), verdict->times[i].microseconds};
    heddle_learn_verdict_free(verdict);
    return judge_near_misses(what, result, arena, problem);
}

static heddle_status verify_one(const heddle_learn_verification *what, heddle_learn_verified *result,
                                heddle_arena *arena)
{
    problems found = {0};
    heddle_learn_rules rules;
    heddle_status status = HEDDLE_OK;
    found.file = open_memstream(&found.text, &found.size);
    if (!found.file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to verify an exercise");
    check_texts(result->exercise, arena, found.file);
    status = heddle_learn_rules_read(result->exercise, arena, &rules);
    if (status == HEDDLE_OK)
        status = judge_all(what, &rules, result, arena, found.file);
    if (is_problem(status)) {
        fprintf(found.file, "%s\n", heddle_last_error());
        status = HEDDLE_OK;
    }
    fclose(found.file);
    result->problems = heddle_arena_copy_text(arena, found.text);
    result->fine = found.size == 0;
    free(found.text);
    return status;
}

// --- all of them -----------------------------------------------------------------------------------------------------

static int take_next(verifying *all)
{
    pthread_mutex_lock(&all->lock);
    int index =
        all->status == HEDDLE_OK && !*heddle_learn_interrupted() && all->next < all->what->count ? all->next++ : -1;
    pthread_mutex_unlock(&all->lock);
    return index;
}

static void *work(void *context)
{
    verifying *all = context;
    heddle_arena *arena = heddle_arena_create(); // an arena serves one thread
    for (int index = take_next(all); index >= 0; index = take_next(all)) {
        heddle_learn_verified one = {.exercise = all->what->exercises[index], .problems = "", .start_fails = ""};
        heddle_status status =
            arena ? verify_one(all->what, &one, arena) : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to verify");
        pthread_mutex_lock(&all->lock);
        heddle_learn_verified *result = &all->results[index];
        *result = one;
        result->problems = heddle_arena_copy_text(all->arena, one.problems ? one.problems : "no memory");
        result->start_fails = heddle_arena_copy_text(all->arena, one.start_fails ? one.start_fails : "");
        result->gpu = one.gpu ? heddle_arena_copy_text(all->arena, one.gpu) : NULL;
        result->times = heddle_arena_alloc(all->arena, ((size_t)one.time_count + 1) * sizeof *one.times);
        for (int i = 0; result->times && i < one.time_count; i++)
            result->times[i] =
                (heddle_learn_time){heddle_arena_copy_text(all->arena, one.times[i].name), one.times[i].microseconds};
        if (status != HEDDLE_OK && all->status == HEDDLE_OK) {
            all->status = status;
            snprintf(all->error, sizeof all->error, "%s", heddle_last_error());
        } else if (status == HEDDLE_OK && all->what->report) {
            all->what->report(all->what->context, result);
        }
        pthread_mutex_unlock(&all->lock);
    }
    heddle_arena_destroy(arena);
    return NULL;
}

heddle_status heddle_learn_verify(const heddle_learn_verification *verification, heddle_arena *arena,
                                  heddle_learn_verified **results)
{
    verifying all = {.what = verification, .arena = arena, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MOST_JOBS];
    int started = 0, jobs = verification->jobs < MOST_JOBS ? verification->jobs : MOST_JOBS;
    all.results = heddle_arena_alloc(arena, ((size_t)verification->count + 1) * sizeof *all.results);
    if (!all.results)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to verify the course");
    // Each build ignores SIGPIPE for a while and puts it back: with several at a time it stays ignored all along.
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &before);
    while (started + 1 < jobs && heddle_thread_start(&threads[started], "verify", work, &all) == HEDDLE_OK)
        started++;
    work(&all);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    sigaction(SIGPIPE, &before, NULL);
    *results = all.results;
    if (*heddle_learn_interrupted())
        return heddle_fail(HEDDLE_INTERRUPTED, "interrupted");
    return all.status == HEDDLE_OK ? HEDDLE_OK : heddle_fail(all.status, "%s", all.error);
}
