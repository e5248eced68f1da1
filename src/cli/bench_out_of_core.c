// `heddle bench out-of-core`: products of matrices in host memory that are larger than the share of device memory they
// may use, compared with the limit of the link and the arithmetic.

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "bench/facts.h"
#include "bench/out_of_core.h"
#include "bench/timing.h"
#include "cli/bench.h"
#include "cli/device.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/shapes.h"
#include "device/device.h"

// Three matrices of 2.4 GB, larger than the operator's limit for tiles on the device.
static const char default_shape[] = "m=24576 n=24576 k=24576";
// For the simulated GPU, which takes a minute for a product a hundredth of that size: ragged, with many tiles.
static const char sim_shape[] = "m=150 n=140 k=130 memory=48";
static const double giga = 1e9, tera = 1e12;

// --- showing ---------------------------------------------------------------------------------------------------------

static double bytes_in(const heddle_out_of_core *result)
{
    return sizeof(float) * (double)result->shape.k * ((double)result->shape.m + result->shape.n);
}

static double bytes_out(const heddle_out_of_core *result)
{
    return sizeof(float) * (double)result->shape.m * result->shape.n;
}

static void show_head(const heddle_out_of_core *result, const heddle_device_info *info)
{
    char matrices[32], workspace[32];
    const heddle_matmul_host_shape *shape = &result->shape;
    heddle_text_bytes(bytes_in(result) + bytes_out(result), matrices, sizeof matrices);
    heddle_text_bytes(result->workspace, workspace, sizeof workspace);
    printf("m=%d n=%d k=%d: %s in host memory, %s on %s\n", shape->m, shape->n, shape->k, matrices, workspace,
           info->name);
    if (result->in_seconds > 0)
        printf("link: %.1f GB/s in, %.1f GB/s out, %.1f GB/s both ways at once; pinning took %.1f s (not included)\n",
               bytes_in(result) / result->in_seconds / giga, bytes_out(result) / result->out_seconds / giga,
               (bytes_in(result) + bytes_out(result)) / result->both_seconds / giga, result->pin_seconds);
    printf("every element is checked: an error of %.2g in one would be found (their magnitude is about %.2g)\n\n",
           result->element_seen, result->element_scale);
}

static void add_number(heddle_table *table, bool known, int decimals, double value)
{
    if (known)
        heddle_table_cell(table, "%.*f", decimals, value);
    else
        heddle_table_cell(table, "%s", "");
}

static const char *state_of(const heddle_out_of_core_row *row)
{
    return row->status == HEDDLE_OK ? "right" : row->message;
}

// Without timings there is only one thing to say about a rung.
static void show_untimed(const heddle_out_of_core *result)
{
    for (int i = 0; i < result->count; i++) {
        const heddle_out_of_core_row *row = &result->rows[i];
        printf("%-18s %s", row->rung->name, state_of(row));
        if (row->status == HEDDLE_OK)
            printf(", %.0f %% of the allowed error", 100 * row->share);
        putchar('\n');
    }
}

static heddle_status show_table(const heddle_out_of_core *result)
{
    static const char *const titles[] = {"seconds", "TFLOP/s", "product only", "of the limit"};
    heddle_table *table = heddle_table_create();
    double operations = 2.0 * result->shape.m * result->shape.n * result->shape.k;
    heddle_table_column(table, "rung", HEDDLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        heddle_table_column(table, titles[i], HEDDLE_RIGHT);
    heddle_table_column(table, "limit", HEDDLE_LEFT);
    heddle_table_column(table, "error/bound", HEDDLE_RIGHT);
    heddle_table_column(table, "", HEDDLE_LEFT);
    for (int i = 0; i < result->count; i++) {
        const heddle_out_of_core_row *row = &result->rows[i];
        bool timed = row->status == HEDDLE_OK && row->limit > 0;
        heddle_table_cell(table, "%s", row->rung->name);
        add_number(table, timed, 4, row->seconds);
        add_number(table, timed, 1, operations / row->seconds / tera);
        add_number(table, timed, 1, row->product_flops / tera);
        add_number(table, timed, 3, row->limit / row->seconds);
        heddle_table_cell(table, "%s", !timed ? "" : row->by_arithmetic ? "arithmetic" : "link");
        add_number(table, row->status == HEDDLE_OK, 4, row->share);
        heddle_table_cell(table, "%s", state_of(row));
    }
    return heddle_table_finish(table, stdout);
}

static cJSON *row_json(const heddle_out_of_core_row *row)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "rung", row->rung->name);
    cJSON_AddBoolToObject(json, "right", row->status == HEDDLE_OK);
    if (row->status != HEDDLE_OK) {
        cJSON_AddStringToObject(json, "message", row->message);
        return json;
    }
    cJSON_AddNumberToObject(json, "error_share", row->share);
    if (row->limit > 0) {
        cJSON_AddNumberToObject(json, "seconds", row->seconds);
        cJSON_AddNumberToObject(json, "limit_seconds", row->limit);
        cJSON_AddStringToObject(json, "limited_by", row->by_arithmetic ? "arithmetic" : "link");
        cJSON_AddNumberToObject(json, "product_gflops", row->product_flops / giga);
    }
    return json;
}

static cJSON *result_json(const heddle_out_of_core *result)
{
    cJSON *json = cJSON_CreateObject(), *rungs = cJSON_AddArrayToObject(json, "rungs");
    cJSON_AddNumberToObject(json, "m", result->shape.m);
    cJSON_AddNumberToObject(json, "n", result->shape.n);
    cJSON_AddNumberToObject(json, "k", result->shape.k);
    cJSON_AddNumberToObject(json, "memory_kib", result->shape.memory);
    cJSON_AddNumberToObject(json, "workspace_bytes", result->workspace);
    cJSON_AddNumberToObject(json, "pin_seconds", result->pin_seconds);
    cJSON_AddNumberToObject(json, "copy_in_seconds", result->in_seconds);
    cJSON_AddNumberToObject(json, "copy_out_seconds", result->out_seconds);
    cJSON_AddNumberToObject(json, "copy_both_seconds", result->both_seconds);
    for (int i = 0; i < result->count; i++)
        cJSON_AddItemToArray(rungs, row_json(&result->rows[i]));
    return json;
}

// --- measuring -------------------------------------------------------------------------------------------------------

typedef struct run {
    const heddle_cli_bench_settings *settings;
    const heddle_op *op;
    heddle_cli_shapes shapes;
    heddle_cli_device opened;
    heddle_device *device, *host; // `device` is what was opened
    heddle_device_info info;
    double copy_bandwidth; // of device memory; 0: not known
    time_t began;
    cJSON *results;
    bool wrong, complete;
} run;

// The results so far, with the facts about the machine.
static cJSON *to_json(const run *on)
{
    heddle_device_info now;
    if (heddle_device_describe(on->device, &now) != HEDDLE_OK)
        now = on->info;
    cJSON *json = cJSON_CreateObject();
    heddle_bench_add_facts(json, &(heddle_bench_facts){.format = "heddle bench out-of-core 1",
                                                       .began = on->began,
                                                       .device = &on->info,
                                                       .clock_after = now.clock,
                                                       .memory_clock_after = now.memory_clock,
                                                       .copy_bandwidth = on->copy_bandwidth});
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)on->settings->seed); // a double holds 53 bits of it
    cJSON_AddStringToObject(json, "seed", seed);
    cJSON_AddBoolToObject(json, "complete", on->complete);
    cJSON_AddItemToObject(json, "results", cJSON_Duplicate(on->results, true));
    return json;
}

// Checked first: a host may grant more pinned memory than it has.
static heddle_status check_memory(const run *on, const heddle_matmul_host_shape *shape, const char *text)
{
    heddle_device_info host;
    char need[32], have[32];
    double m = shape->m, n = shape->n, k = shape->k, bytes = sizeof(float) * (m * k + k * n + m * n);
    HEDDLE_TRY(heddle_device_describe(on->host, &host));
    if (bytes <= (double)host.memory_free)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: the matrices take %s of host memory, %s are free", text,
                       heddle_text_bytes(bytes, need, sizeof need),
                       heddle_text_bytes((double)host.memory_free, have, sizeof have));
}

static heddle_status show_result(const run *on, const heddle_out_of_core *result)
{
    bool timed = false;
    for (int i = 0; i < result->count; i++)
        timed |= result->rows[i].limit > 0;
    show_head(result, &on->info);
    if (timed)
        HEDDLE_TRY(show_table(result));
    else
        show_untimed(result);
    putchar('\n');
    fflush(stdout);
    return HEDDLE_OK;
}

static heddle_status measure_shape(run *on, const char *text)
{
    heddle_matmul_host_shape shape;
    heddle_out_of_core result;
    HEDDLE_TRY(heddle_shape_parse(on->op, text, &shape));
    HEDDLE_TRY(check_memory(on, &shape, text));
    heddle_cli_guard_away(NULL, true);
    heddle_status status = heddle_out_of_core_measure(on->device, heddle_device_pool(on->host), &shape,
                                                      on->settings->seed, heddle_cli_show_progress, &result);
    heddle_cli_guard_away(NULL, false);
    heddle_cli_clear_progress();
    HEDDLE_TRY(status);
    for (int i = 0; i < result.count; i++)
        on->wrong |= result.rows[i].status != HEDDLE_OK;
    if (result.count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "no rung of matmul_host runs %s on this device", text);
    cJSON_AddItemToArray(on->results, result_json(&result));
    heddle_cli_json_event(&on->settings->json, "measured", result_json(&result));
    if (!on->settings->json.print)
        HEDDLE_TRY(show_result(on, &result));
    HEDDLE_TRY(heddle_cli_json_save(&on->settings->json, to_json(on)));
    if (on->wrong && heddle_device_synchronize(on->device) != HEDDLE_OK)
        return heddle_fail(HEDDLE_DEVICE,
                           "a rung of matmul_host left the device unusable at %s; nothing more is measured", text);
    return HEDDLE_OK;
}

// Bandwidth of device memory, for the facts.
static heddle_status measure_copies(run *on)
{
    heddle_stream *stream = NULL;
    heddle_bench_timer *timer = NULL;
    HEDDLE_TRY(heddle_stream_create(on->device, 0, &stream));
    heddle_status status = heddle_bench_timer_create(on->device, stream, &timer);
    if (status == HEDDLE_OK)
        status = heddle_bench_copy_bandwidth(timer, &on->copy_bandwidth);
    heddle_bench_timer_destroy(timer);
    heddle_stream_destroy(stream);
    HEDDLE_TRY(status);
    return heddle_device_describe(on->device, &on->info); // with the clocks of a GPU under load
}

static heddle_status open_devices(run *on)
{
    const char *name = on->settings->device ? on->settings->device : "cuda";
    if (strcmp(name, "cpu") == 0)
        return heddle_fail(HEDDLE_INVALID, "out-of-core needs a device with memory of its own: use --device cuda, or "
                                           "--device sim (correctness only, no timings)");
    heddle_status status =
        heddle_cli_device_open(name, on->settings->threads, "--device sim checks its rungs (no timings)", &on->opened);
    on->device = on->opened.device;
    if (status == HEDDLE_MISSING && !on->settings->device)
        return heddle_fail(status, "out-of-core needs a GPU (`heddle doctor` says why there is none); --device sim "
                                   "checks its rungs (no timings)");
    HEDDLE_TRY(status);
    HEDDLE_TRY(heddle_device_describe(on->device, &on->info));
    if (on->info.kind == HEDDLE_CUDA)
        HEDDLE_TRY(measure_copies(on));
    return heddle_device_open("cpu", on->settings->threads, &on->host);
}

static void take_over(void *context)
{
    const run *on = context;
    heddle_cli_clear_progress();
    heddle_cli_json_result(&on->settings->json, to_json(on));
    heddle_cli_fail(heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

static heddle_status measure_shapes(run *on)
{
    if (on->shapes.count == 0)
        return measure_shape(on, on->info.kind == HEDDLE_SIM ? sim_shape : default_shape);
    for (int i = 0; i < on->shapes.count; i++) {
        HEDDLE_TRY(measure_shape(on, on->shapes.items[i]));
        if (heddle_cli_interrupted)
            return heddle_fail(HEDDLE_INTERRUPTED, "stopped");
    }
    return HEDDLE_OK;
}

static heddle_status measure_all(run *on)
{
    heddle_matmul_host_shape shape;
    HEDDLE_TRY(heddle_op_find("matmul_host", &on->op));
    HEDDLE_TRY(heddle_cli_shapes_read(&on->settings->shapes, &on->shapes));
    for (int i = 0; i < on->shapes.count; i++)
        HEDDLE_TRY(heddle_shape_parse(on->op, on->shapes.items[i], &shape));
    HEDDLE_TRY(heddle_cli_can_write(on->settings->json.file));
    HEDDLE_TRY(open_devices(on));
    heddle_cli_guard_begin(take_over, on);
    heddle_status status = measure_shapes(on);
    heddle_cli_guard_end();
    HEDDLE_TRY(status);
    on->complete = true;
    return heddle_cli_json_result(&on->settings->json, to_json(on));
}

int heddle_cli_bench_out_of_core(const heddle_cli_bench_settings *settings)
{
    run on = {.settings = settings, .results = cJSON_CreateArray(), .began = time(NULL)};
    heddle_status status = measure_all(&on);
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    cJSON_Delete(on.results);
    heddle_cli_shapes_free(&on.shapes);
    if (on.host)
        heddle_device_close(on.host);
    heddle_cli_device_close(&on.opened);
    return exit_code == HEDDLE_EXIT_OK && on.wrong ? HEDDLE_EXIT_FAILED : exit_code;
}
