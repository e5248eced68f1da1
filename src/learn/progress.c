// What a learner has done so far, as the state file has it.

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "learn/state.h"
#include "learn/workspace.h"

static const cJSON *entry(const heddle_learn_workspace *workspace, const char *table,
                          const heddle_learn_exercise *exercise)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(workspace->state, table), exercise->name);
}

bool heddle_learn_is_solved(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise)
{
    return entry(workspace, "solved", exercise) != NULL;
}

const char *heddle_learn_solved_at(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise)
{
    const char *date = cJSON_GetStringValue(entry(workspace, "solved", exercise));
    return date ? date : "";
}

int heddle_learn_solved_count(const heddle_learn_workspace *workspace)
{
    int count = 0;
    for (int i = 0; i < workspace->course->count; i++)
        count += heddle_learn_is_solved(workspace, &workspace->course->exercises[i]);
    return count;
}

int heddle_learn_hints_seen(const heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise)
{
    const cJSON *seen = entry(workspace, "hints", exercise);
    return cJSON_IsNumber(seen) && seen->valueint > 0 ? seen->valueint : 0;
}

// --- where one is ----------------------------------------------------------------------------------------------------

static int index_of(const heddle_learn_workspace *workspace, const char *name)
{
    for (int i = 0; name && i < workspace->course->count; i++)
        if (strcmp(workspace->course->exercises[i].name, name) == 0)
            return i;
    return -1;
}

static const heddle_learn_exercise *unsolved_after(const heddle_learn_workspace *workspace, int index)
{
    const heddle_learn_course *course = workspace->course;
    for (int i = 1; i <= course->count; i++) {
        const heddle_learn_exercise *one = &course->exercises[(index + i) % course->count];
        if (!heddle_learn_is_solved(workspace, one))
            return one;
    }
    return NULL;
}

// One begins with the first kernel. The exercises in plain C before it are for those who want to be sure of their C.
static int first_kernel(const heddle_learn_course *course)
{
    int index = 0;
    while (index < course->count && heddle_learn_is_plain_c(&course->exercises[index]))
        index++;
    return index < course->count ? index : 0;
}

const heddle_learn_exercise *heddle_learn_current(const heddle_learn_workspace *workspace)
{
    int chosen =
        index_of(workspace, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(workspace->state, "current")));
    return chosen >= 0 ? &workspace->course->exercises[chosen]
                       : unsolved_after(workspace, first_kernel(workspace->course) + workspace->course->count - 1);
}

const heddle_learn_exercise *heddle_learn_next(const heddle_learn_workspace *workspace,
                                               const heddle_learn_exercise *exercise)
{
    const heddle_learn_exercise *next = unsolved_after(workspace, index_of(workspace, exercise->name));
    return next == exercise ? NULL : next;
}

// --- changes ---------------------------------------------------------------------------------------------------------

typedef struct change {
    const char *table, *name; // table: NULL: "current"
    const char *text;
    int number; // where text is NULL
} change;

static heddle_status apply(cJSON *state, void *context)
{
    const change *what = context;
    cJSON *object = what->table ? heddle_learn_state_object(state, what->table) : state;
    const char *key = what->table ? what->name : "current";
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    const cJSON *added = what->text ? cJSON_AddStringToObject(object, key, what->text)
                                    : cJSON_AddNumberToObject(object, key, what->number);
    return added ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the state of the course");
}

static heddle_status make_change(heddle_learn_workspace *workspace, change what)
{
    return heddle_learn_state_change(workspace->folder, &workspace->state, apply, &what);
}

heddle_status heddle_learn_set_solved(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise)
{
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    if (heddle_learn_is_solved(workspace, exercise))
        return HEDDLE_OK;
    gmtime_r(&now, &parts);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return make_change(workspace, (change){"solved", exercise->name, date, 0});
}

heddle_status heddle_learn_set_current(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise)
{
    return make_change(workspace, (change){NULL, NULL, exercise->name, 0});
}

heddle_status heddle_learn_set_hints(heddle_learn_workspace *workspace, const heddle_learn_exercise *exercise, int seen)
{
    return make_change(workspace, (change){"hints", exercise->name, NULL, seen});
}
