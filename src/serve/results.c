// Lists and reads result files, which are the user's own and may be anything, and makes one.

#include "serve/results.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "bench/bench.h"
#include "bench/shrink.h"
#include "device/device.h"

enum { PATH_SIZE = 4096, LARGEST = 16 << 20, REASON_SIZE = 192 };

// Of a quick look, as `heddle bench --quick` has them.
static const double quick_seconds = 0.05, slow_seconds = 1;
static const heddle_bench_budget quick_budget = {.flops = 1e8, .bytes = 64e6};

// --- files -----------------------------------------------------------------------------------------------------------

static bool is_name(const char *name)
{
    const size_t length = strlen(name), ending = strlen(".json");
    return name[0] != '.' && !strchr(name, '/') && length > ending && length < HEDDLE_SERVE_RESULT_NAME &&
           strcmp(name + length - ending, ".json") == 0;
}

static bool is_known_format(const char *format)
{
    return format && (strcmp(format, "heddle bench 1") == 0 || strcmp(format, "heddle bench network 1") == 0);
}

// Text and document of a file of ours. HEDDLE_NOT_FOUND: there is none of that name, or it is something else.
static heddle_status read_result(const char *folder, const char *name, char **text, size_t *size, cJSON **json)
{
    char path[PATH_SIZE];
    struct stat about;
    *text = NULL;
    *json = NULL;
    if (!is_name(name) || snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_SIZE || lstat(path, &about) != 0 ||
        !S_ISREG(about.st_mode))
        return heddle_fail(HEDDLE_NOT_FOUND, "there are no results of that name");
    heddle_status status = heddle_file_read(path, LARGEST, text, size);
    if (status == HEDDLE_OK)
        status = heddle_json_parse(name, *text, *size, json);
    if (status == HEDDLE_OK && !is_known_format(cJSON_GetStringValue(cJSON_GetObjectItem(*json, "format"))))
        status = heddle_fail(HEDDLE_NOT_FOUND, "%s does not hold results of heddle bench", name);
    if (status == HEDDLE_OK)
        return HEDDLE_OK;
    free(*text);
    cJSON_Delete(*json);
    *text = NULL;
    *json = NULL;
    return status;
}

heddle_status heddle_serve_results_read(const char *folder, const char *name, char **text, size_t *size)
{
    cJSON *json = NULL;
    heddle_status status = read_result(folder, name, text, size, &json);
    cJSON_Delete(json);
    return status;
}

static cJSON *entry_json(const char *name, const cJSON *document)
{
    static const char *const fields[] = {"format", "device", "device_name", "date", "version"};
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *value = cJSON_GetStringValue(cJSON_GetObjectItem(document, fields[i]));
        cJSON_AddStringToObject(json, fields[i], value ? value : "");
    }
    cJSON_AddNumberToObject(json, "rows", cJSON_GetArraySize(cJSON_GetObjectItem(document, "results")));
    return json;
}

static const char *date_of(const cJSON *entry)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(entry, "date"));
}

// Newest first; dates are written so that their order is that of their letters.
static void insert_entry(cJSON *list, cJSON *entry)
{
    int at = 0;
    for (const cJSON *one = list->child; one && strcmp(date_of(one), date_of(entry)) > 0; one = one->next)
        at++;
    cJSON_InsertItemInArray(list, at, entry);
}

cJSON *heddle_serve_results_list(const char *folder)
{
    cJSON *list = cJSON_CreateArray();
    DIR *entries = opendir(folder);
    if (!entries)
        return list;
    const struct dirent *entry;
    // cppcheck-suppress readdirCalled ; the stream is ours alone, and readdir_r is deprecated
    while ((entry = readdir(entries)) != NULL) {
        char *text;
        size_t size;
        cJSON *document;
        if (read_result(folder, entry->d_name, &text, &size, &document) != HEDDLE_OK)
            continue;
        insert_entry(list, entry_json(entry->d_name, document));
        cJSON_Delete(document);
        free(text);
    }
    closedir(entries);
    return list;
}

// --- measuring -------------------------------------------------------------------------------------------------------

// On the simulated GPU, a time says nothing.
static bool is_measured(const heddle_op *op, heddle_device_kind kind)
{
    for (int i = 0; kind != HEDDLE_SIM && op->bench_shapes && op->bench_shapes[0] && i < op->rungs; i++)
        if (heddle_bench_has_rung(op, &op->ladder[i], kind))
            return true;
    return false;
}

cJSON *heddle_serve_results_operators(heddle_device_kind kind)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < heddle_op_count(); i++)
        if (is_measured(heddle_op_at(i), kind))
            cJSON_AddItemToArray(list, cJSON_CreateString(heddle_op_at(i)->name));
    return list;
}

static heddle_status save(const heddle_serve_measure *how, const heddle_bench *bench, const char *op,
                          char name[HEDDLE_SERVE_RESULT_NAME])
{
    char path[PATH_SIZE];
    snprintf(name, HEDDLE_SERVE_RESULT_NAME, "quick-%s-%s.json", op, heddle_device_kind_name(bench->info.kind));
    if (snprintf(path, sizeof path, "%s/%s", how->folder, name) >= PATH_SIZE)
        return heddle_fail(HEDDLE_IO, "%.40s...: path too long", how->folder);
    cJSON *json = heddle_bench_json(bench);
    char *text = json ? heddle_json_print(json) : NULL;
    cJSON_Delete(json);
    if (!text)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the results");
    const heddle_slice slices[] = {{text, strlen(text)}, {"\n", 1}};
    heddle_status status = heddle_folder_create(how->folder);
    if (status == HEDDLE_OK)
        status = heddle_file_write_atomic(path, slices, 2);
    free(text);
    return status;
}

static heddle_status measure(const heddle_serve_measure *how, heddle_bench *bench, const heddle_op *op,
                             char name[HEDDLE_SERVE_RESULT_NAME])
{
    char shape[HEDDLE_BENCH_TEXT];
    snprintf(shape, sizeof shape, "%s", op->bench_shapes[0]);
    if (bench->info.kind == HEDDLE_CPU)
        HEDDLE_TRY(heddle_bench_shrink(op, op->bench_shapes[0], &quick_budget, shape, sizeof shape));
    HEDDLE_TRY(heddle_bench_measure(bench, op, shape, NULL));
    bench->complete = true;
    heddle_bench_conclude(bench);
    return save(how, bench, op->name, name);
}

heddle_status heddle_serve_results_measure(const heddle_serve_measure *how, const char *op,
                                           char name[HEDDLE_SERVE_RESULT_NAME])
{
    const heddle_op *found = NULL;
    heddle_device *device = NULL;
    heddle_bench *bench = NULL;
    char reason[REASON_SIZE];
    const heddle_bench_options options = {.seed = 1, .seconds = quick_seconds, .slow = slow_seconds, .stop = how->stop};
    HEDDLE_TRY(heddle_op_find(op, &found));
    heddle_status status = how->device ? heddle_device_open(how->device, how->threads, &device)
                                       : heddle_device_open_default(0, how->threads, &device, reason, sizeof reason);
    if (status == HEDDLE_OK && !is_measured(found, heddle_device_get_kind(device)))
        status = heddle_fail(HEDDLE_INVALID, "%s has nothing to measure on this device", op);
    if (status == HEDDLE_OK)
        status = heddle_bench_open(device, &options, &bench);
    if (status == HEDDLE_OK)
        status = measure(how, bench, found, name);
    heddle_bench_close(bench);
    if (device)
        heddle_device_close(device);
    return status;
}
