// Opens a run's processes from the launcher's environment, and exchanges on the host: started, then asked for until
// done or until the watch says that somebody is gone.

#include "dist/dist.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "dist/inside.h"

const char *const heddle_dist_choice_names[] = {"auto", "off", "mpi", "nccl", NULL};

// --- the launcher ---------------------------------------------------------------------------------------------------

// A number from the environment; 0: not set.
static int environment_number(const char *name)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : 0;
}

int heddle_dist_launched(void)
{
    // Open MPI's mpirun and PRRTE, MPICH's and Intel's. Slurm says a job's tasks also to a batch script, which is one
    // process: only what srun starts has a step's task number and an MPI plugin.
    static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    for (int i = 0; launchers[i]; i++)
        if (environment_number(launchers[i]) > 0)
            return environment_number(launchers[i]);
    bool step = getenv("SLURM_PROCID") && (getenv("PMIX_RANK") || getenv("PMI_RANK") || getenv("PMI2_RANK"));
    int tasks = step ? environment_number("SLURM_STEP_NUM_TASKS") : 0;
    if (step && tasks == 0)
        tasks = environment_number("SLURM_NTASKS");
    return tasks > 0 ? tasks : 1;
}

bool heddle_dist_is_first(void)
{
    static const char *const places[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMI2_RANK", "PMIX_RANK", NULL};
    for (int i = 0; places[i] && heddle_dist_launched() > 1; i++)
        if (getenv(places[i]))
            return environment_number(places[i]) == 0;
    return true;
}

// --- waiting --------------------------------------------------------------------------------------------------------

static heddle_status lost_failure(const heddle_dist *dist, int rank)
{
    char name[128];
    heddle_watch_name(dist->watch, rank, name, sizeof name);
    return heddle_fail(HEDDLE_DEVICE, "%s", name);
}

heddle_status heddle_dist_check(heddle_dist *dist)
{
    int lost = dist->watch ? heddle_watch_lost(dist->watch) : -1;
    if (lost >= 0)
        return lost_failure(dist, lost);
    heddle_status failure = (heddle_status)atomic_load(&dist->failure);
    return failure == HEDDLE_OK ? HEDDLE_OK : heddle_fail(failure, "%s", dist->message);
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// By default the kernel rounds sleeps up by 50 µs, a good part of an exchange.
static void sharpen_sleep(void)
{
    static _Thread_local bool sharp;
    if (!sharp)
        prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
    sharp = true;
}

// MPI moves data only while it is polled, so frequent polling makes an exchange fast. On a core that is shared with
// computing threads, or with the rank that is waited for, polling delays it.
static void back_off(const heddle_dist *dist, double waited)
{
    static const double spin = 30e-6, yield = 2e-3;
    static const struct timespec nap = {.tv_nsec = 30000};
    if (waited < spin && !dist->crowded) {
        for (int i = 0; i < 16; i++)
            pause_briefly();
    } else if (waited < yield) {
        sched_yield();
    } else {
        sharpen_sleep();
        nanosleep(&nap, NULL);
    }
}

static heddle_status test(heddle_dist *dist, heddle_channel channel, bool *done)
{
    pthread_mutex_lock(&dist->lock);
    heddle_status status = dist->mpi->test(channel, done);
    pthread_mutex_unlock(&dist->lock);
    return status;
}

heddle_status heddle_dist_exchange(heddle_dist *dist, heddle_channel channel, const heddle_exchange *exchange)
{
    if (!dist->mpi) { // alone: what is received is what was sent
        if (exchange->send != exchange->receive)
            memcpy(exchange->receive, exchange->send, exchange->count * heddle_dtype_size(exchange->dtype));
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_dist_check(dist));
    pthread_mutex_lock(&dist->lock);
    heddle_status status = dist->mpi->start(channel, exchange);
    pthread_mutex_unlock(&dist->lock);
    bool done = false;
    double begin = heddle_now();
    while (status == HEDDLE_OK) {
        status = test(dist, channel, &done);
        if (done)
            break;
        if (status == HEDDLE_OK)
            status = heddle_dist_check(dist);
        if (status == HEDDLE_OK)
            back_off(dist, heddle_now() - begin);
    }
    return status;
}

heddle_status heddle_dist_sum(heddle_dist *dist, heddle_channel channel, double *values, int count)
{
    heddle_exchange exchange = {.kind = HEDDLE_ALL_REDUCE, .dtype = HEDDLE_F64, .count = (size_t)count};
    void *place = values;
    exchange.send = exchange.receive = place;
    return heddle_dist_exchange(dist, channel, &exchange);
}

heddle_status heddle_dist_barrier(heddle_dist *dist)
{
    double nothing = 0;
    return heddle_dist_sum(dist, HEDDLE_CHANNEL_HOST, &nothing, 1);
}

static heddle_status bring(heddle_dist *dist, heddle_collective kind, void *send, void *receive, size_t bytes)
{
    heddle_exchange exchange = {.kind = kind, .dtype = HEDDLE_U8, .send = send, .receive = receive, .count = bytes};
    return heddle_dist_exchange(dist, HEDDLE_CHANNEL_HOST, &exchange);
}

heddle_status heddle_dist_agree(heddle_dist *dist, heddle_status status)
{
    if (!dist || !dist->mpi)
        return status;
    char message[sizeof dist->message];
    snprintf(message, sizeof message, "%s", heddle_last_error());
    // How many failed, and the sum of their ranks, which names a single one.
    double values[2] = {status != HEDDLE_OK, status != HEDDLE_OK ? dist->ranks.rank : 0};
    HEDDLE_TRY(heddle_dist_sum(dist, HEDDLE_CHANNEL_HOST, values, 2));
    dist->agreed |= values[0] > 0;
    dist->all_failed = (int)values[0] == dist->ranks.ranks;
    if (status != HEDDLE_OK)
        return heddle_fail(status, "%s", message);
    if (values[0] == 1)
        return heddle_fail(HEDDLE_DEVICE, "rank %d failed, its message says why; rank %d stops with it", (int)values[1],
                           dist->ranks.rank);
    if (values[0] > 1)
        return heddle_fail(HEDDLE_DEVICE, "%d ranks failed, their messages say why; rank %d stops with them",
                           (int)values[0], dist->ranks.rank);
    return HEDDLE_OK;
}

bool heddle_dist_reports(const heddle_dist *dist)
{
    return !dist || !dist->all_failed || dist->ranks.rank == 0;
}

// --- opening and closing --------------------------------------------------------------------------------------------

static heddle_status begin_watch(heddle_dist *dist, const heddle_dist_listener *listener)
{
    heddle_member own = {.pid = (int)getpid()}, *members = calloc((size_t)dist->ranks.ranks, sizeof *members);
    heddle_watch_place place = {0};
    if (!members)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d ranks", dist->ranks.ranks);
    gethostname(own.host, sizeof own.host - 1);
    heddle_status status = heddle_watch_create(&dist->ranks, listener, &place, &dist->watch);
    status = heddle_dist_agree(dist, status);
    if (status == HEDDLE_OK)
        status = bring(dist, HEDDLE_BROADCAST, &place, &place, sizeof place);
    if (status == HEDDLE_OK)
        status = bring(dist, HEDDLE_ALL_GATHER, &own, members, sizeof own);
    if (status == HEDDLE_OK)
        status = heddle_watch_begin(dist->watch, &place, members);
    free(members);
    return heddle_dist_agree(dist, status);
}

heddle_status heddle_dist_threads(heddle_dist *dist, int *threads)
{
    typedef struct seat {
        char host[HEDDLE_WATCH_HOST];
        cpu_set_t cores;
    } seat;
    seat own = {0}, *all = calloc((size_t)dist->ranks.ranks, sizeof *all);
    if (!all)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %d ranks", dist->ranks.ranks);
    gethostname(own.host, sizeof own.host - 1);
    sched_getaffinity(0, sizeof own.cores, &own.cores);
    heddle_status status = bring(dist, HEDDLE_ALL_GATHER, &own, all, sizeof own);
    int sharing = 0;
    for (int i = 0; i < dist->ranks.ranks && status == HEDDLE_OK; i++)
        sharing += strcmp(all[i].host, own.host) == 0 && CPU_EQUAL(&all[i].cores, &own.cores);
    free(all);
    int cores = heddle_usable_cores();
    *threads = sharing > 0 && cores / sharing > 1 ? cores / sharing : 1;
    dist->crowded = sharing > cores;
    return status;
}

static heddle_status open_mpi(heddle_dist *dist, const heddle_dist_listener *listener)
{
    HEDDLE_TRY(heddle_engine_load("mpi", &dist->mpi));
    heddle_status status = dist->mpi->open(&dist->ranks);
    if (status != HEDDLE_OK) {
        dist->mpi = NULL; // nothing to close
        return status;
    }
    return dist->ranks.ranks > 1 ? begin_watch(dist, listener) : HEDDLE_OK;
}

heddle_status heddle_dist_open(heddle_dist_choice choice, const heddle_dist_listener *listener, heddle_dist **dist)
{
    int launched = heddle_dist_launched();
    *dist = NULL;
    if (choice == HEDDLE_DIST_OFF || (choice == HEDDLE_DIST_AUTO && launched == 1))
        return HEDDLE_OK;
    heddle_dist *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a group of processes");
    pthread_mutex_init(&made->lock, NULL);
    made->choice = choice;
    made->ranks = (heddle_ranks){.ranks = 1, .local_ranks = 1};
    // One process alone needs no MPI to have NCCL.
    bool alone = choice == HEDDLE_DIST_NCCL && launched == 1;
    heddle_status status = alone ? HEDDLE_OK : open_mpi(made, listener);
    if (status == HEDDLE_MISSING && launched > 1)
        status = heddle_fail_within(status, "launched as one of %d ranks (--dist off runs each by itself)", launched);
    if (status != HEDDLE_OK) {
        char message[sizeof made->message];
        snprintf(message, sizeof message, "%s", heddle_last_error());
        heddle_dist_close(made, true);
        return heddle_fail(status, "%s", message);
    }
    *dist = made;
    return HEDDLE_OK;
}

void heddle_dist_close(heddle_dist *dist, bool failed)
{
    if (!dist)
        return;
    bool whole = (!failed || dist->agreed) && heddle_dist_check(dist) == HEDDLE_OK;
    if (dist->nccl && whole)
        dist->nccl->leave();
    if (whole) // so that no rank that is still working takes a goodbye for a loss
        whole = heddle_dist_barrier(dist) == HEDDLE_OK;
    if (dist->watch)
        heddle_watch_end(dist->watch, !whole);
    // MPI_Finalize waits for all ranks: forever if one is gone.
    if (dist->mpi && whole)
        dist->mpi->close();
    pthread_mutex_destroy(&dist->lock);
    free(dist);
}

const heddle_ranks *heddle_dist_ranks(const heddle_dist *dist)
{
    return &dist->ranks;
}

heddle_status heddle_dist_describe(const char *module, char *text, size_t size)
{
    const heddle_engine *engine;
    HEDDLE_TRY(heddle_engine_load(module, &engine));
    snprintf(text, size, "%s", engine->describe());
    return HEDDLE_OK;
}
