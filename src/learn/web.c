// The loop of `heddle learn --web`: notices changed files, judges them one at a time, tells the pages.

#include "learn/web.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/spawn.h"
#include "learn/interrupt.h"
#include "learn/web_parts.h"
#include "web/markdown.h"

// --- files -----------------------------------------------------------------------------------------------------------

heddle_learn_web_file *heddle_learn_web_file_of(const heddle_learn_web *web, const heddle_learn_exercise *exercise)
{
    return &web->files[exercise - web->course->exercises];
}

// FNV-1a: nobody gains by deceiving it.
void heddle_learn_web_version(const char *text, size_t size, char version[HEDDLE_LEARN_VERSION_SIZE])
{
    uint64_t value = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        value = (value ^ (unsigned char)text[i]) * 0x100000001b3;
    snprintf(version, HEDDLE_LEARN_VERSION_SIZE, "%016" PRIx64, value);
}

heddle_status heddle_learn_web_source(const heddle_learn_web *web, const heddle_learn_exercise *exercise, char **text,
                                      size_t *size, char version[HEDDLE_LEARN_VERSION_SIZE])
{
    char path[HEDDLE_PLACE_SIZE], shown[HEDDLE_PLACE_SIZE];
    heddle_learn_task task = {.course = web->course, .exercise = exercise, .path = path, .shown = shown};
    version[0] = '\0';
    heddle_learn_file(web->workspace, exercise, path);
    heddle_learn_shown_file(web->workspace, exercise, shown);
    HEDDLE_TRY(heddle_learn_read_file(&task, text, size));
    heddle_learn_web_version(*text, *size, version);
    return HEDDLE_OK;
}

static void forget(heddle_learn_web_file *file)
{
    free(file->verdict);
    free(file->trace);
    file->verdict = file->trace = NULL;
}

// --- telling ---------------------------------------------------------------------------------------------------------

// Takes the JSON over.
static void tell(const heddle_learn_web *web, const char *event, cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    if (text)
        heddle_web_send(web->server, event, text);
    free(text);
}

static cJSON *about(const heddle_learn_exercise *exercise, const char *version)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "exercise", exercise->number);
    cJSON_AddStringToObject(json, "version", version);
    return json;
}

// --- judging ---------------------------------------------------------------------------------------------------------

static void wake(const heddle_learn_web *web)
{
    while (write(web->wake[1], "", 1) < 0 && errno == EINTR) {
    }
}

const heddle_learn_exercise *heddle_learn_web_current(const heddle_learn_web *web)
{
    const heddle_learn_exercise *current = heddle_learn_current(web->workspace);
    return current && heddle_learn_is_solved(web->workspace, current) ? heddle_learn_next(web->workspace, current)
                                                                      : current;
}

void heddle_learn_web_want(heddle_learn_web *web, const heddle_learn_exercise *exercise)
{
    heddle_learn_web_file_of(web, exercise)->due = ++web->turn;
    wake(web);
}

// Of those that are due, the one that was asked for last.
static const heddle_learn_exercise *newest_due(heddle_learn_web *web, unsigned long *due)
{
    const heddle_learn_exercise *newest = NULL;
    *due = 0;
    pthread_mutex_lock(&web->lock);
    for (int i = 0; i < web->course->count; i++)
        if (web->files[i].due > *due) {
            newest = &web->course->exercises[i];
            *due = web->files[i].due;
        }
    pthread_mutex_unlock(&web->lock);
    return newest;
}

static void *judge(void *context)
{
    heddle_learn_web *web = context;
    web->status = heddle_learn_judge(&web->task, &web->made);
    if (web->status != HEDDLE_OK)
        snprintf(web->why, sizeof web->why, "%s", heddle_last_error());
    pthread_mutex_lock(&web->lock);
    web->ended = true;
    pthread_mutex_unlock(&web->lock);
    wake(web);
    return NULL;
}

static cJSON *outcome(heddle_learn_web *web)
{
    cJSON *json = about(web->judging, web->version);
    if (web->status == HEDDLE_OK)
        cJSON_AddItemToObject(json, "verdict", heddle_learn_verdict_json(web->made));
    else
        cJSON_AddStringToObject(json, "error", web->why);
    return json;
}

// Remembers the verdict and what it means for the progress, and tells the pages.
static void record(heddle_learn_web *web)
{
    const heddle_learn_exercise *exercise = web->judging;
    heddle_learn_web_file *file = heddle_learn_web_file_of(web, exercise);
    cJSON *json = outcome(web);
    cJSON *trace = web->status == HEDDLE_OK ? web->made->trace : NULL;
    char *printed = trace ? cJSON_PrintUnformatted(trace) : NULL;
    cJSON_AddBoolToObject(json, "traced", printed != NULL);
    pthread_mutex_lock(&web->lock);
    forget(file);
    file->verdict = cJSON_PrintUnformatted(json);
    file->trace = printed;
    bool passed = web->status == HEDDLE_OK && web->made->passed;
    bool known = heddle_learn_is_solved(web->workspace, exercise);
    if (passed && heddle_learn_set_solved(web->workspace, exercise) != HEDDLE_OK)
        cJSON_AddStringToObject(json, "unrecorded", heddle_last_error());
    const heddle_learn_exercise *next = heddle_learn_next(web->workspace, exercise);
    cJSON_AddStringToObject(json, "next", next ? next->number : "");
    cJSON_AddBoolToObject(json, "solved", known || passed);
    cJSON_AddNumberToObject(json, "solved_count", heddle_learn_solved_count(web->workspace));
    pthread_mutex_unlock(&web->lock);
    tell(web, "verdict", json);
}

// No verdict is due any more, unless somebody has asked for another meanwhile.
static void settle(heddle_learn_web *web, const heddle_learn_exercise *exercise)
{
    heddle_learn_web_file *file = heddle_learn_web_file_of(web, exercise);
    pthread_mutex_lock(&web->lock);
    if (file->due == web->taken)
        file->due = 0;
    pthread_mutex_unlock(&web->lock);
}

// One that is dropped stays due.
static void end_judging(heddle_learn_web *web, bool drop)
{
    if (!web->judging)
        return;
    if (drop)
        heddle_learn_interrupt();
    pthread_join(web->judge, NULL);
    if (!drop && web->status != HEDDLE_INTERRUPTED)
        record(web);
    if (!drop)
        settle(web, web->judging);
    heddle_learn_verdict_free(web->made);
    web->made = NULL;
    web->judging = NULL;
}

static void begin_judging(heddle_learn_web *web, const heddle_learn_exercise *exercise, unsigned long due)
{
    char *text = NULL;
    size_t size = 0;
    end_judging(web, true);
    web->taken = due;
    heddle_learn_resume();
    heddle_learn_file(web->workspace, exercise, web->path);
    heddle_learn_shown_file(web->workspace, exercise, web->shown);
    web->task = (heddle_learn_task){.course = web->course,
                                    .exercise = exercise,
                                    .path = web->path,
                                    .shown = web->shown,
                                    .utf8 = true,
                                    .trace = true};
    heddle_learn_web_source(web, exercise, &text, &size, web->version); // one that cannot be read is the judge's matter
    free(text);
    pthread_mutex_lock(&web->lock);
    heddle_learn_web_file *file = heddle_learn_web_file_of(web, exercise);
    snprintf(file->version, sizeof file->version, "%s", web->version);
    forget(file);
    web->ended = false;
    pthread_mutex_unlock(&web->lock);
    tell(web, "judging", about(exercise, web->version));
    web->judging = exercise;
    if (heddle_thread_start(&web->judge, "judge", judge, web) == HEDDLE_OK)
        return;
    cJSON *json = about(exercise, web->version);
    cJSON_AddStringToObject(json, "error", heddle_last_error());
    tell(web, "verdict", json);
    web->judging = NULL;
    settle(web, exercise);
}

// A file that changed by other hands than the page's: the page has told us about its own already.
static void notice(heddle_learn_web *web, const heddle_learn_exercise *exercise)
{
    char version[HEDDLE_LEARN_VERSION_SIZE], *text = NULL;
    size_t size = 0;
    heddle_learn_web_source(web, exercise, &text, &size, version);
    free(text);
    pthread_mutex_lock(&web->lock);
    bool known = version[0] && strcmp(heddle_learn_web_file_of(web, exercise)->version, version) == 0;
    if (!known)
        heddle_learn_web_file_of(web, exercise)->due = ++web->turn;
    pthread_mutex_unlock(&web->lock);
    if (!known)
        tell(web, "source", about(exercise, version));
}

static bool has_ended(heddle_learn_web *web)
{
    pthread_mutex_lock(&web->lock);
    bool ended = web->judging && web->ended;
    pthread_mutex_unlock(&web->lock);
    return ended;
}

// The first page that opens asks for a verdict on this exercise, and the first verdict prepares the compiler: both can
// begin now.
static void prepare_first(heddle_learn_web *web)
{
    pthread_mutex_lock(&web->lock);
    const heddle_learn_exercise *first = heddle_learn_web_current(web);
    if (first && web->turn == 0) // else a page was faster
        heddle_learn_web_want(web, first);
    pthread_mutex_unlock(&web->lock);
}

void heddle_learn_web_run(heddle_learn_web *web, const volatile sig_atomic_t *stop)
{
    char bytes[64];
    prepare_first(web);
    while (!*stop) {
        struct pollfd ready[] = {{.fd = web->wake[0], .events = POLLIN},
                                 {.fd = heddle_learn_watch_descriptor(web->watch), .events = POLLIN}};
        poll(ready, 2, heddle_learn_watch_period(web->watch));
        while (read(web->wake[0], bytes, sizeof bytes) > 0) {
        }
        for (const heddle_learn_exercise *changed; (changed = heddle_learn_watch_changed(web->watch)) != NULL;)
            notice(web, changed);
        if (has_ended(web))
            end_judging(web, false);
        unsigned long due = 0;
        const heddle_learn_exercise *next = *stop ? NULL : newest_due(web, &due);
        if (next && !(web->judging && due == web->taken))
            begin_judging(web, next, due);
    }
    end_judging(web, true);
}

// --- opening ---------------------------------------------------------------------------------------------------------

static bool leads_nowhere(void *context, const char *address, char resolved[HEDDLE_WEB_ADDRESS_SIZE])
{
    (void)context;
    (void)address;
    resolved[0] = '\0';
    return false;
}

static heddle_status prepare(heddle_learn_web *web, const heddle_learn_web_settings *settings)
{
    char *html = NULL;
    heddle_web_settings server = {
        .address = settings->address, .port = settings->port, .routes = heddle_learn_web_routes, .context = web};
    HEDDLE_TRY(heddle_web_markdown("", leads_nowhere, NULL, &html)); // is it there at all?
    free(html);
    HEDDLE_TRY(heddle_learn_watch_alone(web->workspace, &web->alone));
    web->files = calloc((size_t)web->course->count + 1, sizeof *web->files);
    if (!web->files || pipe2(web->wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory, or no pipe, for the learning page");
    HEDDLE_TRY(heddle_learn_watch_open(web->workspace, &web->watch));
    return heddle_web_start(&server, &web->server);
}

heddle_status heddle_learn_web_open(heddle_learn_workspace *workspace, const heddle_learn_web_settings *settings,
                                    heddle_learn_web **web)
{
    *web = calloc(1, sizeof **web);
    if (!*web)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the learning page");
    (*web)->course = workspace->course;
    (*web)->workspace = workspace;
    (*web)->alone = (*web)->wake[0] = (*web)->wake[1] = -1;
    pthread_mutex_init(&(*web)->lock, NULL);
    heddle_status status = prepare(*web, settings);
    if (status != HEDDLE_OK) {
        heddle_learn_web_close(*web);
        *web = NULL;
    }
    return status;
}

void heddle_learn_web_close(heddle_learn_web *web)
{
    if (!web)
        return;
    heddle_web_stop(web->server);
    heddle_learn_watch_close(web->watch);
    for (int i = 0; web->files && i < web->course->count; i++)
        forget(&web->files[i]);
    free(web->files);
    int open[] = {web->alone, web->wake[0], web->wake[1]};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (open[i] >= 0)
            close(open[i]);
    pthread_mutex_destroy(&web->lock);
    free(web);
}

const char *heddle_learn_web_url(const heddle_learn_web *web)
{
    return heddle_web_url(web->server);
}
