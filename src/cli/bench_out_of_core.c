// `heddle bench out-of-core`: products of matrices in host memory, larger than the part of the device that they may
// take, against what the link and the arithmetic allow.

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "bench/out_of_core.h"
#include "cli/bench.h"
#include "device/device.h"

// Three matrices of 2.4 GB, of which the operator's own limit for tiles lets a part be on the device.
static const char default_shape[] = "m=24576 n=24576 k=24576";
static const double giga = 1e9, tera = 1e12;

static void show_progress(const char *text)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "%s ...\n", text);
}

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
        printf("link: %.1f GB/s in, %.1f GB/s out, %.1f GB/s both ways at once; pinning took %.1f s, counted nowhere\n",
               bytes_in(result) / result->in_seconds / giga, bytes_out(result) / result->out_seconds / giga,
               (bytes_in(result) + bytes_out(result)) / result->both_seconds / giga, result->pin_seconds);
    printf("every element counts in the check: one off by %.2g would be found, where they are about %.2g\n\n",
           result->element_seen, result->element_scale);
}

static void add_number(heddle_table *table, bool known, int decimals, double value)
{
    if (known)
        heddle_table_cell(table, "%.*f", decimals, value);
    else
        heddle_table_cell(table, "%s", "");
}

static heddle_status show_table(const heddle_out_of_core *result)
{
    heddle_table *table = heddle_table_create();
    if (!table)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table");
    double operations = 2.0 * result->shape.m * result->shape.n * result->shape.k;
    heddle_table_column(table, "rung", HEDDLE_LEFT);
    heddle_table_column(table, "seconds", HEDDLE_RIGHT);
    heddle_table_column(table, "TFLOP/s", HEDDLE_RIGHT);
    heddle_table_column(table, "product alone", HEDDLE_RIGHT);
    heddle_table_column(table, "of the limit", HEDDLE_RIGHT);
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
        heddle_table_cell(table, "%s", row->status == HEDDLE_OK ? "right" : row->message);
    }
    heddle_status status = heddle_table_print(table, stdout);
    heddle_table_destroy(table);
    return status;
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

static heddle_status write_json(const char *path, const heddle_device_info *info, cJSON *results)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "device_name", info->name);
    cJSON_AddStringToObject(json, "driver", info->driver);
    cJSON_AddStringToObject(json, "runtime", info->runtime);
    cJSON_AddItemToObject(json, "results", results);
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the JSON output");
    heddle_slice slices[] = {{text, strlen(text)}, {"\n", 1}};
    heddle_status status = HEDDLE_OK;
    if (strcmp(path, "-") == 0)
        puts(text);
    else
        status = heddle_file_write_atomic(path, slices, 2);
    cJSON_free(text);
    return status;
}

// --- measuring -------------------------------------------------------------------------------------------------------

typedef struct run {
    const heddle_cli_bench_settings *settings;
    heddle_device *device, *host;
    heddle_device_info info;
    cJSON *results;
    bool wrong;
} run;

static heddle_status measure_shape(run *on, const char *text)
{
    heddle_matmul_host_shape shape;
    heddle_out_of_core result;
    const heddle_op *op;
    HEDDLE_TRY(heddle_op_find("matmul_host", &op));
    HEDDLE_TRY(heddle_shape_parse(op, text, &shape));
    HEDDLE_TRY(heddle_out_of_core_measure(on->device, heddle_device_pool(on->host), &shape, on->settings->seed,
                                          show_progress, &result));
    for (int i = 0; i < result.count; i++)
        on->wrong |= result.rows[i].status != HEDDLE_OK;
    if (result.count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "no rung of matmul_host runs here at %s", text);
    cJSON_AddItemToArray(on->results, result_json(&result));
    if (on->settings->json && strcmp(on->settings->json, "-") == 0)
        return HEDDLE_OK;
    show_head(&result, &on->info);
    HEDDLE_TRY(show_table(&result));
    putchar('\n');
    fflush(stdout);
    return HEDDLE_OK;
}

static heddle_status measure_all(run *on)
{
    const heddle_cli_bench_settings *settings = on->settings;
    const char *name = settings->device ? settings->device : "cuda";
    HEDDLE_TRY(heddle_device_open(name, settings->threads, &on->device));
    HEDDLE_TRY(heddle_device_describe(on->device, &on->info));
    if (on->info.kind == HEDDLE_CPU)
        return heddle_fail(HEDDLE_UNSUPPORTED, "out-of-core is about a device whose memory is not the host's: "
                                               "--device cuda, or sim to see it checked; `heddle bench matmul_host "
                                               "--device cpu` has the CPU's rungs");
    HEDDLE_TRY(heddle_device_open("cpu", settings->threads, &on->host));
    for (int i = 0; i < settings->shapes.count; i++)
        HEDDLE_TRY(measure_shape(on, settings->shapes.items[i]));
    return settings->shapes.count ? HEDDLE_OK : measure_shape(on, default_shape);
}

int heddle_cli_bench_out_of_core(const heddle_cli_bench_settings *settings)
{
    run on = {.settings = settings, .results = cJSON_CreateArray()};
    heddle_status status = measure_all(&on);
    if (status == HEDDLE_OK && settings->json)
        status = write_json(settings->json, &on.info, on.results);
    else
        cJSON_Delete(on.results);
    if (on.host)
        heddle_device_close(on.host);
    if (on.device)
        heddle_device_close(on.device);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return on.wrong ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_OK;
}
