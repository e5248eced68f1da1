// `heddle devices --watch`: what the CPU and the GPUs of this machine are doing, sample by sample. In a terminal it is
// drawn in place, with a bar of the latest samples; in a pipe each sample is a line per device; --json prints objects.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/devices.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "device/gpus.h"
#include "heddle/device.h"

enum {
    HISTORY = 120, // samples that a bar can show
    LEAST_BAR = 8,
    TEXT_SIZE = 64,
    FIXED_COLUMNS = 34, // of a line with a bar: its title and its figure
    DEFAULT_WIDTH = 80,
    CPU = 0, // its place among what is watched; GPUs follow
    MOST_WATCHED = HEDDLE_MOST_GPUS + 1,
};

// What is drawn of a device, each with its own bar.
typedef enum figure { LOAD, MEMORY, POWER, FIGURES } figure;
static const char *const figure_names[FIGURES] = {"load", "memory", "power"};

typedef struct watched {
    char device[16]; // "cpu", "cuda:1"
    heddle_gpu_now now;
    float history[FIGURES][HISTORY]; // 0 to 1; NAN: not known
} watched;

typedef struct watch {
    watched devices[MOST_WATCHED];
    int count, samples;
    int drawn; // lines of the picture that is in the terminal
    heddle_cpu_ticks before;
    char cpu_name[HEDDLE_GPU_NAME];
    heddle_device *cpu;
} watch;

// --- looking ---------------------------------------------------------------------------------------------------------

static double part_of(double value, double whole)
{
    return whole > 0 ? value / whole : NAN;
}

static void look_at_cpu(watch *of, heddle_gpu_now *now)
{
    heddle_cpu_ticks ticks;
    heddle_device_info info;
    *now = (heddle_gpu_now){.load = NAN,
                            .watts = NAN,
                            .watts_limit = NAN,
                            .memory = NAN,
                            .used = NAN,
                            .clock = NAN,
                            .memory_clock = NAN,
                            .celsius = NAN};
    snprintf(now->name, sizeof now->name, "%s", of->cpu_name);
    if (heddle_cpu_ticks_now(&ticks)) {
        now->load = part_of(ticks.busy - of->before.busy, ticks.all - of->before.all);
        of->before = ticks;
    }
    if (heddle_device_describe(of->cpu, &info) == HEDDLE_OK) {
        now->memory = (double)info.memory_total;
        now->used = (double)(info.memory_total - info.memory_free);
    }
}

static void keep(watched *device)
{
    const heddle_gpu_now *now = &device->now;
    const double values[FIGURES] = {now->load, part_of(now->used, now->memory), part_of(now->watts, now->watts_limit)};
    for (int i = 0; i < FIGURES; i++) {
        memmove(device->history[i], device->history[i] + 1, (HISTORY - 1) * sizeof(float));
        device->history[i][HISTORY - 1] = (float)values[i];
    }
}

static void look(watch *of)
{
    heddle_gpu_now gpus[HEDDLE_MOST_GPUS];
    const int gpu_count = heddle_gpus_now(gpus);
    look_at_cpu(of, &of->devices[CPU].now);
    for (int i = 0; i < gpu_count; i++)
        of->devices[1 + i].now = gpus[i];
    for (; of->count < 1 + gpu_count; of->count++) {
        watched *added = &of->devices[of->count];
        if (of->count == CPU)
            snprintf(added->device, sizeof added->device, "cpu");
        else
            snprintf(added->device, sizeof added->device, "cuda:%d", of->count - 1);
        for (int i = 0; i < FIGURES; i++)
            for (int j = 0; j < HISTORY; j++)
                added->history[i][j] = NAN;
    }
    for (int i = 0; i < of->count; i++)
        keep(&of->devices[i]);
    of->samples++;
}

// --- words -----------------------------------------------------------------------------------------------------------

// "37 %", "61.2 of 139.8 GiB", "412 of 700 W"; "" where nothing is known.
static const char *figure_text(const heddle_gpu_now *now, figure which, char text[TEXT_SIZE])
{
    char used[TEXT_SIZE / 4], all[TEXT_SIZE / 4];
    text[0] = '\0';
    if (which == LOAD && !isnan(now->load))
        snprintf(text, TEXT_SIZE, "%.0f %%", 100 * now->load);
    if (which == MEMORY && !isnan(now->used))
        snprintf(text, TEXT_SIZE, "%s of %s", heddle_text_bytes(now->used, used, sizeof used),
                 heddle_text_bytes(now->memory, all, sizeof all));
    if (which == POWER && !isnan(now->watts)) {
        int length = snprintf(text, TEXT_SIZE, "%.0f", now->watts);
        snprintf(text + length, TEXT_SIZE - (size_t)length, isnan(now->watts_limit) ? " W" : " of %.0f W",
                 now->watts_limit);
    }
    return text;
}

// "1980 MHz, memory 3201 MHz, 64 °C".
static const char *clocks_text(const heddle_gpu_now *now, char text[TEXT_SIZE])
{
    int length = 0;
    text[0] = '\0';
    if (!isnan(now->clock))
        length += snprintf(text + length, TEXT_SIZE - (size_t)length, "%.0f MHz", now->clock);
    if (!isnan(now->memory_clock))
        length += snprintf(text + length, TEXT_SIZE - (size_t)length, "%smemory %.0f MHz", length ? ", " : "",
                           now->memory_clock);
    if (!isnan(now->celsius))
        snprintf(text + length, TEXT_SIZE - (size_t)length, "%s%.0f °C", length ? ", " : "", now->celsius);
    return text;
}

// --- the terminal ----------------------------------------------------------------------------------------------------

static void print_bar(const float *history, int columns, bool utf8)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    enum { LEVELS = sizeof blocks / sizeof *blocks };
    for (int i = HISTORY - columns; i < HISTORY; i++) {
        const float value = history[i];
        int level = isnan(value) ? 0 : 1 + (int)(value * (LEVELS - 1));
        level = level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : level;
        fputs(utf8 ? blocks[level] : letters[level], stdout);
    }
}

// Ends a line, and clears what an earlier, longer one left there.
static void end_line(watch *of)
{
    fputs("\033[K\n", stdout);
    of->drawn++;
}

static void draw_device(watch *of, const watched *device, int width, bool utf8)
{
    char text[TEXT_SIZE];
    int columns = width - FIXED_COLUMNS;
    columns = columns < LEAST_BAR ? LEAST_BAR : columns > HISTORY ? HISTORY : columns;
    printf("%-7s %.*s", device->device, (int)heddle_text_prefix(device->now.name, width - 9), device->now.name);
    end_line(of);
    for (int i = 0; i < FIGURES; i++) {
        if (!*figure_text(&device->now, (figure)i, text))
            continue;
        printf("  %-7s %-23s ", figure_names[i], text);
        print_bar(device->history[i], columns, utf8);
        end_line(of);
    }
    if (*clocks_text(&device->now, text)) {
        printf("  %-7s %s", "clocks", text);
        end_line(of);
    }
}

static void draw(watch *of)
{
    const int width = heddle_terminal_width(stdout);
    const bool utf8 = heddle_terminal_utf8();
    if (of->drawn)
        printf("\033[%dA\r", of->drawn);
    of->drawn = 0;
    for (int i = 0; i < of->count; i++)
        draw_device(of, &of->devices[i], width > 0 ? width : DEFAULT_WIDTH, utf8);
    fputs("press Ctrl-C to stop", stdout);
    end_line(of);
    fputs("\033[J", stdout); // lines of a device that is gone
    fflush(stdout);
}

// --- lines -----------------------------------------------------------------------------------------------------------

static void print_lines(const watch *of)
{
    for (int i = 0; i < of->count; i++) {
        const heddle_gpu_now *now = &of->devices[i].now;
        char text[TEXT_SIZE];
        printf("%s", of->devices[i].device);
        for (int j = 0; j < FIGURES; j++)
            if (*figure_text(now, (figure)j, text))
                printf("  %s %s", figure_names[j], text);
        if (*clocks_text(now, text))
            printf("  %s", text);
        printf("\n");
    }
    fflush(stdout);
}

static void print_json(const watch *of, const heddle_cli_json *json)
{
    cJSON *sample = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(sample, "devices");
    cJSON_AddNumberToObject(sample, "time", (double)time(NULL));
    for (int i = 0; list && i < of->count; i++) {
        const heddle_gpu_now *now = &of->devices[i].now;
        cJSON *one = cJSON_CreateObject();
        cJSON_AddStringToObject(one, "device", of->devices[i].device);
        cJSON_AddStringToObject(one, "name", now->name);
        heddle_json_add_number(one, "load", now->load);
        heddle_json_add_number(one, "memory_total", now->memory);
        heddle_json_add_number(one, "memory_used", now->used);
        heddle_json_add_number(one, "watts", now->watts);
        heddle_json_add_number(one, "watts_limit", now->watts_limit);
        heddle_json_add_number(one, "clock_mhz", now->clock);
        heddle_json_add_number(one, "memory_clock_mhz", now->memory_clock);
        heddle_json_add_number(one, "celsius", now->celsius);
        cJSON_AddItemToArray(list, one);
    }
    heddle_cli_json_event(json, "sample", sample);
}

// --- the command -----------------------------------------------------------------------------------------------------

static void show(watch *of, const heddle_cli_json *json, bool terminal)
{
    if (json->print)
        print_json(of, json);
    else if (terminal)
        draw(of);
    else
        print_lines(of);
}

// In parts, so that Ctrl-C is heard soon.
static void wait_for(double seconds)
{
    const double until = heddle_now() + seconds;
    static const double part = 0.05;
    for (double left = seconds; left > 0 && !heddle_cli_interrupted; left = until - heddle_now()) {
        const double now = left < part ? left : part;
        nanosleep(&(struct timespec){.tv_sec = 0, .tv_nsec = (long)(now * 1e9)}, NULL);
    }
}

static heddle_status open_watch(watch *of)
{
    heddle_device_info info;
    HEDDLE_TRY(heddle_device_open("cpu", 1, &of->cpu));
    HEDDLE_TRY(heddle_device_describe(of->cpu, &info));
    snprintf(of->cpu_name, sizeof of->cpu_name, "%s, %d core%s", info.name, info.processors,
             info.processors == 1 ? "" : "s");
    (void)heddle_cpu_ticks_now(&of->before);
    return HEDDLE_OK;
}

int heddle_cli_watch_devices(double seconds, int count, const struct heddle_cli_json *json)
{
    static const double first = 0.2; // the load is that of the time between two looks
    watch *of = calloc(1, sizeof *of);
    if (!of)
        return heddle_cli_fail(heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to watch devices"));
    heddle_status status = open_watch(of);
    const bool terminal = !json->print && heddle_terminal_is(stdout);
    heddle_cli_stop_gently(&(heddle_cli_gently){.patient = true}); // the cursor comes back
    if (status == HEDDLE_OK && terminal)
        fputs("\033[?25l", stdout); // without a cursor
    wait_for(status == HEDDLE_OK ? first : 0);
    while (status == HEDDLE_OK && !heddle_cli_interrupted && (count == 0 || of->samples < count)) {
        look(of);
        show(of, json, terminal);
        if (ferror(stdout))
            break;
        wait_for(count && of->samples == count ? 0 : seconds);
    }
    if (terminal) {
        fputs("\033[?25h", stdout);
        fflush(stdout);
    }
    cJSON *result = status == HEDDLE_OK ? cJSON_CreateObject() : NULL;
    if (result)
        cJSON_AddNumberToObject(result, "samples", of->samples);
    int exit_code = status == HEDDLE_OK ? heddle_cli_json_exit(json, result) : heddle_cli_fail(status);
    if (of->cpu)
        heddle_device_close(of->cpu);
    free(of);
    return exit_code == HEDDLE_EXIT_OK && heddle_cli_interrupted ? heddle_cli_interrupt_code() : exit_code;
}
