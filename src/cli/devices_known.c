// `heddle devices --known`: the GPUs that `heddle check --gpu` can simulate, with the figures that matter to a kernel.

#include <stdio.h>

#include <cjson/cJSON.h>

#include "api/chips.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/devices.h"

// What all GPUs of one compute capability share; from the tables of the CUDA programming guide.
static const struct {
    int major, minor;
    const char *generation;
    int units; // for float32, per multiprocessor
} capabilities[] = {
    {6, 1, "Pascal", 128}, {7, 0, "Volta", 64}, {7, 5, "Turing", 64},  {8, 0, "Ampere", 64},      {8, 6, "Ampere", 128},
    {8, 7, "Ampere", 128}, {8, 9, "Ada", 128},  {9, 0, "Hopper", 128}, {10, 0, "Blackwell", 128},
};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

static const char *generation_of(const sim_chip *chip, int *units)
{
    for (int i = 0; i < CAPABILITIES; i++)
        if (capabilities[i].major == chip->major && capabilities[i].minor == chip->minor) {
            *units = capabilities[i].units;
            return capabilities[i].generation;
        }
    *units = 0;
    return "";
}

// Bytes per second: two transfers per clock.
static double bandwidth_of(const sim_chip *chip)
{
    return 2.0 * chip->memory_clock_khz * 1e3 * chip->bus_bits / 8;
}

// A multiply-add counts as two.
static double flops_of(const sim_chip *chip, int units)
{
    return 2.0 * chip->multiprocessors * units * chip->clock_khz * 1e3;
}

heddle_status heddle_cli_print_known_gpus(void)
{
    static const char *const titles[] = {"name", "GPU", "generation", "sm_", "SMs", "L2", "memory", "TB/s", "TFLOP/s"};
    enum { TITLES = sizeof titles / sizeof *titles, LEFT = 3, TEXT_SIZE = 32 };
    heddle_table *table = heddle_table_create();
    for (int i = 0; i < TITLES; i++)
        heddle_table_column(table, titles[i], i < LEFT ? HEDDLE_LEFT : HEDDLE_RIGHT);
    for (int i = 0; i < sim_chip_count; i++) {
        const sim_chip *chip = &sim_chips[i];
        int units;
        char text[TEXT_SIZE];
        const char *generation = generation_of(chip, &units);
        heddle_table_cell(table, "%s", chip->key);
        heddle_table_cell(table, "%s", chip->name);
        heddle_table_cell(table, "%s", generation);
        heddle_table_cell(table, "%d", chip->major * 10 + chip->minor);
        heddle_table_cell(table, "%d", chip->multiprocessors);
        heddle_table_cell(table, "%s", heddle_text_bytes((double)chip->l2, text, sizeof text));
        heddle_table_cell(table, "%s", heddle_text_bytes((double)chip->memory, text, sizeof text));
        heddle_table_cell(table, "%.2f", bandwidth_of(chip) / 1e12);
        heddle_table_cell(table, "%.1f", flops_of(chip, units) / 1e12);
    }
    heddle_status status = heddle_table_finish(table, stdout);
    if (status == HEDDLE_OK)
        printf("\nTB/s: memory bandwidth; TFLOP/s: float32, without tensor cores; both by clock and width, not "
               "measured\n");
    return status;
}

cJSON *heddle_cli_known_gpus(void)
{
    cJSON *json = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(json, "gpus");
    for (int i = 0; i < sim_chip_count; i++) {
        const sim_chip *chip = &sim_chips[i];
        int units;
        cJSON *one = cJSON_CreateObject();
        const char *generation = generation_of(chip, &units);
        cJSON_AddStringToObject(one, "gpu", chip->key);
        cJSON_AddStringToObject(one, "name", chip->name);
        cJSON_AddStringToObject(one, "generation", generation);
        cJSON_AddNumberToObject(one, "capability", chip->major * 10 + chip->minor);
        cJSON_AddNumberToObject(one, "multiprocessors", chip->multiprocessors);
        cJSON_AddNumberToObject(one, "threads_per_multiprocessor", chip->threads_multiprocessor);
        cJSON_AddNumberToObject(one, "registers_per_multiprocessor", chip->registers_multiprocessor);
        cJSON_AddNumberToObject(one, "shared_per_multiprocessor", (double)chip->shared_multiprocessor);
        cJSON_AddNumberToObject(one, "l2", (double)chip->l2);
        cJSON_AddNumberToObject(one, "memory", (double)chip->memory);
        cJSON_AddNumberToObject(one, "clock_mhz", chip->clock_khz / 1e3);
        cJSON_AddNumberToObject(one, "bandwidth", bandwidth_of(chip));
        cJSON_AddNumberToObject(one, "flops", flops_of(chip, units));
        cJSON_AddItemToArray(list, one);
    }
    return json;
}
