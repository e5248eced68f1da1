// Opens what the page is made of, in order, and closes it in the other order.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/log.h"
#include "nn/runs.h"
#include "serve/parts.h"

enum {
    MOST_REQUESTS = 50000,   // a second: programs that predict send many
    MOST_CONNECTIONS = 1200, // pages that only listen stay connected
    MOST_WAITING = 1024,     // requests that read something
};

static const long tick = 100000000; // nanoseconds

static void tell(void *context, const char *event, cJSON *json)
{
    heddle_serve *serve = context;
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    pthread_mutex_lock(&serve->lock);
    if (text && serve->server)
        heddle_web_send(serve->server, event, text);
    pthread_mutex_unlock(&serve->lock);
    free(text);
}

heddle_status heddle_serve_find_checkpoint(const char *folder, char path[HEDDLE_SERVE_PATH_SIZE])
{
    static const char *const names[] = {HEDDLE_RUN_BEST, HEDDLE_RUN_LAST};
    struct stat about;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (snprintf(path, HEDDLE_SERVE_PATH_SIZE, "%s/%s", folder, names[i]) < HEDDLE_SERVE_PATH_SIZE &&
            stat(path, &about) == 0 && S_ISREG(about.st_mode)) // of a pipe we might wait for ever
            return HEDDLE_OK;
    return heddle_fail(HEDDLE_NOT_FOUND, "%s has neither %s nor %s: give a checkpoint or the folder of a run", folder,
                       HEDDLE_RUN_BEST, HEDDLE_RUN_LAST);
}

// Of the newest run that has saved; none is fine.
static void find_newest(heddle_serve *serve)
{
    heddle_runs runs = {0};
    if (heddle_runs_read(serve->settings.runs, &runs) != HEDDLE_OK)
        return;
    for (int i = 0; i < runs.count; i++)
        if (heddle_serve_find_checkpoint(runs.items[i].folder, serve->checkpoint) == HEDDLE_OK)
            break;
        else
            serve->checkpoint[0] = '\0';
    heddle_runs_free(&runs);
}

static heddle_status choose_checkpoint(heddle_serve *serve)
{
    const char *given = serve->settings.checkpoint;
    if (!given) {
        find_newest(serve);
        return HEDDLE_OK;
    }
    if (heddle_folder_exists(given))
        return heddle_serve_find_checkpoint(given, serve->checkpoint);
    if (snprintf(serve->checkpoint, sizeof serve->checkpoint, "%s", given) >= HEDDLE_SERVE_PATH_SIZE)
        return heddle_fail(HEDDLE_NOT_FOUND, "%.40s...: path too long", given);
    return HEDDLE_OK;
}

static heddle_status open_predictor(heddle_serve *serve)
{
    const heddle_serve_settings *settings = &serve->settings;
    const heddle_serve_predictor_settings how = {.device = settings->device,
                                                 .threads = settings->threads,
                                                 .folder = settings->folder,
                                                 .tell = tell,
                                                 .context = serve};
    const char *checkpoint = serve->checkpoint[0] ? serve->checkpoint : NULL;
    heddle_status status = heddle_serve_predictor_create(&how, checkpoint, &serve->predictor);
    if (status == HEDDLE_OK || settings->checkpoint || !checkpoint)
        return status;
    heddle_log(HEDDLE_LOG_WARN, "%s is left out: %s", checkpoint, heddle_last_error());
    serve->checkpoint[0] = '\0';
    return heddle_serve_predictor_create(&how, NULL, &serve->predictor);
}

// From now on the pages are told; NULL: no longer. Returns what was there.
static heddle_web_server *set_server(heddle_serve *serve, heddle_web_server *server)
{
    pthread_mutex_lock(&serve->lock);
    heddle_web_server *before = serve->server;
    serve->server = server;
    pthread_mutex_unlock(&serve->lock);
    return before;
}

static heddle_status open_all(heddle_serve *serve)
{
    const heddle_serve_settings *settings = &serve->settings;
    heddle_web_server *server = NULL;
    HEDDLE_TRY(choose_checkpoint(serve));
    HEDDLE_TRY(open_predictor(serve));
    HEDDLE_TRY(heddle_serve_training_create(&(heddle_serve_training_settings){.device = settings->device,
                                                                              .threads = settings->threads,
                                                                              .folder = settings->folder,
                                                                              .runs = settings->runs,
                                                                              .tell = tell,
                                                                              .context = serve,
                                                                              .predictor = serve->predictor},
                                            &serve->training));
    HEDDLE_TRY(heddle_serve_checker_create(&serve->checker));
    HEDDLE_TRY(heddle_serve_worker_create("images", serve, MOST_WAITING, &serve->images));
    HEDDLE_TRY(heddle_serve_worker_create("runs", serve, MOST_WAITING, &serve->runs));
    HEDDLE_TRY(heddle_serve_worker_create("bench", serve, 1, &serve->bench));
    HEDDLE_TRY(heddle_web_start(&(heddle_web_settings){.address = settings->address,
                                                       .port = settings->port,
                                                       .routes = heddle_serve_routes,
                                                       .context = serve,
                                                       .most_connections = MOST_CONNECTIONS,
                                                       .most_requests = MOST_REQUESTS},
                                &server));
    set_server(serve, server);
    return HEDDLE_OK;
}

heddle_status heddle_serve_open(const heddle_serve_settings *settings, heddle_serve **serve)
{
    heddle_serve *made = calloc(1, sizeof *made);
    *serve = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the page");
    made->settings = *settings;
    pthread_mutex_init(&made->lock, NULL);
    heddle_status status = open_all(made);
    if (status == HEDDLE_OK)
        *serve = made;
    else
        heddle_serve_close(made);
    return status;
}

// The threads that finish requests end after the server, which waits for them.
void heddle_serve_close(heddle_serve *serve)
{
    if (!serve)
        return;
    serve->ending = 1;
    heddle_serve_checker_stop(serve->checker);
    heddle_web_stop(set_server(serve, NULL));
    heddle_serve_training_destroy(serve->training);
    heddle_serve_checker_destroy(serve->checker);
    heddle_serve_worker_destroy(serve->images);
    heddle_serve_worker_destroy(serve->runs);
    heddle_serve_worker_destroy(serve->bench);
    heddle_serve_predictor_destroy(serve->predictor);
    pthread_mutex_destroy(&serve->lock);
    free(serve);
}

const char *heddle_serve_url(const heddle_serve *serve)
{
    return heddle_web_url(serve->server);
}

const char *heddle_serve_checkpoint(const heddle_serve *serve)
{
    return serve->checkpoint;
}

void heddle_serve_run(heddle_serve *serve, const volatile sig_atomic_t *stop)
{
    (void)serve; // its threads do the work
    while (!*stop)
        nanosleep(&(struct timespec){.tv_nsec = tick}, NULL);
}
