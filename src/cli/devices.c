// `heddle devices`: where work can run on this machine, and what is known of each device.

#include <stdio.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/cli.h"
#include "heddle/device.h"

enum { TEXT_SIZE = 64, WHY_SIZE = 512 };

typedef struct devices_settings {
    bool json;
} devices_settings;

static const heddle_cli_option options[] = {
    {"json", HEDDLE_CLI_FLAG, offsetof(devices_settings, json), NULL, NULL, "print JSON", 0, 0, NULL},
};

static const heddle_device_kind kinds[] = {HEDDLE_CPU, HEDDLE_CUDA, HEDDLE_SIM};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct device_view {
    bool present;
    heddle_device_info info;
    char why[WHY_SIZE]; // it is not there
} device_view;

static void look(heddle_device_kind kind, device_view *view)
{
    heddle_device *device;
    heddle_status status = heddle_device_open(heddle_device_kind_name(kind), 0, &device);
    if (status == HEDDLE_OK) {
        status = heddle_device_describe(device, &view->info);
        heddle_device_close(device);
    }
    view->present = status == HEDDLE_OK;
    if (!view->present)
        snprintf(view->why, sizeof view->why, "%s", heddle_last_error());
}

static int print_json(const device_view *all)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < KINDS; i++) {
        const heddle_device_info *info = &all[i].info;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "device", heddle_device_kind_name(kinds[i]));
        cJSON_AddBoolToObject(one, "present", all[i].present);
        if (all[i].present) {
            cJSON_AddStringToObject(one, "name", info->name);
            cJSON_AddStringToObject(one, "instructions", info->instructions);
            cJSON_AddNumberToObject(one, "processors", info->processors);
            cJSON_AddNumberToObject(one, "threads", info->threads);
            cJSON_AddNumberToObject(one, "memory_total", (double)info->memory_total);
            cJSON_AddNumberToObject(one, "memory_free", (double)info->memory_free);
            cJSON_AddNumberToObject(one, "priority_least", info->priority_least);
            cJSON_AddNumberToObject(one, "priority_greatest", info->priority_greatest);
        } else {
            cJSON_AddStringToObject(one, "why", all[i].why);
        }
        cJSON_AddItemToArray(list, one);
    }
    return heddle_cli_print_json(list);
}

static int print_table(const device_view *all)
{
    heddle_table *table = heddle_table_create();
    if (table == NULL)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for a table"));
    heddle_table_column(table, "device", HEDDLE_LEFT);
    heddle_table_column(table, "name", HEDDLE_LEFT);
    heddle_table_column(table, "instructions", HEDDLE_LEFT);
    heddle_table_column(table, "processors", HEDDLE_RIGHT);
    heddle_table_column(table, "memory", HEDDLE_RIGHT);
    heddle_table_column(table, "free", HEDDLE_RIGHT);
    for (int i = 0; i < KINDS; i++) {
        const heddle_device_info *info = &all[i].info;
        char total[TEXT_SIZE], left[TEXT_SIZE];
        if (!all[i].present)
            continue;
        heddle_table_cell(table, "%s", heddle_device_kind_name(kinds[i]));
        heddle_table_cell(table, "%s", info->name);
        heddle_table_cell(table, "%s", info->instructions);
        heddle_table_cell(table, "%d", info->processors);
        heddle_table_cell(table, "%s", heddle_text_bytes((double)info->memory_total, total, sizeof total));
        heddle_table_cell(table, "%s", heddle_text_bytes((double)info->memory_free, left, sizeof left));
    }
    heddle_status status = heddle_table_print(table, stdout);
    heddle_table_destroy(table);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    printf("\n");
    for (int i = 0; i < KINDS; i++)
        if (!all[i].present)
            printf("%s: %s\n", heddle_device_kind_name(kinds[i]), all[i].why);
    return HEDDLE_EXIT_OK;
}

int heddle_cli_devices(int argc, char **argv)
{
    devices_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_devices, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    device_view all[KINDS] = {0};
    for (int i = 0; i < KINDS; i++)
        look(kinds[i], &all[i]);
    return settings.json ? print_json(all) : print_table(all);
}

const heddle_cli_command heddle_command_devices = {
    .name = "devices",
    .summary = "the devices of this machine: cpu, cuda, sim",
    .example = "heddle devices\nheddle devices --json",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = heddle_cli_devices,
};
