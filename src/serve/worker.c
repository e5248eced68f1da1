// A queue and the thread that empties it.

#include "serve/worker.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/spawn.h"

typedef struct job {
    struct job *next;
    heddle_web_later *later;
    heddle_web_request request;
    heddle_serve_work *work;
} job;

struct heddle_serve_worker {
    void *context;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // of what follows
    pthread_cond_t wanted;
    bool stopping, working;
    job *first, **last;
    int waiting, most;
};

// The next request; NULL: there is none, and the end has come.
static job *take(heddle_serve_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->working = false;
    while (!worker->first && !worker->stopping)
        pthread_cond_wait(&worker->wanted, &worker->lock);
    job *one = worker->first;
    if (one) {
        worker->first = one->next;
        worker->waiting--;
        worker->working = true;
    }
    if (!worker->first)
        worker->last = &worker->first;
    pthread_mutex_unlock(&worker->lock);
    return one;
}

static void *run(void *context)
{
    heddle_serve_worker *worker = context;
    for (job *one = take(worker); one; one = take(worker)) {
        one->work(worker->context, &one->request, one->later);
        free(one);
    }
    return NULL;
}

heddle_status heddle_serve_worker_create(const char *name, void *context, int most, heddle_serve_worker **worker)
{
    heddle_serve_worker *made = calloc(1, sizeof *made);
    *worker = NULL;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a thread");
    made->context = context;
    made->most = most;
    made->last = &made->first;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->wanted, NULL);
    heddle_status status = heddle_thread_start(&made->thread, name, run, made);
    made->has_thread = status == HEDDLE_OK;
    if (status == HEDDLE_OK)
        *worker = made;
    else
        heddle_serve_worker_destroy(made);
    return status;
}

void heddle_serve_worker_destroy(heddle_serve_worker *worker)
{
    if (!worker)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->stopping = true;
    pthread_cond_signal(&worker->wanted);
    pthread_mutex_unlock(&worker->lock);
    if (worker->has_thread)
        pthread_join(worker->thread, NULL);
    pthread_cond_destroy(&worker->wanted);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

// False: too many wait.
static bool enqueue(heddle_serve_worker *worker, job *one)
{
    pthread_mutex_lock(&worker->lock);
    const bool room = worker->waiting + worker->working < worker->most;
    if (room) {
        *worker->last = one;
        worker->last = &one->next;
        worker->waiting++;
        pthread_cond_signal(&worker->wanted);
    }
    pthread_mutex_unlock(&worker->lock);
    return room;
}

bool heddle_serve_worker_is_busy(heddle_serve_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    const bool busy = worker->working || worker->waiting > 0;
    pthread_mutex_unlock(&worker->lock);
    return busy;
}

void heddle_serve_worker_finish(heddle_serve_worker *worker, heddle_web_later *later, heddle_web_answer *answer)
{
    pthread_mutex_lock(&worker->lock);
    worker->working = false;
    pthread_mutex_unlock(&worker->lock);
    heddle_web_finish(later, answer);
}

void heddle_serve_worker_give(heddle_serve_worker *worker, const heddle_web_request *request, heddle_serve_work *work,
                              heddle_web_answer *answer)
{
    heddle_web_later *later = heddle_web_defer(request);
    if (!later) {
        heddle_web_answer_error(answer, HEDDLE_WEB_BUSY, "the server is ending");
        return;
    }
    job *one = calloc(1, sizeof *one);
    if (one)
        *one = (job){.later = later, .request = *request, .work = work};
    if (one && enqueue(worker, one))
        return;
    heddle_web_answer full = {0};
    heddle_web_answer_error(&full, HEDDLE_WEB_BUSY, "too many requests wait; try again");
    heddle_web_finish(later, &full);
    free(one);
}
