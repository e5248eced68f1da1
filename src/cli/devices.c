// `heddle devices`: the devices of this machine and their properties.

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/json.h"
#include "heddle/device.h"

enum { TEXT_SIZE = 64, WHY_SIZE = 512, MOST_PROPERTIES = 96, NAME_SIZE = 16, MOST_CARDS = 16 };

typedef struct devices_settings {
    bool measure, known, watch;
    double every;
    int count;
    heddle_cli_json json;
} devices_settings;

static const heddle_cli_option options[] = {
    {"measure", HEDDLE_CLI_FLAG, offsetof(devices_settings, measure), NULL, NULL,
     "also measure copies and float32 arithmetic, on a GPU also shared memory, L2 cache and launches", 0, 0, NULL},
    {"known", HEDDLE_CLI_FLAG, offsetof(devices_settings, known), NULL, NULL,
     "list the GPUs that `heddle check --gpu` can simulate instead", 0, 0, NULL},
    {"watch", HEDDLE_CLI_FLAG, offsetof(devices_settings, watch), NULL, NULL,
     "show load, memory, power, clocks and temperature until Ctrl-C", 0, 0, NULL},
    {"every", HEDDLE_CLI_NUMBER, offsetof(devices_settings, every), "SECONDS", "1",
     "with --watch: time between two samples", 0.1, 3600, NULL},
    {"count", HEDDLE_CLI_INT, offsetof(devices_settings, count), "N", "0",
     "with --watch: end after this many samples; 0: do not end", 0, 1e9, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(devices_settings, json)),
};

static const heddle_device_kind kinds[] = {HEDDLE_CPU, HEDDLE_CUDA, HEDDLE_SIM};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct device_view {
    char name[NAME_SIZE]; // the name that opens it
    bool present;
    heddle_device_info info;
    char why[WHY_SIZE];       // why it is not available
    char why_speed[WHY_SIZE]; // why it was not measured
    device_speeds speeds;
    heddle_device_property properties[MOST_PROPERTIES];
    int property_count;
} device_view;

static heddle_status examine(const char *name, const devices_settings *settings, device_view *view)
{
    heddle_device *device;
    *view = (device_view){0};
    snprintf(view->name, sizeof view->name, "%s", name);
    heddle_status status = heddle_device_open(name, 0, &device);
    if (status == HEDDLE_OK) {
        status = heddle_device_describe(device, &view->info);
        view->property_count = heddle_device_properties(device, view->properties, MOST_PROPERTIES);
        if (view->property_count > MOST_PROPERTIES)
            view->property_count = MOST_PROPERTIES;
        if (status == HEDDLE_OK && settings->measure && heddle_cli_measure_device(device, &view->speeds) != HEDDLE_OK)
            snprintf(view->why_speed, sizeof view->why_speed, "%s", heddle_last_error());
        heddle_device_close(device);
    }
    view->present = status == HEDDLE_OK;
    if (!view->present)
        snprintf(view->why, sizeof view->why, "%s", heddle_last_error());
    return status;
}

// --- as JSON ---------------------------------------------------------------------------------------------------------

static void add_info(cJSON *one, const heddle_device_info *info)
{
    cJSON_AddStringToObject(one, "name", info->name);
    cJSON_AddStringToObject(one, "instructions", info->instructions);
    cJSON_AddNumberToObject(one, "processors", info->processors);
    cJSON_AddNumberToObject(one, "threads", info->threads);
    cJSON_AddNumberToObject(one, "memory_total", (double)info->memory_total);
    cJSON_AddNumberToObject(one, "memory_free", (double)info->memory_free);
    cJSON_AddNumberToObject(one, "priority_least", info->priority_least);
    cJSON_AddNumberToObject(one, "priority_greatest", info->priority_greatest);
    cJSON_AddNumberToObject(one, "capability", info->capability);
    cJSON_AddNumberToObject(one, "cache", (double)info->cache);
    cJSON_AddNumberToObject(one, "clock_mhz", info->clock);
    cJSON_AddNumberToObject(one, "memory_clock_mhz", info->memory_clock);
    cJSON_AddNumberToObject(one, "peak_flops", info->peak_flops);
    cJSON_AddStringToObject(one, "driver", info->driver);
    cJSON_AddStringToObject(one, "runtime", info->runtime);
}

static void add_speeds(cJSON *one, const device_view *view)
{
    const device_speeds *speeds = &view->speeds;
    if (!speeds->measured) {
        cJSON_AddStringToObject(one, "why_not_measured", view->why_speed);
        return;
    }
    cJSON *measured = cJSON_AddObjectToObject(one, "measured");
    cJSON_AddNumberToObject(measured, "device_copy", speeds->copy);
    if (view->info.kind != HEDDLE_CPU) {
        cJSON_AddNumberToObject(measured, "transfer_bytes", (double)speeds->bytes);
        cJSON_AddNumberToObject(measured, "to_device_pinned", speeds->to_device_pinned);
        cJSON_AddNumberToObject(measured, "from_device_pinned", speeds->from_device_pinned);
        cJSON_AddNumberToObject(measured, "to_device_pageable", speeds->to_device_pageable);
        cJSON_AddNumberToObject(measured, "from_device_pageable", speeds->from_device_pageable);
    }
    cJSON_AddNumberToObject(measured, "flops", speeds->flops);
    if (view->info.kind != HEDDLE_CPU) {
        cJSON_AddNumberToObject(measured, "shared_memory", speeds->shared);
        cJSON_AddNumberToObject(measured, "second_level_cache", speeds->cache);
        cJSON_AddNumberToObject(measured, "launches", speeds->launches);
    }
}

static cJSON *to_json(const device_view *all, int count, const devices_settings *settings)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "devices");
    for (int i = 0; i < count; i++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "device", all[i].name);
        cJSON_AddBoolToObject(one, "present", all[i].present);
        if (all[i].present) {
            add_info(one, &all[i].info);
            cJSON *properties = cJSON_AddObjectToObject(one, "properties");
            for (int p = 0; p < all[i].property_count; p++)
                cJSON_AddStringToObject(properties, all[i].properties[p].name, all[i].properties[p].value);
            if (settings->measure)
                add_speeds(one, &all[i]);
        } else {
            cJSON_AddStringToObject(one, "why", all[i].why);
        }
        cJSON_AddItemToArray(list, one);
    }
    return json;
}

// --- for people ------------------------------------------------------------------------------------------------------

static void print_speed(const char *what, double a_second, double unit, const char *name)
{
    if (a_second > 0)
        printf("  %-40s %8.1f %s\n", what, a_second / unit, name);
}

static void print_speeds(const device_view *view)
{
    const device_speeds *speeds = &view->speeds;
    const double giga = 1e9;
    if (!speeds->measured) {
        printf("%s: not measured: %s\n", view->name, view->why_speed);
        return;
    }
    printf("%s, measured\n", view->name);
    print_speed("host to device, pinned", speeds->to_device_pinned, giga, "GB/s");
    print_speed("device to host, pinned", speeds->from_device_pinned, giga, "GB/s");
    print_speed("host to device, pageable", speeds->to_device_pageable, giga, "GB/s");
    print_speed("device to host, pageable", speeds->from_device_pageable, giga, "GB/s");
    print_speed("copy on the device, read plus written", speeds->copy, giga, "GB/s");
    print_speed(view->info.kind == HEDDLE_CPU ? "float32, matrix product" : "float32, multiply-add", speeds->flops,
                giga, "GFLOP/s");
    print_speed("shared memory, read", speeds->shared, giga, "GB/s");
    print_speed("L2 cache, read", speeds->cache, giga, "GB/s");
    print_speed("launches of an empty kernel", speeds->launches, 1e3, "thousand/s");
}

static heddle_status print_rows(const device_view *all, int count)
{
    heddle_table *table = heddle_table_create();
    heddle_table_column(table, "device", HEDDLE_LEFT);
    heddle_table_column(table, "name", HEDDLE_LEFT);
    heddle_table_column(table, "instructions", HEDDLE_LEFT);
    heddle_table_column(table, "processors", HEDDLE_RIGHT);
    heddle_table_column(table, "memory", HEDDLE_RIGHT);
    heddle_table_column(table, "free", HEDDLE_RIGHT);
    for (int i = 0; i < count; i++) {
        const heddle_device_info *info = &all[i].info;
        char total[TEXT_SIZE], left[TEXT_SIZE];
        if (!all[i].present)
            continue;
        heddle_table_cell(table, "%s", all[i].name);
        heddle_table_cell(table, "%s", info->name);
        heddle_table_cell(table, "%s", info->instructions);
        heddle_table_cell(table, "%d", info->processors);
        heddle_table_cell(table, "%s", heddle_text_bytes((double)info->memory_total, total, sizeof total));
        heddle_table_cell(table, "%s", heddle_text_bytes((double)info->memory_free, left, sizeof left));
    }
    return heddle_table_finish(table, stdout);
}

static int print_table(const device_view *all, int count, const devices_settings *settings)
{
    heddle_status status = print_rows(all, count);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    printf("\n");
    for (int i = 0; i < count; i++)
        if (!all[i].present)
            printf("%s: %s\n", all[i].name, all[i].why);
        else if (settings->measure)
            print_speeds(&all[i]);
    return HEDDLE_EXIT_OK;
}

static void print_properties(const device_view *view, const devices_settings *settings)
{
    for (int i = 0; i < view->property_count; i++)
        printf("%-38s  %s\n", view->properties[i].name, view->properties[i].value);
    if (settings->measure) {
        printf("\n");
        print_speeds(view);
    }
}

static int show_one(const char *name, const devices_settings *settings)
{
    device_view view = {0};
    heddle_status status = examine(name, settings, &view);
    if (status == HEDDLE_NOT_FOUND)
        return heddle_cli_usage(&heddle_command_devices, "%s", view.why); // not the name of a device
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (!settings->json.print)
        print_properties(&view, settings);
    return heddle_cli_json_exit(&settings->json, to_json(&view, 1, settings));
}

// One of each kind, available or not, and all further GPUs; returns the count.
static int examine_all(const devices_settings *settings, device_view *all)
{
    int count = 0;
    for (int i = 0; i < KINDS; i++) {
        heddle_status status = examine(heddle_device_kind_name(kinds[i]), settings, &all[count++]);
        for (int card = 1; status == HEDDLE_OK && kinds[i] == HEDDLE_CUDA && card < MOST_CARDS; card++) {
            char name[NAME_SIZE];
            snprintf(name, sizeof name, "cuda:%d", card);
            if (examine(name, settings, &all[count]) == HEDDLE_NOT_FOUND)
                break;
            count++;
        }
    }
    return count;
}

static int show_known(const devices_settings *settings)
{
    heddle_status status = settings->json.print ? HEDDLE_OK : heddle_cli_print_known_gpus();
    return status == HEDDLE_OK ? heddle_cli_json_exit(&settings->json, heddle_cli_known_gpus())
                               : heddle_cli_fail(status);
}

static int run_command(int argc, char **argv)
{
    devices_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_devices, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    if (settings.known && (arguments.count > 0 || settings.measure))
        return heddle_cli_usage(&heddle_command_devices, "--known lists GPUs that need not be here: "
                                                         "it takes no DEVICE and no --measure");
    if (settings.watch && (arguments.count > 0 || settings.measure || settings.known))
        return heddle_cli_usage(&heddle_command_devices,
                                "--watch shows all devices: it takes no DEVICE, no --measure and no --known");
    if (settings.watch)
        return heddle_cli_watch_devices(settings.every, settings.count, &settings.json);
    if (settings.known)
        return show_known(&settings);
    if (arguments.count > 0)
        return show_one(arguments.items[0], &settings);
    device_view *all = calloc(KINDS + MOST_CARDS, sizeof *all);
    if (all == NULL)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a list of devices"));
    int count = examine_all(&settings, all); // what is missing is part of the list
    exit_code = settings.json.print ? HEDDLE_EXIT_OK : print_table(all, count, &settings);
    if (exit_code == HEDDLE_EXIT_OK)
        exit_code = heddle_cli_json_exit(&settings.json, to_json(all, count, &settings));
    free(all);
    return exit_code;
}

const heddle_cli_command heddle_command_devices = {
    .name = "devices",
    .summary = "list the devices of this machine: cpu, cuda, sim",
    .arguments = "[DEVICE]",
    .most_arguments = 1,
    .description = "With DEVICE, shows all of its properties.",
    .example = "heddle devices\nheddle devices cuda --measure\nheddle devices --watch\nheddle devices --known",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
