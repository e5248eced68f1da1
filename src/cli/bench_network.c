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
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/precision.h"
#include "heddle/heddle.h"
#include "nn/gradients.h"

// A GPU's round is short, and all rounds together have a hundred steps at least.
static const double gpu_seconds = 0.2, cpu_seconds = 1;
enum { GPU_STEPS = 100, GPU_WARM_UP = 20, CPU_WARM_UP = 5 };

// A training run's time is a figure only if its loss was below this at the end; guessing one of ten has 2.3.
// peers/train_gpu.py asks the same of PyTorch and JAX.
static const double LEARNED = 1.5;
// Steps after which a network is far below that at any batch that it can learn with: with three images of which it
// takes mean and variance cnn learns nothing at this learning rate, with 8 it needs some 200 steps, with 64 only 40.
static const struct learner {
    const char *model;
    int steps;
} learners[] = {{"cnn", 100}, {"mlp", 300}};
enum { LEARNING_BATCH = 8, LEARNING_IMAGES = 4096, LEARNING_SIZE = 28 };

// Everything that rows are measured with.
typedef struct bench_run {
    heddle_cli_road *road;
    heddle_device *device, *cpu; // the same where the CPU is what is measured
    heddle_dataset *dataset;
    heddle_model *model;
} bench_run;

// --- measuring ------------------------------------------------------------------------------------------------------

// After how many steps a row must have learnt; 0: never, for nobody knows how fast that network learns those images.
static int steps_to_learn(const bench_run *run, int batch)
{
    static const char *const known[] = {"mnist", "fashion", "synth"};
    const heddle_dataset *dataset = run->dataset;
    bool named = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        named |= strcmp(dataset->name, known[i]) == 0;
    if (!named || dataset->height != LEARNING_SIZE || batch < LEARNING_BATCH)
        return 0;
    for (size_t i = 0; i < sizeof learners / sizeof *learners; i++)
        if (strcmp(run->road->settings->model, learners[i].model) == 0) {
            int steps = (LEARNING_IMAGES + batch - 1) / batch;
            return steps > learners[i].steps ? steps : learners[i].steps;
        }
    return 0;
}

static void measure(const bench_run *run, heddle_cli_step *step)
{
    const heddle_cli_bench_settings *settings = run->road->settings;
    bool on_cpu = step->on_cpu || run->road->info.kind == HEDDLE_CPU;
    bool real_gpu = !on_cpu && run->road->info.kind == HEDDLE_CUDA;
    heddle_rate_options how = {
        .batch = step->batch,
        .kernels = step->kernels,
        .arithmetic = step->arithmetic,
        .data = on_cpu ? HEDDLE_DATA_AUTO : (heddle_data_place)settings->data_place,
        .unordered = settings->unordered,
        .seconds = settings->seconds > 0 ? settings->seconds
                   : real_gpu            ? gpu_seconds
                                         : cpu_seconds,
        .steps = real_gpu ? GPU_STEPS / settings->rounds + 1 : 1,
        .rounds = settings->rounds,
        .warm_up = real_gpu ? GPU_WARM_UP : CPU_WARM_UP,
        .sustained = settings->sustained,
        .loss_steps = steps_to_learn(run, step->batch),
    };
    how.loss_below = how.loss_steps ? LEARNED : 0;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "batch %d, %s, %s kernels, %s ...\n", step->batch, on_cpu ? "cpu" : run->road->info.name,
                heddle_tier_names[step->kernels], heddle_cli_precisions[step->arithmetic]);
    heddle_device *device = step->on_cpu ? run->cpu : run->device;
    bool train = strcmp(run->road->job, "train") == 0;
    heddle_cli_guard_away(NULL, true);
    step->status = train ? heddle_rate_train(device, run->model, run->dataset, &how, &step->rate)
                         : heddle_rate_infer(device, run->model, run->dataset, &how, &step->rate);
    heddle_cli_guard_away(NULL, false);
    step->measured = step->status == HEDDLE_OK;
    if (!step->measured)
        snprintf(step->message, sizeof step->message, "%s", heddle_last_error());
    else if (isatty(STDERR_FILENO))
        fprintf(stderr, "    %.1f µs a %s\n", 1000 * step->rate.step_milliseconds, train ? "step" : "batch");
}

// --- the table ------------------------------------------------------------------------------------------------------

static void start_table(heddle_table *table, const heddle_cli_road *road)
{
    heddle_table_column(table, "batch", HEDDLE_RIGHT);
    heddle_table_column(table, "on", HEDDLE_LEFT);
    heddle_table_column(table, "kernels", HEDDLE_LEFT);
    heddle_table_column(table, "precision", HEDDLE_LEFT);
    heddle_table_column(table, strcmp(road->job, "infer") == 0 ? "µs a batch" : "µs a step", HEDDLE_RIGHT);
    heddle_table_column(table, "images/s", HEDDLE_RIGHT);
    if (road->settings->sustained > 0)
        heddle_table_column(table, "sustained µs", HEDDLE_RIGHT);
    heddle_table_column(table, "× first", HEDDLE_RIGHT);
    if (road->peers)
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

static void add_times(heddle_table *table, double microseconds, int batch)
{
    if (isfinite(microseconds)) {
        heddle_table_cell(table, "%.1f", microseconds);
        heddle_table_cell(table, "%.0f", 1e6 * batch / microseconds);
    } else {
        heddle_table_cell(table, "–");
        heddle_table_cell(table, "–");
    }
}

static void add_sustained(heddle_table *table, double microseconds)
{
    if (isfinite(microseconds))
        heddle_table_cell(table, "%.1f", microseconds);
    else
        heddle_table_cell(table, "–");
}

static void add_steps(heddle_table *table, const heddle_cli_road *road, int batch)
{
    double first = NAN;
    for (int i = 0; i < road->step_count; i++) {
        const heddle_cli_step *step = &road->steps[i];
        if (step->batch != batch)
            continue;
        double time = step->measured ? 1000 * step->rate.step_milliseconds : NAN;
        first = isnan(first) ? time : first;
        heddle_table_cell(table, "%d", batch);
        heddle_table_cell(table, "%s", step->on_cpu ? "cpu" : heddle_device_kind_name(road->info.kind));
        heddle_table_cell(table, "%s", heddle_tier_names[step->kernels]);
        heddle_table_cell(table, "%s", heddle_cli_precisions[step->arithmetic]);
        add_times(table, time, batch);
        if (road->settings->sustained > 0)
            add_sustained(table, step->measured ? 1e6 * batch / step->rate.sustained : NAN);
        add_ratio(table, first / time);
        if (road->peers)
            add_ratio(table, step->measured ? heddle_cli_road_against(road, step) : NAN);
        heddle_table_cell(table, "%s", step->message);
    }
}

static const char *text_of(const cJSON *row, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, name));
    return text ? text : "";
}

static void add_peers(heddle_table *table, const heddle_cli_road *road, int batch)
{
    const cJSON *row, *rows = cJSON_GetObjectItemCaseSensitive(road->peers, "results");
    cJSON_ArrayForEach(row, rows)
    {
        const cJSON *of = cJSON_GetObjectItemCaseSensitive(row, "batch");
        const cJSON *time = cJSON_GetObjectItemCaseSensitive(row, "microseconds");
        if (!cJSON_IsNumber(of) || (int)of->valuedouble != batch || !cJSON_IsNumber(time))
            continue;
        heddle_table_cell(table, "%d", batch);
        heddle_table_cell(table, "%s", strcmp(text_of(row, "framework"), "jax") == 0 ? "JAX" : "PyTorch");
        heddle_table_cell(table, "%s", text_of(row, "mode"));
        heddle_table_cell(table, "%s", text_of(row, "precision"));
        add_times(table, time->valuedouble, batch);
        if (road->settings->sustained > 0)
            add_sustained(table, NAN);
        heddle_table_cell(table, "%s", "");
        heddle_table_cell(table, "%s", "");
        heddle_table_cell(table, "%s",
                          cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(row, "fastest")) ? "fastest peer" : "");
    }
}

// Before the first row is measured, which may take its time.
static void print_header(const heddle_cli_road *road)
{
    const heddle_device_info *info = &road->info;
    printf("%s of %s on %s, %s, %s", road->job, road->settings->model, road->data, info->name, info->instructions);
    if (info->kind == HEDDLE_CPU)
        printf(", %d thread%s", info->threads, info->threads == 1 ? "" : "s");
    printf("\n");
    heddle_cli_device_print(&road->device, stdout);
    printf("\n");
    fflush(stdout);
}

static heddle_status print_table(const heddle_cli_road *road)
{
    heddle_table *table = heddle_table_create();
    start_table(table, road);
    for (int i = 0; i < road->batch_count; i++) {
        add_steps(table, road, road->batches[i]);
        add_peers(table, road, road->batches[i]);
    }
    return heddle_table_finish(table, stdout);
}

// --- the command ----------------------------------------------------------------------------------------------------

static heddle_status open_devices(bench_run *run)
{
    const heddle_cli_bench_settings *settings = run->road->settings;
    // The simulated GPU has no time, but gradients.
    const char *instead = settings->gradients ? "use cpu or sim instead" : "use cpu instead";
    HEDDLE_TRY(heddle_cli_device_open(settings->device, settings->threads, instead, &run->road->device));
    run->device = run->road->device.device;
    HEDDLE_TRY(heddle_device_describe(run->device, &run->road->info));
    run->cpu = run->device;
    if (run->road->info.kind != HEDDLE_CPU)
        HEDDLE_TRY(heddle_device_open("cpu", settings->threads, &run->cpu));
    return heddle_device_describe(run->cpu, &run->road->cpu);
}

static heddle_status open_all(bench_run *run)
{
    heddle_cli_road *road = run->road;
    const heddle_cli_bench_settings *settings = road->settings;
    HEDDLE_TRY(open_devices(run));
    HEDDLE_TRY(heddle_cli_data_place_check(road->info.kind, (heddle_data_place)settings->data_place));
    if (road->info.kind != HEDDLE_CUDA && settings->peers == HEDDLE_CLI_PEERS_ALL)
        return heddle_fail(HEDDLE_INVALID,
                           "--peers all needs a GPU, where PyTorch and JAX are measured beside heddle; on a "
                           "CPU `make bench-cpu` does that");
    if (road->info.kind == HEDDLE_SIM && !settings->gradients)
        return heddle_fail(HEDDLE_INVALID,
                           "the simulated GPU has no time, so `bench %s` has nothing to measure there: `heddle train "
                           "--device sim --data synth:count=64` shows that it trains",
                           road->job);
    HEDDLE_TRY(heddle_cli_road_plan(road, road->info.kind));
    // A GPU is through a small dataset in no time, and would do nothing but end epochs.
    road->data = settings->data                   ? settings->data
                 : road->info.kind == HEDDLE_CUDA ? "synth:count=61440"
                                                  : "synth:count=8192";
    HEDDLE_TRY(heddle_dataset_open(road->data, settings->folder, HEDDLE_TRAIN, &run->dataset));
    heddle_input_shape input = {run->dataset->channels, run->dataset->height, run->dataset->width,
                                run->dataset->classes};
    return heddle_model_open(settings->model, &input, &run->model);
}

// One step's gradients instead of its time, for peers/gradients_gpu.py.
static heddle_status write_gradients(const bench_run *run)
{
    const heddle_cli_road *road = run->road;
    const heddle_cli_step *step = &road->steps[0];
    if (road->step_count != 1)
        return heddle_fail(HEDDLE_INVALID, "--gradients needs one batch, one of --kernels and one --precision");
    heddle_train_options how = heddle_train_defaults();
    how.batch = step->batch;
    how.seed = road->settings->seed;
    how.kernels = step->kernels;
    how.arithmetic = step->arithmetic;
    how.deterministic = !road->settings->unordered;
    return heddle_train_gradients(run->device, run->model, run->dataset, &how, road->settings->gradients);
}

static heddle_status show(const heddle_cli_road *road, const char *why)
{
    if (!road->settings->json.print) {
        HEDDLE_TRY(print_table(road));
        if (why[0])
            printf("\n%s\n", why);
    }
    return heddle_cli_json_result(&road->settings->json, heddle_cli_road_json(road));
}

static void take_over(void *context)
{
    show(context, "");
    heddle_cli_fail(heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

static heddle_status measure_steps(const bench_run *run)
{
    heddle_cli_road *road = run->road;
    for (int i = 0; i < road->step_count; i++) {
        if (heddle_cli_interrupted)
            return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
        measure(run, &road->steps[i]);
        heddle_cli_json_event(&road->settings->json, "measured", heddle_cli_step_json(road, &road->steps[i]));
        HEDDLE_TRY(heddle_cli_json_save(&road->settings->json, heddle_cli_road_json(road)));
    }
    return HEDDLE_OK;
}

// What a device or a build lacks is a row without figures, unless every row lacks it; any other failure is the
// command's.
static heddle_status first_failure(const heddle_cli_road *road)
{
    const heddle_cli_step *failed = NULL;
    bool excused = false;
    for (int i = 0; i < road->step_count; i++) {
        const heddle_cli_step *step = &road->steps[i];
        excused |= step->measured;
        if (step->status == HEDDLE_OK)
            continue;
        failed = failed ? failed : step;
        if (step->status != HEDDLE_UNSUPPORTED && step->status != HEDDLE_MISSING) {
            failed = step;
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
    heddle_cli_road *road = run->road;
    const heddle_cli_bench_settings *settings = road->settings;
    const char *why = "";
    if (!settings->json.print)
        print_header(road);
    heddle_cli_guard_begin(take_over, road);
    heddle_status status = measure_steps(run);
    heddle_cli_guard_end();
    if (status != HEDDLE_OK && status != HEDDLE_INTERRUPTED)
        return status;
    HEDDLE_TRY(heddle_device_describe(run->device, &road->info_after));
    bool peers = status == HEDDLE_OK && settings->peers != HEDDLE_CLI_PEERS_NO && road->info.kind == HEDDLE_CUDA &&
                 strcmp(road->job, "train") == 0 && strcmp(settings->model, "cnn") == 0;
    if (peers)
        HEDDLE_TRY(heddle_cli_road_peers(road, &why));
    HEDDLE_TRY(show(road, why));
    return status != HEDDLE_OK ? heddle_fail(status, "stopped") : first_failure(road);
}

int heddle_cli_bench_network(const heddle_cli_bench_settings *settings, const char *job)
{
    heddle_cli_road *road = calloc(1, sizeof *road);
    if (!road)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table"));
    road->settings = settings;
    road->job = job;
    time(&road->began);
    bench_run run = {.road = road};
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
    heddle_cli_device_close(&road->device);
    cJSON_Delete(road->peers);
    free(road);
    return exit_code;
}
