// `heddle bench collectives`: the cost of collective communication between ranks, over MPI or NCCL, from a few bytes to
// many megabytes. Results are checked before and after the timing; the sums are of small integers and therefore exact.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "bench/facts.h"
#include "cli/bench.h"
#include "cli/device.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "dist/dist.h"

enum {
    SMALLEST = 8, // bytes
    GROWTH = 4,
    MEGABYTE = 1 << 20,
    CPU_LARGEST = 64, // MB
    GPU_LARGEST = 256,
    ROUNDS = 5, // the median is shown
    MOST_TIMES = 2000,
    MOST_SIZES = 24, // from 8 bytes upwards by a factor of 4: more than any memory holds
    NAME_SIZE = 64,
};
static const double ROUND_SECONDS = 0.01; // default
static const char WITHOUT_GPU[] = "`mpirun -n 4 heddle bench collectives` measures CPUs over MPI";

static const char *const names[HEDDLE_COLLECTIVES] = {"all-reduce", "broadcast", "all-gather", "reduce-scatter"};

typedef struct row {
    heddle_collective kind;
    size_t bytes; // of the whole vector: what all-gather receives, what reduce-scatter sends
    bool right;
    double seconds;
} row;

typedef struct bench {
    const heddle_cli_bench_settings *settings;
    heddle_dist *dist;
    heddle_ranks ranks;
    heddle_cli_device opened;
    heddle_device *device;   // what was opened
    heddle_device_info info; // before
    time_t began;
    heddle_stream *stream; // NULL on cpu
    float *send, *receive, *host;
    size_t room;    // bytes of each
    double seconds; // of a round
    row rows[HEDDLE_COLLECTIVES * MOST_SIZES];
    int count;
} bench;

// Bytes on the busiest link per byte of the vector, as nccl-tests defines it.
static double bus_factor(heddle_collective kind, int ranks)
{
    double others = (double)(ranks - 1) / ranks;
    return kind == HEDDLE_ALL_REDUCE ? 2 * others : kind == HEDDLE_BROADCAST ? 1 : others;
}

// Element i that rank `rank` sends: sums over all ranks are integers far below 2^24, and exact.
static float sent(size_t i, int rank)
{
    return (float)((i * 7 + (size_t)rank * 13) % 61);
}

static float expected(heddle_collective kind, size_t i, size_t part, const heddle_ranks *ranks)
{
    if (kind == HEDDLE_BROADCAST)
        return sent(i, 0);
    if (kind == HEDDLE_ALL_GATHER)
        return sent(i % part, (int)(i / part));
    size_t at = kind == HEDDLE_REDUCE_SCATTER ? (size_t)ranks->rank * part + i : i;
    float sum = 0;
    for (int rank = 0; rank < ranks->ranks; rank++)
        sum += sent(at, rank);
    return sum;
}

// Floats of the vector, and those that a rank sends and receives.
typedef struct extent {
    size_t whole, part, sent, received;
} extent;

static extent extent_of(heddle_collective kind, size_t bytes, int ranks)
{
    extent found = {.whole = bytes / sizeof(float)};
    found.part = (found.whole + (size_t)ranks - 1) / (size_t)ranks;
    bool parts = kind == HEDDLE_ALL_GATHER || kind == HEDDLE_REDUCE_SCATTER;
    if (parts)
        found.whole = found.part * (size_t)ranks;
    found.sent = kind == HEDDLE_ALL_GATHER ? found.part : found.whole;
    found.received = kind == HEDDLE_REDUCE_SCATTER ? found.part : found.whole;
    return found;
}

// --- exchanging -----------------------------------------------------------------------------------------------------

static heddle_exchange exchange_of(const bench *run, heddle_collective kind, const extent *size)
{
    bool parts = kind == HEDDLE_ALL_GATHER || kind == HEDDLE_REDUCE_SCATTER;
    return (heddle_exchange){.kind = kind,
                             .dtype = HEDDLE_F32,
                             .send = run->send,
                             .receive = run->receive,
                             .count = parts ? size->part : size->whole};
}

// Copies between host and device, which are the same memory on cpu.
static heddle_status copy(const bench *run, void *to, const void *from, size_t bytes)
{
    if (!run->stream) {
        memcpy(to, from, bytes);
        return HEDDLE_OK;
    }
    HEDDLE_TRY(heddle_copy(run->stream, to, from, bytes));
    return heddle_stream_synchronize(run->stream);
}

static heddle_status prepare(const bench *run, heddle_collective kind, const extent *size)
{
    for (size_t i = 0; i < size->sent; i++)
        run->host[i] = sent(i, run->ranks.rank);
    HEDDLE_TRY(copy(run, run->send, run->host, size->sent * sizeof(float)));
    // The root of a broadcast has its result already. Everything else is set to NAN, so that what does not arrive is
    // seen.
    bool root = kind == HEDDLE_BROADCAST && run->ranks.rank == 0;
    for (size_t i = 0; i < size->received && !root; i++)
        run->host[i] = NAN;
    return copy(run, run->receive, run->host, size->received * sizeof(float));
}

static heddle_status repeat(const bench *run, const heddle_exchange *exchange, int times)
{
    for (int i = 0; i < times; i++)
        HEDDLE_TRY(run->stream ? heddle_dist_queue(run->dist, HEDDLE_CHANNEL_HOST, exchange, run->stream)
                               : heddle_dist_exchange(run->dist, HEDDLE_CHANNEL_HOST, exchange));
    return run->stream ? heddle_stream_synchronize(run->stream) : HEDDLE_OK;
}

// Whether the results of all ranks are right; the same answer on every rank.
static heddle_status check(const bench *run, heddle_collective kind, const extent *size, bool *right)
{
    double wrong = 0;
    HEDDLE_TRY(copy(run, run->host, run->receive, size->received * sizeof(float)));
    for (size_t i = 0; i < size->received; i++)
        wrong += run->host[i] != expected(kind, i, size->part, &run->ranks);
    HEDDLE_TRY(heddle_dist_sum(run->dist, HEDDLE_CHANNEL_HOST, &wrong, 1));
    *right = wrong == 0;
    return HEDDLE_OK;
}

// --- timing ---------------------------------------------------------------------------------------------------------

// Mean time of one exchange over all ranks; the same on every rank.
static heddle_status time_round(const bench *run, const heddle_exchange *exchange, int times, double *seconds)
{
    HEDDLE_TRY(heddle_dist_barrier(run->dist));
    double begin = heddle_now();
    HEDDLE_TRY(repeat(run, exchange, times));
    *seconds = (heddle_now() - begin) / times / run->ranks.ranks;
    return heddle_dist_sum(run->dist, HEDDLE_CHANNEL_HOST, seconds, 1);
}

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static heddle_status measure(const bench *run, const heddle_exchange *exchange, double *seconds)
{
    double rounds[ROUNDS], once;
    HEDDLE_TRY(time_round(run, exchange, 1, &once));
    double wanted = run->seconds / (once > 1e-7 ? once : 1e-7);
    int times = wanted < 1 ? 1 : wanted > MOST_TIMES ? MOST_TIMES : (int)wanted;
    for (int i = 0; i < ROUNDS; i++)
        HEDDLE_TRY(time_round(run, exchange, times, &rounds[i]));
    qsort(rounds, ROUNDS, sizeof *rounds, by_size);
    *seconds = rounds[ROUNDS / 2];
    return HEDDLE_OK;
}

static heddle_status measure_row(const bench *run, heddle_collective kind, size_t bytes, row *made)
{
    extent size = extent_of(kind, bytes, run->ranks.ranks);
    heddle_exchange exchange = exchange_of(run, kind, &size);
    *made = (row){.kind = kind, .bytes = size.whole * sizeof(float)};
    HEDDLE_TRY(prepare(run, kind, &size));
    HEDDLE_TRY(repeat(run, &exchange, 1));
    HEDDLE_TRY(check(run, kind, &size, &made->right));
    if (!made->right)
        return HEDDLE_OK;
    HEDDLE_TRY(measure(run, &exchange, &made->seconds));
    return check(run, kind, &size, &made->right);
}

// --- showing --------------------------------------------------------------------------------------------------------

static double gigabytes(const row *shown, const bench *run, bool bus)
{
    double rate = (double)shown->bytes / shown->seconds / 1e9;
    return bus ? rate * bus_factor(shown->kind, run->ranks.ranks) : rate;
}

static void add_rate(heddle_table *table, bool known, double rate)
{
    if (known)
        heddle_table_cell(table, "%.3f", rate);
    else
        heddle_table_cell(table, "%s", "");
}

static heddle_status print_rows(const bench *run)
{
    static const char *const titles[] = {"size", "time", "algorithm GB/s", "bus GB/s"};
    char size[NAME_SIZE], time[NAME_SIZE];
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "collective", HEDDLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        heddle_table_column(table, titles[i], HEDDLE_RIGHT);
    bool alone = run->ranks.ranks == 1;
    for (int i = 0; i < run->count; i++) {
        const row *shown = &run->rows[i];
        heddle_table_cell(table, "%s", names[shown->kind]);
        heddle_table_cell(table, "%s", heddle_text_bytes((double)shown->bytes, size, sizeof size));
        heddle_table_cell(table, "%s", shown->right ? heddle_text_seconds(shown->seconds, time, sizeof time) : "wrong");
        add_rate(table, shown->right, gigabytes(shown, run, false));
        add_rate(table, shown->right && !alone, gigabytes(shown, run, true));
    }
    return heddle_table_finish(table, stdout);
}

static cJSON *row_json(const bench *run, const row *shown)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "collective", names[shown->kind]);
    cJSON_AddNumberToObject(json, "bytes", (double)shown->bytes);
    cJSON_AddBoolToObject(json, "right", shown->right);
    if (shown->right) {
        cJSON_AddNumberToObject(json, "microseconds", 1e6 * shown->seconds);
        cJSON_AddNumberToObject(json, "algorithm_bandwidth", gigabytes(shown, run, false));
        cJSON_AddNumberToObject(json, "bus_bandwidth", gigabytes(shown, run, true));
    }
    return json;
}

static cJSON *to_json(const bench *run)
{
    heddle_device_info now;
    char version[NAME_SIZE] = "";
    bool nccl = strcmp(heddle_dist_carrier(run->dist), "NCCL") == 0;
    if (heddle_device_describe(run->device, &now) != HEDDLE_OK)
        now = run->info;
    if (heddle_dist_describe(nccl ? "nccl" : "mpi", version, sizeof version) != HEDDLE_OK)
        version[0] = '\0';
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle bench collectives 1",
                                                       .began = run->began,
                                                       .device = &run->info,
                                                       .clock_after = now.clock,
                                                       .memory_clock_after = now.memory_clock});
    heddle_cli_device_add(&run->opened, json);
    cJSON_AddStringToObject(json, "carrier", version);
    cJSON_AddNumberToObject(json, "ranks", run->ranks.ranks);
    cJSON_AddNumberToObject(json, "local_ranks", run->ranks.local_ranks);
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (int i = 0; i < run->count; i++)
        cJSON_AddItemToArray(rows, row_json(run, &run->rows[i]));
    return json;
}

// --- the command ----------------------------------------------------------------------------------------------------

// Over MPI a waiting rank gives up by itself and says so. NCCL keeps waiting for a rank that is gone.
static char loss[2 * NAME_SIZE];

static void on_lost(void *context, int rank, const char *message)
{
    (void)context, (void)rank;
    snprintf(loss, sizeof loss, "%s", message);
}

static void on_forced(void *context)
{
    (void)context;
    fprintf(stderr, "heddle: %s\n", loss);
    _exit(HEDDLE_EXIT_FAILED);
}

static heddle_status open_device(bench *run, const heddle_cli_bench_settings *settings)
{
    int threads;
    HEDDLE_TRY(heddle_dist_threads(run->dist, &threads));
    // All ranks together: a rank without a device must not leave the others waiting for it in NCCL.
    HEDDLE_TRY(heddle_cli_device_open_ranks(run->dist, settings->device, threads, WITHOUT_GPU, &run->opened));
    run->device = run->opened.device;
    if (run->opened.kind == HEDDLE_SIM)
        return heddle_fail(HEDDLE_INVALID, "the simulated GPU does not report timings; use --device cpu or cuda");
    if (settings->dist == HEDDLE_DIST_NCCL && run->opened.kind != HEDDLE_CUDA)
        return heddle_fail(HEDDLE_INVALID, "--dist nccl needs GPUs: use --device cuda, or --dist mpi on CPUs");
    HEDDLE_TRY(heddle_dist_use(run->dist, run->device));
    HEDDLE_TRY(heddle_device_describe(run->device, &run->info));
    if (run->opened.kind == HEDDLE_CUDA && strcmp(heddle_dist_carrier(run->dist), "NCCL") != 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "collectives between GPUs need NCCL: use --dist nccl, or --device cpu");
    return HEDDLE_OK;
}

static heddle_status open_all(bench *run, const heddle_cli_bench_settings *settings)
{
    static const heddle_dist_listener listener = {.lost = on_lost, .forced = on_forced};
    HEDDLE_TRY(heddle_dist_open((heddle_dist_choice)settings->dist, &listener, &run->dist));
    run->ranks = run->dist ? *heddle_dist_ranks(run->dist) : run->ranks;
    // One rank over NCCL still shows the cost of a call; over MPI it would send nothing.
    if (!run->dist || (run->ranks.ranks == 1 && settings->dist != HEDDLE_DIST_NCCL))
        return heddle_fail(HEDDLE_INVALID,
                           "collectives need several ranks: run `mpirun -n 4 heddle bench collectives`, or add --dist "
                           "nccl --device cuda for the cost of a call on one GPU");
    run->seconds = settings->seconds > 0 ? settings->seconds : ROUND_SECONDS;
    HEDDLE_TRY(open_device(run, settings));
    const bool gpu = run->opened.kind == HEDDLE_CUDA;
    if (gpu)
        HEDDLE_TRY(heddle_stream_create(run->device, 0, &run->stream));
    double largest = settings->largest > 0 ? settings->largest : gpu ? GPU_LARGEST : CPU_LARGEST;
    // A rank's part is rounded up to whole floats.
    run->room = (size_t)(largest * MEGABYTE) + (size_t)run->ranks.ranks * sizeof(float);
    HEDDLE_TRY(heddle_alloc(run->device, run->room, (void **)&run->send));
    HEDDLE_TRY(heddle_alloc(run->device, run->room, (void **)&run->receive));
    run->host = malloc(run->room);
    return run->host ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for %zu bytes", run->room);
}

static heddle_status bench_one(bench *run, heddle_collective kind, size_t bytes)
{
    heddle_cli_guard_away(NULL, true);
    heddle_status status = measure_row(run, kind, bytes, &run->rows[run->count]);
    heddle_cli_guard_away(NULL, false);
    if (status == HEDDLE_OK && run->ranks.rank == 0)
        heddle_cli_json_event(&run->settings->json, "measured", row_json(run, &run->rows[run->count]));
    run->count += status == HEDDLE_OK;
    return status;
}

static heddle_status bench_all(bench *run)
{
    size_t largest = run->room - (size_t)run->ranks.ranks * sizeof(float);
    for (int kind = 0; kind < HEDDLE_COLLECTIVES; kind++) {
        for (size_t bytes = SMALLEST; bytes < largest; bytes *= GROWTH)
            HEDDLE_TRY(bench_one(run, (heddle_collective)kind, bytes));
        HEDDLE_TRY(bench_one(run, (heddle_collective)kind, largest));
    }
    return HEDDLE_OK;
}

static void close_all(bench *run)
{
    free(run->host);
    if (run->device) {
        heddle_free(run->device, run->send);
        heddle_free(run->device, run->receive);
        if (run->stream)
            heddle_stream_destroy(run->stream);
        heddle_cli_device_close(&run->opened);
    }
}

static heddle_status show(const bench *run)
{
    if (run->ranks.rank > 0)
        return HEDDLE_OK;
    if (!run->settings->json.print) {
        heddle_cli_device_print(&run->opened, stdout);
        printf("%d rank%s over %s\n", run->ranks.ranks, run->ranks.ranks == 1 ? "" : "s",
               heddle_dist_carrier(run->dist));
        if (run->ranks.ranks == 1)
            printf("one rank: no link is used; the times are the cost of a call and a copy on the GPU\n");
        HEDDLE_TRY(print_rows(run));
    }
    return heddle_cli_json_result(&run->settings->json, to_json(run));
}

static void take_over(void *context)
{
    show(context);
    if (((const bench *)context)->ranks.rank == 0)
        heddle_cli_fail(heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

int heddle_cli_bench_collectives(const heddle_cli_bench_settings *settings)
{
    bench run = {.settings = settings, .ranks = {.ranks = 1}, .began = time(NULL)};
    heddle_status status = heddle_cli_can_write(settings->json.file);
    if (status != HEDDLE_OK) // the same on all ranks
        return heddle_cli_fail_once(status);
    status = open_all(&run, settings);
    status = heddle_dist_agree(run.dist, status);
    if (status == HEDDLE_OK) {
        heddle_cli_guard_begin(take_over, &run);
        status = bench_all(&run);
        heddle_cli_guard_end();
    }
    if (status == HEDDLE_OK)
        status = show(&run);
    bool wrong = false;
    for (int i = 0; i < run.count; i++)
        wrong |= !run.rows[i].right;
    int exit_code = wrong ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_OK;
    if (status != HEDDLE_OK)
        exit_code = heddle_dist_reports(run.dist) ? heddle_cli_fail(status) : heddle_cli_exit_code(status);
    heddle_dist_close(run.dist, status != HEDDLE_OK);
    close_all(&run);
    return exit_code;
}
