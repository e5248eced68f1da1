// Reads runs, one request after another.

#include "serve/reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/spawn.h"
#include "nn/runs.h"

enum { PATH_SIZE = 4096, MOST_WAITING = 64 };

typedef struct job {
    struct job *next;
    heddle_web_later *later;
    char name[HEDDLE_SERVE_NAME_SIZE]; // "": all runs
} job;

struct heddle_serve_reader {
    const char *runs;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t wanted;
    bool stopping;
    job *first, **last;
    int waiting;
};

// --- reading ---------------------------------------------------------------------------------------------------------

static void read_all(const char *folder, heddle_web_answer *answer)
{
    heddle_runs runs = {0};
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "runs");
    heddle_status status = heddle_runs_read(folder, &runs);
    for (int i = 0; i < runs.count; i++)
        cJSON_AddItemToArray(list, heddle_run_json(&runs.items[i], false));
    heddle_runs_free(&runs);
    if (status == HEDDLE_OK || status == HEDDLE_NOT_FOUND) { // without the folder there are no runs yet
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, json);
        return;
    }
    cJSON_Delete(json);
    heddle_web_answer_failure(answer, status);
}

static void read_one(const char *folder, const char *name, heddle_web_answer *answer)
{
    char path[PATH_SIZE];
    heddle_runs runs = {0};
    heddle_status status = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path
                               ? heddle_runs_add(name, path, &runs)
                               : heddle_fail(HEDDLE_NOT_FOUND, "path too long");
    if (status == HEDDLE_OK)
        heddle_web_answer_json(answer, HEDDLE_WEB_OK, heddle_run_json(&runs.items[0], true));
    else
        heddle_web_answer_failure(answer, status);
    heddle_runs_free(&runs);
}

// --- the thread ------------------------------------------------------------------------------------------------------

// The next request; NULL: there is none, and the end has come.
static job *take(heddle_serve_reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    while (!reader->first && !reader->stopping)
        pthread_cond_wait(&reader->wanted, &reader->lock);
    job *one = reader->first;
    if (one) {
        reader->first = one->next;
        reader->waiting--;
    }
    if (!reader->first)
        reader->last = &reader->first;
    pthread_mutex_unlock(&reader->lock);
    return one;
}

static void *work(void *context)
{
    heddle_serve_reader *reader = context;
    for (job *one = take(reader); one; one = take(reader)) {
        heddle_web_answer answer = {0};
        if (one->name[0])
            read_one(reader->runs, one->name, &answer);
        else
            read_all(reader->runs, &answer);
        heddle_web_finish(one->later, &answer);
        free(one);
    }
    return NULL;
}

heddle_status heddle_serve_reader_create(const char *runs, heddle_serve_reader **reader)
{
    heddle_serve_reader *made = calloc(1, sizeof *made);
    *reader = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to read runs");
    made->runs = runs;
    made->last = &made->first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wanted, NULL);
    heddle_status status = heddle_thread_start(&made->thread, "reader", work, made);
    made->has_thread = status == HEDDLE_OK;
    if (status == HEDDLE_OK)
        *reader = made;
    else
        heddle_serve_reader_destroy(made);
    return status;
}

void heddle_serve_reader_destroy(heddle_serve_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->stopping = true;
    pthread_cond_signal(&reader->wanted);
    pthread_mutex_unlock(&reader->lock);
    if (reader->has_thread)
        pthread_join(reader->thread, NULL);
    pthread_cond_destroy(&reader->wanted);
    pthread_mutex_destroy(&reader->lock);
    free(reader);
}

// False: too many wait.
static bool enqueue(heddle_serve_reader *reader, job *one)
{
    pthread_mutex_lock(&reader->lock);
    const bool room = reader->waiting < MOST_WAITING;
    if (room) {
        *reader->last = one;
        reader->last = &one->next;
        reader->waiting++;
        pthread_cond_signal(&reader->wanted);
    }
    pthread_mutex_unlock(&reader->lock);
    return room;
}

void heddle_serve_reader_read(heddle_serve_reader *reader, heddle_web_later *later, const char *name)
{
    heddle_web_answer answer = {0};
    job *one = calloc(1, sizeof *one);
    if (one) {
        one->later = later;
        snprintf(one->name, sizeof one->name, "%s", name ? name : "");
    }
    if (one && enqueue(reader, one))
        return;
    heddle_web_answer_error(&answer, HEDDLE_WEB_BUSY, "too many requests wait; try again");
    heddle_web_finish(later, &answer);
    free(one);
}
