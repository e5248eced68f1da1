// The API of the learning page. docs/web.md lists it.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "check/sources.h"
#include "learn/search.h"
#include "learn/web_parts.h"
#include "web/assets.h"
#include "web/markdown.h"

enum { TITLE_SIZE = 256, QUESTION_SIZE = 256 };

// --- the course ------------------------------------------------------------------------------------------------------

static cJSON *exercise_json(const heddle_learn_web *web, const heddle_learn_exercise *exercise)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "number", exercise->number);
    cJSON_AddStringToObject(json, "title", exercise->title);
    cJSON_AddStringToObject(json, "chapter", exercise->chapter);
    cJSON_AddBoolToObject(json, "solved", heddle_learn_is_solved(web->workspace, exercise));
    return json;
}

static cJSON *chapter_json(const heddle_learn_web *web, const char *chapter)
{
    char title[TITLE_SIZE];
    cJSON *json = cJSON_CreateObject();
    heddle_learn_web_title(web->course, chapter, title, sizeof title);
    cJSON_AddStringToObject(json, "name", chapter);
    cJSON_AddStringToObject(json, "title", title);
    cJSON *exercises = cJSON_AddArrayToObject(json, "exercises");
    for (int i = 0; i < web->course->count; i++)
        if (strcmp(web->course->exercises[i].chapter, chapter) == 0)
            cJSON_AddItemToArray(exercises, exercise_json(web, &web->course->exercises[i]));
    return json;
}

// The learner's folder as people write it: ~/heddle-course.
static void add_folder(const heddle_learn_web *web, cJSON *json)
{
    char shown[HEDDLE_PLACE_SIZE + 1];
    const char *home = getenv("HOME"), *folder = web->workspace->folder;
    size_t length = home ? strlen(home) : 0;
    bool inside = length > 1 && strncmp(folder, home, length) == 0 && folder[length] == '/';
    snprintf(shown, sizeof shown, "%s%s", inside ? "~" : "", inside ? folder + length : folder);
    cJSON_AddStringToObject(json, "folder", shown);
}

static void get_course(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    cJSON *json = cJSON_CreateObject();
    (void)request;
    pthread_mutex_lock(&web->lock);
    const heddle_learn_exercise *current = heddle_learn_web_current(web);
    add_folder(web, json);
    cJSON_AddStringToObject(json, "current", current ? current->number : "");
    cJSON_AddNumberToObject(json, "solved", heddle_learn_solved_count(web->workspace));
    cJSON_AddNumberToObject(json, "count", web->course->count);
    cJSON_AddBoolToObject(json, "codemirror", heddle_web_asset_find("codemirror/lib/codemirror.js") != NULL);
    cJSON *chapters = cJSON_AddArrayToObject(json, "chapters");
    for (int i = 0; i < web->course->chapter_count; i++)
        cJSON_AddItemToArray(chapters, chapter_json(web, web->course->chapters[i]));
    pthread_mutex_unlock(&web->lock);
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

static void get_chapter(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_learn_web *web = context;
    const char *name = request->found[0];
    char title[TITLE_SIZE] = "Glossary", *html = NULL;
    bool glossary = strcmp(name, "glossary") == 0;
    const char *chapter = glossary ? name : heddle_learn_course_chapter(web->course, name);
    if (!chapter) {
        heddle_web_answer_error(answer, HEDDLE_WEB_NOT_FOUND, "there is no chapter '%.100s'", name);
        return;
    }
    heddle_status status = heddle_learn_web_chapter(web->course, chapter, &html);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return;
    }
    if (!glossary)
        heddle_learn_web_title(web->course, chapter, title, sizeof title);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", chapter);
    cJSON_AddStringToObject(json, "title", title);
    cJSON_AddStringToObject(json, "html", html);
    free(html);
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

static void get_file(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_learn_web *web = context;
    const char *type = heddle_web_type(request->found[1]);
    char *content = NULL;
    size_t size = 0;
    heddle_status status =
        type ? heddle_learn_web_beside(web->course, request->found[0], request->found[1], &content, &size)
             : heddle_fail(HEDDLE_NOT_FOUND, "there is nothing at this address");
    if (status == HEDDLE_OK)
        heddle_web_answer_bytes(answer, type, content, size);
    else
        heddle_web_answer_failure(answer, status);
}

static void get_search(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    const heddle_learn_web *web = context;
    char question[QUESTION_SIZE], anchor[TITLE_SIZE];
    heddle_learn_found *found = NULL;
    int count = 0;
    if (!heddle_web_query_read(request->query, "q", question, sizeof question)) {
        heddle_web_answer_error(answer, HEDDLE_WEB_BAD, "ask with ?q=WORDS, at most %d characters", QUESTION_SIZE - 1);
        return;
    }
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? heddle_learn_search(web->course, question, arena, &found, &count)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to search the course");
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        heddle_arena_destroy(arena);
        return;
    }
    cJSON *json = cJSON_CreateObject(), *all = cJSON_AddArrayToObject(json, "found");
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        heddle_web_anchor(found[i].title, anchor, sizeof anchor);
        const char *address = strcmp(found[i].kind, "exercise") == 0
                                  ? heddle_learn_format(arena, "/exercise/%s", found[i].page)
                                  : heddle_learn_format(arena, "/read/%s#%s", found[i].page, anchor);
        cJSON_AddStringToObject(one, "address", address ? address : "");
        cJSON_AddStringToObject(one, "kind", found[i].kind);
        cJSON_AddStringToObject(one, "title", found[i].title);
        cJSON_AddStringToObject(one, "excerpt", found[i].excerpt);
        cJSON_AddItemToArray(all, one);
    }
    heddle_arena_destroy(arena);
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

// --- an exercise -----------------------------------------------------------------------------------------------------

static const heddle_learn_exercise *find_exercise(const heddle_learn_web *web, const heddle_web_request *request,
                                                  heddle_web_answer *answer)
{
    for (int i = 0; i < web->course->count; i++)
        if (strcmp(web->course->exercises[i].number, request->found[0]) == 0)
            return &web->course->exercises[i];
    heddle_web_answer_error(answer, HEDDLE_WEB_NOT_FOUND, "there is no exercise '%.100s'", request->found[0]);
    return NULL;
}

// The text of the learner's file with its version, or why the page cannot show it.
static void add_source(const heddle_learn_web *web, const heddle_learn_exercise *exercise, cJSON *json)
{
    char version[HEDDLE_LEARN_VERSION_SIZE], *text = NULL;
    size_t size = 0;
    heddle_status status = heddle_learn_web_source(web, exercise, &text, &size, version);
    if (status == HEDDLE_OK && !heddle_web_is_utf8(text, size))
        status = heddle_fail(HEDDLE_UNSUPPORTED, "the file is not UTF-8 text; edit it in your own editor");
    cJSON_AddStringToObject(json, "text", status == HEDDLE_OK ? text : "");
    cJSON_AddStringToObject(json, "version", version);
    if (status != HEDDLE_OK)
        cJSON_AddStringToObject(json, "problem", heddle_last_error());
    free(text);
}

// The hints that have been seen, and how many there are.
static void add_hints(const heddle_learn_web *web, const heddle_learn_exercise *exercise, cJSON *json)
{
    const char **hints = NULL;
    int count = 0, seen = heddle_learn_hints_seen(web->workspace, exercise);
    heddle_arena *arena = heddle_arena_create();
    cJSON *shown = cJSON_AddArrayToObject(json, "hints");
    if (arena && heddle_learn_hints(exercise, arena, &hints, &count) != HEDDLE_OK)
        count = 0;
    for (int i = 0; i < seen && i < count; i++) {
        char *html = NULL;
        if (heddle_learn_web_hint(exercise, hints[i], &html) == HEDDLE_OK)
            cJSON_AddItemToArray(shown, cJSON_CreateString(html));
        free(html);
    }
    cJSON_AddNumberToObject(json, "hint_count", count);
    heddle_arena_destroy(arena);
}

static void add_neighbours(const heddle_learn_web *web, const heddle_learn_exercise *exercise, cJSON *json)
{
    const heddle_learn_exercise *first = web->course->exercises, *last = first + web->course->count - 1;
    const heddle_learn_exercise *next = heddle_learn_next(web->workspace, exercise);
    cJSON_AddStringToObject(json, "before", exercise > first ? exercise[-1].number : "");
    cJSON_AddStringToObject(json, "after", exercise < last ? exercise[1].number : "");
    cJSON_AddStringToObject(json, "next", next ? next->number : ""); // not solved yet
}

static void get_exercise(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    char shown[HEDDLE_PLACE_SIZE], *html = NULL;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    heddle_status status = heddle_learn_web_statement(exercise, &html);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return;
    }
    pthread_mutex_lock(&web->lock);
    cJSON *json = exercise_json(web, exercise);
    heddle_learn_shown_file(web->workspace, exercise, shown);
    cJSON_AddStringToObject(json, "file", shown);
    cJSON_AddStringToObject(json, "statement", html);
    add_source(web, exercise, json);
    add_hints(web, exercise, json);
    add_neighbours(web, exercise, json);
    const heddle_learn_web_file *file = heddle_learn_web_file_of(web, exercise);
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "version");
    if (file->verdict && strcmp(file->version, version->valuestring) == 0)
        cJSON_AddItemToObject(json, "judged", cJSON_Parse(file->verdict));
    pthread_mutex_unlock(&web->lock);
    free(html);
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

// The learner turns to it: it becomes the current one, and is judged if its text was not yet.
static void post_open(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    char version[HEDDLE_LEARN_VERSION_SIZE], *text = NULL;
    size_t size = 0;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    heddle_learn_web_source(web, exercise, &text, &size, version);
    free(text);
    pthread_mutex_lock(&web->lock);
    const heddle_learn_web_file *file = heddle_learn_web_file_of(web, exercise);
    heddle_learn_set_current(web->workspace, exercise); // only convenience: a full disk must not stop anybody
    bool judged = strcmp(file->version, version) == 0 && version[0] && file->verdict;
    if (!judged && !(file->due && file->due == web->turn)) // it may wait behind another
        heddle_learn_web_want(web, exercise);
    pthread_mutex_unlock(&web->lock);
    heddle_web_answer_json(answer, HEDDLE_WEB_ACCEPTED, cJSON_CreateObject());
}

static void post_judge(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    pthread_mutex_lock(&web->lock);
    heddle_learn_web_want(web, exercise);
    pthread_mutex_unlock(&web->lock);
    heddle_web_answer_json(answer, HEDDLE_WEB_ACCEPTED, cJSON_CreateObject());
}

// --- saving ----------------------------------------------------------------------------------------------------------

// {"text": "...", "base": "version that the text was made of"}; both live in *json.
static bool read_change(const heddle_web_request *request, cJSON **json, const char **text, const char **base,
                        heddle_web_answer *answer)
{
    heddle_status status = heddle_web_json_read(request->body, request->size, json);
    if (status != HEDDLE_OK) {
        heddle_web_answer_failure(answer, status);
        return false;
    }
    *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(*json, "text"));
    *base = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(*json, "base"));
    if (!*text || !*base)
        heddle_web_answer_error(answer, HEDDLE_WEB_BAD, "the body needs \"text\" and \"base\", both texts");
    else if (strlen(*text) > HEDDLE_CHECK_LARGEST_SENT)
        heddle_web_answer_error(answer, HEDDLE_WEB_TOO_LARGE, "the text is larger than 1 MB: not a solution");
    else
        return true;
    return false;
}

// Whether the file may be replaced by a text that was made of version `base`. A link would be replaced by a file, and
// what somebody else wrote meanwhile must not be lost.
static bool may_replace(const heddle_learn_web *web, const heddle_learn_exercise *exercise, const char *path,
                        const char *base, heddle_web_answer *answer)
{
    char version[HEDDLE_LEARN_VERSION_SIZE], *text = NULL;
    size_t size = 0;
    struct stat about;
    bool exists = lstat(path, &about) == 0;
    if (exists && !S_ISREG(about.st_mode)) {
        heddle_web_answer_error(
            answer, HEDDLE_WEB_CONFLICT,
            "your file is a link or a folder, which the page does not replace; edit it where it is");
        return false;
    }
    if (!exists)
        return true;
    if (heddle_learn_web_source(web, exercise, &text, &size, version) != HEDDLE_OK) {
        heddle_web_answer_error(answer, HEDDLE_WEB_CONFLICT, "the page does not replace a file that it cannot read: %s",
                                heddle_last_error());
        return false;
    }
    free(text);
    if (strcmp(version, base) == 0)
        return true;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "error", "the file was changed elsewhere since the page read it");
    add_source(web, exercise, json);
    heddle_web_answer_json(answer, HEDDLE_WEB_CONFLICT, json);
    return false;
}

static void put_source(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    char path[HEDDLE_PLACE_SIZE], version[HEDDLE_LEARN_VERSION_SIZE];
    const char *text, *base;
    cJSON *json = NULL;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    heddle_learn_file(web->workspace, exercise, path);
    if (read_change(request, &json, &text, &base, answer) && may_replace(web, exercise, path, base, answer)) {
        heddle_status status = heddle_file_write_atomic(path, &(heddle_slice){text, strlen(text)}, 1);
        if (status == HEDDLE_OK) {
            heddle_learn_web_version(text, strlen(text), version);
            pthread_mutex_lock(&web->lock);
            heddle_learn_web_want(web, exercise);
            pthread_mutex_unlock(&web->lock);
            cJSON *saved = cJSON_CreateObject();
            cJSON_AddStringToObject(saved, "version", version);
            heddle_web_answer_json(answer, HEDDLE_WEB_OK, saved);
        } else {
            heddle_web_answer_failure(answer, status);
        }
    }
    cJSON_Delete(json);
}

// --- help ------------------------------------------------------------------------------------------------------------

static void post_hint(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    const char **hints = NULL;
    int count = 0;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    heddle_arena *arena = heddle_arena_create();
    heddle_status status = arena ? heddle_learn_hints(exercise, arena, &hints, &count)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for hints");
    pthread_mutex_lock(&web->lock);
    int seen = heddle_learn_hints_seen(web->workspace, exercise);
    if (status == HEDDLE_OK && seen < count)
        status = heddle_learn_set_hints(web->workspace, exercise, seen + 1);
    if (status == HEDDLE_OK) {
        cJSON *json = cJSON_CreateObject();
        add_hints(web, exercise, json);
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
    } else {
        heddle_web_answer_failure(answer, status);
    }
    pthread_mutex_unlock(&web->lock);
    heddle_arena_destroy(arena);
}

static void get_solution(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    char name[32], anyway[8];
    const char *text = NULL;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    pthread_mutex_lock(&web->lock);
    bool solved = heddle_learn_is_solved(web->workspace, exercise);
    pthread_mutex_unlock(&web->lock);
    if (!solved && !heddle_web_query_read(request->query, "anyway", anyway, sizeof anyway)) {
        heddle_web_answer_error(answer, HEDDLE_WEB_FORBIDDEN, "%s is not solved yet; ?anyway=1 shows the solution",
                                exercise->number);
        return;
    }
    heddle_arena *arena = heddle_arena_create();
    snprintf(name, sizeof name, "solution%s", exercise->ending);
    heddle_status status = arena ? heddle_learn_exercise_read(exercise, name, arena, &text)
                                 : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a solution");
    if (status == HEDDLE_OK) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "text", text);
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
    } else {
        heddle_web_answer_failure(answer, status);
    }
    heddle_arena_destroy(arena);
}

static void post_reset(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    char backup[HEDDLE_PLACE_SIZE];
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    pthread_mutex_lock(&web->lock);
    heddle_status status = heddle_learn_reset(web->workspace, exercise, backup);
    if (status == HEDDLE_OK) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "backup", backup);
        add_source(web, exercise, json);
        heddle_learn_web_want(web, exercise);
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
    } else {
        heddle_web_answer_failure(answer, status);
    }
    pthread_mutex_unlock(&web->lock);
}

// What the run behind the last verdict recorded.
static void get_trace(void *context, const heddle_web_request *request, heddle_web_answer *answer)
{
    heddle_learn_web *web = context;
    const heddle_learn_exercise *exercise = find_exercise(web, request, answer);
    if (!exercise)
        return;
    pthread_mutex_lock(&web->lock);
    const char *trace = heddle_learn_web_file_of(web, exercise)->trace;
    char *copy = trace ? strdup(trace) : NULL;
    pthread_mutex_unlock(&web->lock);
    if (copy)
        heddle_web_answer_bytes(answer, "application/json", copy, strlen(copy));
    else
        heddle_web_answer_error(answer, HEDDLE_WEB_NOT_FOUND, "nothing was recorded for %s", exercise->number);
}

const heddle_web_route heddle_learn_web_routes[] = {
    {"GET", "/", NULL, "learn.html"},
    {"GET", "/map", NULL, "learn.html"},
    {"GET", "/read/*", NULL, "learn.html"},
    {"GET", "/exercise/*", NULL, "learn.html"},
    {"GET", "/course/*/*", get_file, NULL},
    {"GET", "/v1/learn/course", get_course, NULL},
    {"GET", "/v1/learn/chapters/*", get_chapter, NULL},
    {"GET", "/v1/learn/search", get_search, NULL},
    {"GET", "/v1/learn/events", heddle_web_listen_to_events, NULL},
    {"GET", "/v1/learn/exercises/*", get_exercise, NULL},
    {"GET", "/v1/learn/exercises/*/solution", get_solution, NULL},
    {"GET", "/v1/learn/exercises/*/trace", get_trace, NULL},
    {"PUT", "/v1/learn/exercises/*/source", put_source, NULL},
    {"POST", "/v1/learn/exercises/*/open", post_open, NULL},
    {"POST", "/v1/learn/exercises/*/judge", post_judge, NULL},
    {"POST", "/v1/learn/exercises/*/hint", post_hint, NULL},
    {"POST", "/v1/learn/exercises/*/reset", post_reset, NULL},
    {0},
};
