// `heddle bench train` and `heddle bench infer`: how fast a whole network trains and predicts on this machine, in one
// table from the first kernel to the fused step. What is measured is the trainer itself, through bench/rate.

#include "cli/bench_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/model.h"
#include "cli/precision.h"
#include "data/noise.h"
#include "data/owned.h"
#include "data/synth.h"
#include "data/synth_draw.h"
#include "heddle/heddle.h"
#include "nn/gradients.h"

// A round on a GPU is short; all rounds together have at least a hundred steps.
static const double gpu_seconds = 0.2, cpu_seconds = 1;
enum { GPU_STEPS = 100, GPU_WARM_UP = 20, CPU_WARM_UP = 5, NOTE_SIZE = 64 };

// A training run is reported only if its final loss is below this; guessing one class of ten gives 2.3.
// peers/train_gpu.py requires the same of PyTorch and JAX.
static const double LEARNED = 1.5;
static const double NOTICEABLE = 0.2; // spread of the rounds that gets a warning
// Steps after which the loss is far below that with any batch size that can learn. With 3 images per batch, batchnorm
// keeps cnn from learning at this learning rate; with 8 it needs about 200 steps, with 64 only 40.
static const struct learner {
    const char *model;
    int steps;
} learners[] = {{"cnn", 100}, {"mlp", 300}};
enum {
    LEARNING_BATCH = 8,
    LEARNING_IMAGES = 4096,
    LEARNING_SIZE = 28,
    MOST_BYTES = 256 << 20, // of generated images: more take longer to make than to measure with
};

// Everything that rows are measured with.
typedef struct bench_run {
    heddle_cli_network_bench *bench;
    heddle_device *device, *cpu; // the same if the CPU is what is measured
    heddle_dataset *dataset;
    bool known; // how fast the dataset is learnt
    heddle_model *model;
} bench_run;

// --- measuring ------------------------------------------------------------------------------------------------------

// Whether it is known how fast cnn and mlp learn these images.
static bool is_known(const heddle_dataset *dataset)
{
    static const char *const known[] = {"mnist", "fashion", "synth"};
    bool named = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        named |= strcmp(dataset->name, known[i]) == 0;
    return named && dataset->height == LEARNING_SIZE;
}

// Steps after which a row must have learnt; 0: not required, because the speed of learning is not known.
static int steps_to_learn(const bench_run *run, int batch)
{
    if (!run->known || batch < LEARNING_BATCH)
        return 0;
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
        if (strcmp(run->bench->settings->model, learners[i].model) == 0) {
            int steps = (LEARNING_IMAGES + batch - 1) / batch;
            return steps > learners[i].steps ? steps : learners[i].steps;
        }
    return 0;
}

static void measure(const bench_run *run, heddle_cli_network_row *row)
{
    const heddle_cli_bench_settings *settings = run->bench->settings;
    bool on_cpu = row->on_cpu || run->bench->info.kind == HEDDLE_CPU;
    bool real_gpu = !on_cpu && run->bench->info.kind == HEDDLE_CUDA;
    heddle_rate_options how = {
        .batch = row->batch,
        .kernels = row->kernels,
        .arithmetic = row->arithmetic,
        .data = on_cpu ? HEDDLE_DATA_AUTO : (heddle_data_place)settings->data_place,
        .unordered = settings->unordered,
        .seconds = settings->seconds > 0 ? settings->seconds
                   : real_gpu            ? gpu_seconds
                                         : cpu_seconds,
        .steps = real_gpu ? GPU_STEPS / settings->rounds + 1 : 1,
        .rounds = settings->rounds,
        .warm_up = real_gpu ? GPU_WARM_UP : CPU_WARM_UP,
        .sustained = settings->sustained,
        .loss_steps = steps_to_learn(run, row->batch),
    };
    how.loss_below = how.loss_steps ? LEARNED : 0;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "batch %d, %s, %s kernels, %s ...\n", row->batch, on_cpu ? "cpu" : run->bench->info.name,
                heddle_tier_names[row->kernels], heddle_cli_precisions[row->arithmetic]);
    heddle_device *device = row->on_cpu ? run->cpu : run->device;
    bool train = strcmp(run->bench->job, "train") == 0;
    heddle_cli_guard_away(NULL, true);
    row->status = train ? heddle_rate_train(device, run->model, run->dataset, &how, &row->rate)
                        : heddle_rate_infer(device, run->model, run->dataset, &how, &row->rate);
    heddle_cli_guard_away(NULL, false);
    row->measured = row->status == HEDDLE_OK;
    if (row->measured)
        row->arithmetic = row->rate.arithmetic;
    if (!row->measured)
        snprintf(row->message, sizeof row->message, "%s", heddle_last_error());
    else if (isatty(STDERR_FILENO))
        fprintf(stderr, "    %.1f µs per %s\n", 1000 * row->rate.step_milliseconds, train ? "step" : "batch");
}

// --- the table ------------------------------------------------------------------------------------------------------

static void start_table(heddle_table *table, const heddle_cli_network_bench *bench)
{
    heddle_table_column(table, "batch", HEDDLE_RIGHT);
    heddle_table_column(table, "on", HEDDLE_LEFT);
    heddle_table_column(table, "kernels", HEDDLE_LEFT);
    heddle_table_column(table, "precision", HEDDLE_LEFT);
    heddle_table_column(table, strcmp(bench->job, "infer") == 0 ? "µs per batch" : "µs per step", HEDDLE_RIGHT);
    heddle_table_column(table, "±", HEDDLE_RIGHT);
    heddle_table_column(table, "images/s", HEDDLE_RIGHT);
    if (bench->settings->sustained > 0)
        heddle_table_column(table, "sustained µs", HEDDLE_RIGHT);
    heddle_table_column(table, "× first", HEDDLE_RIGHT);
    if (bench->peers)
        heddle_table_column(table, "× fastest peer", HEDDLE_RIGHT);
    heddle_table_column(table, "", HEDDLE_LEFT);
}

static void add_ratio(heddle_table *table, double ratio)
{
    if (isfinite(ratio))
        heddle_table_cell(table, "%.2f", ratio);
    else
        heddle_table_cell(table, "%s", "");
}

// `spread` is a share of the time; NAN: it is not known.
static void add_times(heddle_table *table, double microseconds, double spread, int batch)
{
    if (isfinite(microseconds))
        heddle_table_cell(table, "%.1f", microseconds);
    else
        heddle_table_cell(table, "–");
    if (isfinite(spread))
        heddle_table_cell(table, "%.1f%%", 100 * spread);
    else
        heddle_table_cell(table, "–");
    if (isfinite(microseconds))
        heddle_table_cell(table, "%.0f", 1e6 * batch / microseconds);
    else
        heddle_table_cell(table, "–");
}

// ±: half the distance between the fastest and the slowest round, as a share of the median.
static double spread_of(const heddle_cli_network_row *row)
{
    const heddle_rate *rate = &row->rate;
    return row->measured ? (1 / rate->least - 1 / rate->most) / 2 * rate->images_per_second : NAN;
}

static double peer_spread(const cJSON *peer)
{
    const double low = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(peer, "low"));
    const double high = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(peer, "high"));
    return (high - low) / 2 / cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(peer, "microseconds"));
}

static void add_sustained(heddle_table *table, double microseconds)
{
    if (isfinite(microseconds))
        heddle_table_cell(table, "%.1f", microseconds);
    else
        heddle_table_cell(table, "–");
}

// Which peer it is compared with, that it was not computed as asked for, or why it has no figure.
static void add_note(heddle_table *table, const heddle_cli_network_bench *bench, const heddle_cli_network_row *row)
{
    const cJSON *peer = row->measured ? heddle_cli_network_fastest(bench, row) : NULL;
    char other[NOTE_SIZE] = "";
    if (row->asked != row->arithmetic)
        snprintf(other, sizeof other, "%snot %s: no such kernels", peer ? "; " : "", heddle_cli_precisions[row->asked]);
    if (peer)
        heddle_table_cell(table, "%s, %s%s", heddle_cli_network_framework(peer), heddle_cli_network_text(peer, "mode"),
                          other);
    else
        heddle_table_cell(table, "%s%s", row->message, other);
}

static void add_rows(heddle_table *table, const heddle_cli_network_bench *bench, int batch)
{
    double first = NAN;
    for (int i = 0; i < bench->row_count; i++) {
        const heddle_cli_network_row *row = &bench->rows[i];
        if (row->batch != batch)
            continue;
        double time = row->measured ? 1000 * row->rate.step_milliseconds : NAN;
        first = isnan(first) ? time : first;
        heddle_table_cell(table, "%d", batch);
        heddle_table_cell(table, "%s", row->on_cpu ? "cpu" : heddle_device_kind_name(bench->info.kind));
        heddle_table_cell(table, "%s", heddle_tier_names[row->kernels]);
        heddle_table_cell(table, "%s", heddle_cli_precisions[row->arithmetic]);
        add_times(table, time, spread_of(row), batch);
        if (bench->settings->sustained > 0)
            add_sustained(table, row->measured ? 1e6 * batch / row->rate.sustained : NAN);
        add_ratio(table, first / time);
        if (bench->peers)
            add_ratio(table, row->measured ? heddle_cli_network_speedup(bench, row) : NAN);
        add_note(table, bench, row);
    }
}

// A framework that has no figure at a batch size gets one row, with the reason of its first mode.
static bool is_told(const cJSON *rows, const cJSON *row)
{
    const cJSON *other;
    const char *framework = heddle_cli_network_text(row, "framework");
    double batch = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, "batch"));
    bool before = true;
    cJSON_ArrayForEach(other, rows)
    {
        before = before && other != row;
        bool same = strcmp(heddle_cli_network_text(other, "framework"), framework) == 0 &&
                    cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(other, "batch")) == batch;
        if (same && (before || cJSON_HasObjectItem(other, "microseconds")))
            return true;
    }
    return false;
}

static void add_peers(heddle_table *table, const heddle_cli_network_bench *bench, int batch)
{
    const cJSON *row, *rows = cJSON_GetObjectItemCaseSensitive(bench->peers, "results");
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *of = cJSON_GetObjectItemCaseSensitive(row, "batch");
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(row, "microseconds");
        bool timed = cJSON_IsNumber(time);
        if (!cJSON_IsNumber(of) || (int)of->valuedouble != batch || (!timed && is_told(rows, row)))
            continue;
        heddle_table_cell(table, "%d", batch);
        heddle_table_cell(table, "%s", heddle_cli_network_framework(row));
        heddle_table_cell(table, "%s", timed ? heddle_cli_network_text(row, "mode") : "");
        heddle_table_cell(table, "%s", timed ? heddle_cli_network_text(row, "precision") : "");
        add_times(table, timed ? time->valuedouble : NAN, peer_spread(row), batch);
        if (bench->settings->sustained > 0)
            add_sustained(table, NAN);
        heddle_table_cell(table, "%s", "");
        heddle_table_cell(table, "%s", "");
        bool fastest = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "fastest"));
        heddle_table_cell(table, "%s", fastest ? "fastest peer" : heddle_cli_network_text(row, "error"));
    }
}

// Printed before the first row, which may take a while.
static void print_header(const heddle_cli_network_bench *bench)
{
    const heddle_device_info *info = &bench->info;
    printf("%s of %s on %s, %s, %s", bench->job, bench->settings->model, bench->data, info->name, info->instructions);
    if (info->kind == HEDDLE_CPU)
        printf(", %d thread%s", info->threads, info->threads == 1 ? "" : "s");
    printf("\n");
    heddle_cli_device_print(&bench->device, stdout);
    printf("\n");
    fflush(stdout);
}

static void warn_of_spread(const heddle_cli_network_bench *bench)
{
    double spread = 0;
    for (int i = 0; i < bench->row_count; i++)
        spread = fmax(spread, spread_of(&bench->rows[i])); // of a number and NAN, the number
    if (spread > NOTICEABLE)
        printf("\ntimes vary by up to %.0f %%: the machine is probably busy; measure again when it is idle\n",
               100 * spread);
}

static heddle_status print_table(const heddle_cli_network_bench *bench)
{
    heddle_table *table = heddle_table_create();
    start_table(table, bench);
    for (int i = 0; i < bench->batch_count; i++) {
        add_rows(table, bench, bench->batches[i]);
        add_peers(table, bench, bench->batches[i]);
    }
    HEDDLE_TRY(heddle_table_finish(table, stdout));
    warn_of_spread(bench);
    return HEDDLE_OK;
}

// --- the command ----------------------------------------------------------------------------------------------------

static heddle_status open_devices(bench_run *run)
{
    const heddle_cli_bench_settings *settings = run->bench->settings;
    // The simulated GPU reports no timings, but computes gradients.
    const char *instead = settings->gradients ? "use --device cpu or --device sim" : "use --device cpu";
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, instead, &run->bench->device));
    run->device = run->bench->device.device;
    HEDDLE_TRY(heddle_device_describe(run->device, &run->bench->info));
    run->cpu = run->device;
    if (run->bench->info.kind != HEDDLE_CPU)
        HEDDLE_TRY(heddle_device_open("cpu", settings->threads, &run->cpu));
    return heddle_device_describe(run->cpu, &run->bench->cpu);
}

static bool synth_has(const heddle_input_shape *shape)
{
    return shape->height == shape->width && shape->height >= HEDDLE_SYNTH_LEAST_SIZE &&
           shape->height <= HEDDLE_SYNTH_MOST_SIZE && shape->channels <= HEDDLE_SYNTH_MOST_CHANNELS &&
           shape->classes == HEDDLE_SYNTH_CLASSES;
}

// As many images as fit into some memory, but enough for the largest batch.
static int limit_count(const heddle_cli_network_bench *bench, int count, const heddle_input_shape *shape)
{
    const int64_t room = MOST_BYTES / ((int64_t)shape->channels * shape->height * shape->width);
    int least = 1;
    for (int i = 0; i < bench->batch_count; i++)
        least = bench->batches[i] > least ? bench->batches[i] : least;
    count = room < count ? (int)room : count;
    return count > least ? count : least;
}

// Images of the size that the model file names: digits where synth has them, else noise.
static heddle_status generate_data(bench_run *run, int count, const heddle_input_shape *shape)
{
    heddle_cli_network_bench *bench = run->bench;
    count = limit_count(bench, count, shape);
    if (synth_has(shape)) {
        snprintf(bench->default_data, sizeof bench->default_data, "synth:count=%d,size=%d,channels=%d", count,
                 shape->height, shape->channels);
        return heddle_dataset_open(bench->data, NULL, HEDDLE_TRAIN, &run->dataset);
    }
    const heddle_noise noise = {.count = count,
                                .channels = shape->channels,
                                .height = shape->height,
                                .width = shape->width,
                                .classes = shape->classes};
    snprintf(bench->default_data, sizeof bench->default_data, "%d×%d×%d noise, %d classes", shape->channels,
             shape->height, shape->width, shape->classes);
    return heddle_noise_open(&noise, &run->dataset);
}

// The images and the model for them: what --data names, or images of the size that the model file names; most name
// none, and take 1×28×28.
static heddle_status open_data(bench_run *run)
{
    heddle_cli_network_bench *bench = run->bench;
    const heddle_cli_bench_settings *settings = bench->settings;
    // A GPU finishes a small dataset so fast that it would do little but end epochs.
    const int count = bench->info.kind == HEDDLE_CUDA ? 61440 : 8192;
    bench->data = settings->data ? settings->data : bench->default_data;
    // Without --data a model that cannot be opened has no size of its own; whatever else is wrong is told below.
    if (!settings->data && heddle_model_open(settings->model, NULL, &run->model) == HEDDLE_OK) {
        const heddle_input_shape own = heddle_model_input(run->model);
        if (own.channels != 1 || own.height != LEARNING_SIZE || !synth_has(&own))
            return generate_data(run, count, &own);
        heddle_model_close(run->model);
        run->model = NULL;
    }
    snprintf(bench->default_data, sizeof bench->default_data, "synth:count=%d", count);
    HEDDLE_TRY(heddle_dataset_open(bench->data, settings->folder, HEDDLE_TRAIN, &run->dataset));
    HEDDLE_TRY(heddle_dataset_trains(run->dataset));
    const heddle_input_shape input = {run->dataset->channels, run->dataset->height, run->dataset->width,
                                      run->dataset->classes};
    return heddle_cli_model_open(settings->model, &input, false, &run->model);
}

static heddle_status open_all(bench_run *run)
{
    heddle_cli_network_bench *bench = run->bench;
    const heddle_cli_bench_settings *settings = bench->settings;
    HEDDLE_TRY(open_devices(run));
    HEDDLE_TRY(heddle_cli_data_place_check(bench->info.kind, (heddle_data_place)settings->data_place));
    if (bench->info.kind == HEDDLE_SIM && !settings->gradients)
        return heddle_fail(HEDDLE_INVALID,
                           "the simulated GPU does not report timings, so `bench %s` cannot run there; `heddle train "
                           "--device sim --data synth:count=64` trains on it",
                           bench->job);
    HEDDLE_TRY(heddle_cli_network_plan(bench, bench->info.kind));
    HEDDLE_TRY(open_data(run));
    run->known = is_known(run->dataset);
    return HEDDLE_OK;
}

// Writes the gradients of one step instead of timing it, for peers/gradients_gpu.py.
static heddle_status write_gradients(const bench_run *run)
{
    const heddle_cli_network_bench *bench = run->bench;
    const heddle_cli_network_row *row = &bench->rows[0];
    if (bench->row_count != 1)
        return heddle_fail(HEDDLE_INVALID,
                           "--gradients needs exactly one batch size, one of --kernels and one --precision");
    heddle_train_options how = heddle_train_defaults();
    how.batch = row->batch;
    how.seed = bench->settings->seed;
    how.kernels = row->kernels;
    how.arithmetic = row->arithmetic;
    how.deterministic = !bench->settings->unordered;
    return heddle_train_gradients(run->device, run->model, run->dataset, &how, bench->settings->gradients);
}

static heddle_status show(const heddle_cli_network_bench *bench, const char *why)
{
    if (!bench->settings->json.print) {
        HEDDLE_TRY(print_table(bench));
        if (why[0])
            printf("\n%s\n", why);
    }
    return heddle_cli_json_result(&bench->settings->json, heddle_cli_network_json(bench));
}

static void take_over(void *context)
{
    show(context, "");
    heddle_cli_fail(heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

static heddle_status measure_rows(const bench_run *run)
{
    heddle_cli_network_bench *bench = run->bench;
    for (int i = 0; i < bench->row_count; i++) {
        if (heddle_cli_interrupted)
            return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
        measure(run, &bench->rows[i]);
        heddle_cli_json_event(&bench->settings->json, "measured", heddle_cli_network_row_json(bench, &bench->rows[i]));
        HEDDLE_TRY(heddle_cli_json_save(&bench->settings->json, heddle_cli_network_json(bench)));
    }
    return HEDDLE_OK;
}

// What a device or a build lacks gives a row without figures, unless every row lacks it. Any other failure fails the
// command.
static heddle_status first_failure(const heddle_cli_network_bench *bench)
{
    const heddle_cli_network_row *failed = NULL;
    bool excused = false;
    for (int i = 0; i < bench->row_count; i++) {
        const heddle_cli_network_row *row = &bench->rows[i];
        excused |= row->measured;
        if (row->status == HEDDLE_OK)
            continue;
        failed = failed ? failed : row;
        if (row->status != HEDDLE_UNSUPPORTED && row->status != HEDDLE_MISSING) {
            failed = row;
            excused = false;
            break;
        }
    }
    if (!failed || excused)
        return HEDDLE_OK;
    return heddle_fail(failed->status, "batch %d, %s kernels in %s: %s", failed->batch,
                       heddle_tier_names[failed->kernels], heddle_cli_precisions[failed->arithmetic], failed->message);
}

static heddle_status measure_all(const bench_run *run)
{
    heddle_cli_network_bench *bench = run->bench;
    const heddle_cli_bench_settings *settings = bench->settings;
    char why[HEDDLE_CLI_MESSAGE_SIZE] = "";
    if (!settings->json.print)
        print_header(bench);
    heddle_cli_guard_begin(take_over, bench);
    heddle_status status = measure_rows(run);
    heddle_cli_guard_end();
    if (status != HEDDLE_OK && status != HEDDLE_INTERRUPTED)
        return status;
    HEDDLE_TRY(heddle_device_describe(run->device, &bench->info_after));
    bool peers = settings->peers == HEDDLE_CLI_PEERS_BY_DEVICE ? bench->info.kind == HEDDLE_CUDA
                                                               : settings->peers != HEDDLE_CLI_PEERS_NO;
    if (status == HEDDLE_OK && peers)
        HEDDLE_TRY(heddle_cli_network_peers(bench, run->model, why));
    status = heddle_cli_interrupted ? HEDDLE_INTERRUPTED : status;
    HEDDLE_TRY(show(bench, why));
    return status != HEDDLE_OK ? heddle_fail(status, "stopped") : first_failure(bench);
}

int heddle_cli_bench_network(const heddle_cli_bench_settings *settings, const char *job)
{
    heddle_cli_network_bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a table"));
    bench->settings = settings;
    bench->job = job;
    time(&bench->began);
    bench->started = heddle_now();
    bench_run run = {.bench = bench};
    heddle_status status = heddle_cli_can_write(settings->json.file);
    if (status == HEDDLE_OK)
        status = open_all(&run);
    if (status == HEDDLE_OK)
        status = settings->gradients ? write_gradients(&run) : measure_all(&run);
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_model_close(run.model);
    heddle_dataset_close(run.dataset);
    if (run.cpu && run.cpu != run.device)
        heddle_device_close(run.cpu);
    heddle_cli_device_close(&bench->device);
    cJSON_Delete(bench->peers);
    free(bench);
    return exit_code;
}
