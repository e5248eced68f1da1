// The thread that checks what pages send.

#include "serve/checker.h"

#include <ctype.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/spawn.h"
#include "check/check.h"
#include "check/describe.h"
#include "check/finish.h"
#include "check/folder.h"
#include "check/show.h"

enum { KEPT = 8, MOST_WAITING = 8, LONGEST_NAME = 64, PATH_SIZE = 1024, VERDICT_SIZE = 512 };

// As `heddle check` has them by default, but for the time, in which somebody waits.
enum { SCHEDULES = 2, SECONDS = 30, BUDGET = 1000 };

typedef struct wish {
    struct wish *next;
    heddle_web_later *later;
    char *name, *source;
} wish;

typedef struct report {
    int number;
    char *html;
    size_t size;
} report;

struct heddle_serve_checker {
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t wanted;
    bool stopping;
    wish *first, **last;
    int waiting;
    uint64_t count;
    report kept[KEPT];
};

bool heddle_serve_checker_names(const char *name)
{
    const size_t length = strlen(name), ending = strlen(".cu");
    if (length <= ending || length >= LONGEST_NAME || name[0] == '.' || name[0] == '-' ||
        strcmp(name + length - ending, ".cu") != 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i]))
            return false;
    return true;
}

// --- one check -------------------------------------------------------------------------------------------------------

static heddle_status render(const heddle_check_result *result, char **html, size_t *size)
{
    FILE *memory = open_memstream(html, size);
    if (!memory)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a report");
    heddle_status status = heddle_check_show_html(result, memory);
    if (fclose(memory) != 0 && status == HEDDLE_OK)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a report");
    return status;
}

// `where` is left with the folder that the program was in, and a slash.
static heddle_status check(const wish *asked, heddle_check_result **result, char where[PATH_SIZE])
{
    char path[PATH_SIZE];
    heddle_check_folder folder, room;
    HEDDLE_TRY(heddle_check_folder_create(&folder, false));
    const char *sources[] = {heddle_check_folder_path(&folder, asked->name, path, sizeof path), NULL};
    snprintf(where, PATH_SIZE, "%.*s", (int)(strlen(path) - strlen(asked->name)), path);
    heddle_status status = heddle_check_folder_inner(&folder, "room", &room);
    if (status == HEDDLE_OK)
        status = heddle_file_write_atomic(path, &(heddle_slice){asked->source, strlen(asked->source)}, 1);
    const heddle_check_options how = {
        .sources = sources,
        .folder = status == HEDDLE_OK ? room.path : NULL,
        .no_input = true,
        .schedules = SCHEDULES,
        .seconds = SECONDS,
        .budget = BUDGET,
        .seed = 1,
        .sandbox = true,
        .carry = true,
        .trace = true,
        .output = -1,
        .errors = -1,
    };
    if (status == HEDDLE_OK)
        status = heddle_check_run(&how, result);
    heddle_check_folder_release(&folder);
    return status;
}

// Leaves every mention of the folder out of the text: to the page the program has no other path than its name.
static size_t forget(char *text, const char *where)
{
    char *to = text;
    const size_t length = strlen(where);
    for (const char *from = text; *from;)
        if (length > 0 && strncmp(from, where, length) == 0)
            from += length;
        else
            *to++ = *from++;
    *to = '\0';
    return (size_t)(to - text);
}

// The result as JSON; NULL: no memory.
static cJSON *result_json(const heddle_check_result *result, const char *where)
{
    cJSON *json = heddle_check_json(result);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    cJSON_Delete(json);
    if (text)
        forget(text, where);
    json = text ? cJSON_Parse(text) : NULL;
    free(text);
    return json;
}

// Takes the page over.
static int keep(heddle_serve_checker *checker, report *page)
{
    pthread_mutex_lock(&checker->lock);
    page->number = (int)++checker->count;
    report *place = &checker->kept[page->number % KEPT];
    free(place->html);
    *place = *page;
    pthread_mutex_unlock(&checker->lock);
    return page->number;
}

static void answer_result(heddle_serve_checker *checker, const wish *asked, const heddle_check_result *result,
                          const char *where, heddle_web_answer *answer)
{
    char verdict[VERDICT_SIZE], address[VERDICT_SIZE];
    report page = {0};
    heddle_status status = render(result, &page.html, &page.size);
    if (status != HEDDLE_OK) {
        free(page.html);
        heddle_web_answer_failure(answer, status);
        return;
    }
    page.size = forget(page.html, where);
    cJSON *json = cJSON_CreateObject();
    snprintf(address, sizeof address, "/v1/check/%d", keep(checker, &page));
    cJSON_AddStringToObject(json, "name", asked->name);
    cJSON_AddBoolToObject(json, "failed", heddle_check_failed(result));
    cJSON_AddStringToObject(json, "verdict", heddle_check_verdict(result, verdict, sizeof verdict));
    cJSON_AddStringToObject(json, "report", address);
    cJSON_AddItemToObject(json, "result", result_json(result, where));
    heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
}

static void free_wish(wish *asked)
{
    free(asked->name);
    free(asked->source);
    free(asked);
}

// Takes the wish over.
static void finish(heddle_serve_checker *checker, wish *asked, bool refuse)
{
    heddle_web_answer answer = {0};
    heddle_check_result *result = NULL;
    char where[PATH_SIZE] = "";
    heddle_status status = refuse ? HEDDLE_INTERRUPTED : check(asked, &result, where);
    if (status == HEDDLE_INTERRUPTED)
        heddle_web_answer_error(&answer, HEDDLE_WEB_BUSY, "the server is ending");
    else if (status == HEDDLE_MISSING) // on this machine, not in the request
        heddle_web_answer_error(&answer, HEDDLE_WEB_BUSY, "%s", heddle_last_error());
    else if (status != HEDDLE_OK)
        heddle_web_answer_failure(&answer, status);
    else
        answer_result(checker, asked, result, where, &answer);
    heddle_check_result_free(result);
    heddle_web_finish(asked->later, &answer);
    free_wish(asked);
}

static void *work(void *context)
{
    heddle_serve_checker *checker = context;
    pthread_mutex_lock(&checker->lock);
    while (!checker->stopping || checker->first) {
        wish *asked = checker->first;
        if (!asked) {
            pthread_cond_wait(&checker->wanted, &checker->lock);
            continue;
        }
        checker->first = asked->next;
        if (!checker->first)
            checker->last = &checker->first;
        checker->waiting--;
        const bool refuse = checker->stopping;
        pthread_mutex_unlock(&checker->lock);
        finish(checker, asked, refuse);
        pthread_mutex_lock(&checker->lock);
    }
    pthread_mutex_unlock(&checker->lock);
    return NULL;
}

// --- for the others --------------------------------------------------------------------------------------------------

heddle_status heddle_serve_checker_create(heddle_serve_checker **checker)
{
    heddle_serve_checker *made = calloc(1, sizeof *made);
    *checker = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to check programs");
    made->last = &made->first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wanted, NULL);
    heddle_status status = heddle_thread_start(&made->thread, "checker", work, made);
    made->has_thread = status == HEDDLE_OK;
    if (status == HEDDLE_OK)
        *checker = made;
    else
        heddle_serve_checker_destroy(made);
    return status;
}

void heddle_serve_checker_stop(heddle_serve_checker *checker)
{
    if (!checker)
        return;
    pthread_mutex_lock(&checker->lock);
    checker->stopping = true;
    pthread_cond_signal(&checker->wanted);
    pthread_mutex_unlock(&checker->lock);
    heddle_check_interrupt();
}

void heddle_serve_checker_destroy(heddle_serve_checker *checker)
{
    if (!checker)
        return;
    heddle_serve_checker_stop(checker);
    if (checker->has_thread)
        pthread_join(checker->thread, NULL);
    for (int i = 0; i < KEPT; i++)
        free(checker->kept[i].html);
    pthread_cond_destroy(&checker->wanted);
    pthread_mutex_destroy(&checker->lock);
    free(checker);
}

// False: there is no room for it.
static bool enqueue(heddle_serve_checker *checker, wish *asked)
{
    pthread_mutex_lock(&checker->lock);
    const bool room = !checker->stopping && checker->waiting < MOST_WAITING;
    if (room) {
        *checker->last = asked;
        checker->last = &asked->next;
        checker->waiting++;
        pthread_cond_signal(&checker->wanted);
    }
    pthread_mutex_unlock(&checker->lock);
    return room;
}

void heddle_serve_checker_check(heddle_serve_checker *checker, heddle_web_later *later, const char *name,
                                const char *source)
{
    wish *asked = calloc(1, sizeof *asked);
    if (asked)
        *asked = (wish){.later = later, .name = strdup(name), .source = strdup(source)};
    if (asked && asked->name && asked->source && enqueue(checker, asked))
        return;
    heddle_web_answer answer = {0};
    heddle_web_answer_error(&answer, HEDDLE_WEB_BUSY, "too many checks wait; try again");
    heddle_web_finish(later, &answer);
    if (asked)
        free_wish(asked);
}

heddle_status heddle_serve_checker_report(heddle_serve_checker *checker, int number, char **html, size_t *size)
{
    *html = NULL;
    pthread_mutex_lock(&checker->lock);
    const report *found = &checker->kept[number > 0 ? number % KEPT : 0];
    if (number > 0 && found->number == number) {
        *size = found->size;
        *html = malloc(found->size + 1);
        if (*html)
            memcpy(*html, found->html, found->size);
    }
    pthread_mutex_unlock(&checker->lock);
    return *html ? HEDDLE_OK : heddle_fail(HEDDLE_NOT_FOUND, "there is no report of check %d any more", number);
}

uint64_t heddle_serve_checker_count(heddle_serve_checker *checker)
{
    pthread_mutex_lock(&checker->lock);
    const uint64_t count = checker->count;
    pthread_mutex_unlock(&checker->lock);
    return count;
}
