// `heddle pipeline`: batches through copy-in, compute and copy-out over several streams. This file reads the command
// line and writes the results; bench/pipeline does the work.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "bench/pipeline.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "cli/json.h"

typedef struct pipeline_settings {
    const char *device, *bytes, *trace, *html;
    heddle_cli_json json;
    int streams, batches, work, rounds;
    int memory; // index in `memories`
    bool blocking, callbacks, ahead, priority, ordered, compare;
} pipeline_settings;

static const char *const memories[] = {"pinned", "pageable", NULL};

#define PLACE(field) offsetof(pipeline_settings, field)

static const heddle_cli_option options[] = {
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL,
     "cpu, cuda, cuda:1 or sim (correctness only, no timings); default: cuda if a GPU is available, else cpu", 0, 0,
     NULL},
    {"streams", HEDDLE_CLI_INT, PLACE(streams), "N", "3", "number of streams that the batches cycle through", 1,
     HEDDLE_PIPELINE_MOST_STREAMS, NULL},
    {"batches", HEDDLE_CLI_INT, PLACE(batches), "N", NULL,
     "number of batches; default: 128 on cuda, 32 on cpu, 7 on sim", 1, HEDDLE_PIPELINE_MOST_BATCHES, NULL},
    {"bytes", HEDDLE_CLI_TEXT, PLACE(bytes), "SIZE", NULL,
     "size of a batch: 65536, 64K, 16M; default: 16M on cuda, 4M on cpu, 4K on sim", 0, 0, NULL},
    {"work", HEDDLE_CLI_INT, PLACE(work), "ROUNDS", NULL,
     "multiply-add rounds per element; default: enough that compute time matches copy time", 1,
     HEDDLE_PIPELINE_MOST_WORK, NULL},
    {"memory", HEDDLE_CLI_CHOICE, PLACE(memory), "KIND", "pinned", "kind of host memory", 0, 0, memories},
    {"blocking", HEDDLE_CLI_FLAG, PLACE(blocking), NULL, NULL,
     "use streams that synchronise with the default stream, and give that some work per batch", 0, 0, NULL},
    {"callbacks", HEDDLE_CLI_FLAG, PLACE(callbacks), NULL, NULL,
     "queue a batch when a host callback reports that the one before it on its stream is done, instead of all in one "
     "loop",
     0, 0, NULL},
    {"ahead", HEDDLE_CLI_FLAG, PLACE(ahead), NULL, NULL,
     "with --callbacks: run the callbacks on streams of their own and keep one more batch queued per stream", 0, 0,
     NULL},
    {"priority", HEDDLE_CLI_FLAG, PLACE(priority), NULL, NULL, "give the first stream high priority", 0, 0, NULL},
    {"ordered", HEDDLE_CLI_FLAG, PLACE(ordered), NULL, NULL,
     "keep the batches in order with events: a stage waits for the same stage of the batch before (on cpu always so)",
     0, 0, NULL},
    {"compare", HEDDLE_CLI_FLAG, PLACE(compare), NULL, NULL,
     "run all these configurations and compare them in one table; the default if none is chosen", 0, 0, NULL},
    {"rounds", HEDDLE_CLI_INT, PLACE(rounds), "N", NULL,
     "rounds per run, of which the median is reported; default: 3, on sim 1", 1, HEDDLE_PIPELINE_MOST_ROUNDS, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"trace", HEDDLE_CLI_TEXT, PLACE(trace), "FILE", NULL, "write the timeline for ui.perfetto.dev or chrome://tracing",
     0, 0, NULL},
    {"html", HEDDLE_CLI_TEXT, PLACE(html), "FILE", NULL, "write a page with the timelines", 0, 0, NULL},
};

// Options that choose one configuration.
static const char *const ways[] = {"streams", "memory", "blocking", "callbacks", "ahead", "priority", "ordered", NULL};

// --- where results go -----------------------------------------------------------------------------------------------

static heddle_status write_page(const heddle_pipeline *pipeline, const char *path)
{
    heddle_cli_page page;
    HEDDLE_TRY(heddle_cli_page_begin(&page));
    return heddle_cli_page_end(&page, path, heddle_pipeline_show_page(pipeline, page.file));
}

static heddle_status show(const heddle_pipeline *pipeline, const pipeline_settings *settings,
                          const heddle_cli_device *device)
{
    if (!settings->json.print) {
        heddle_cli_device_print(device, stdout);
        HEDDLE_TRY(heddle_pipeline_show_text(pipeline, stdout));
    }
    cJSON *json = heddle_pipeline_json(pipeline);
    heddle_cli_device_add(device, json);
    HEDDLE_TRY(heddle_cli_json_result(&settings->json, json));
    if (settings->trace)
        HEDDLE_TRY(heddle_cli_write_json(heddle_pipeline_trace(pipeline), settings->trace));
    return settings->html ? write_page(pipeline, settings->html) : HEDDLE_OK;
}

// --- the command ----------------------------------------------------------------------------------------------------

// "65536", "64K", "16M", "1G"; 0: invalid.
static size_t parse_bytes(const char *text)
{
    const double most = (double)((size_t)1 << 40);
    const char *end = text + heddle_text_number(text, false);
    double value = strtod(text, NULL);
    if (*end == 'K' || *end == 'M' || *end == 'G')
        value = ldexp(value, *end == 'K' ? 10 : *end == 'M' ? 20 : 30), end++;
    return end > text && *end == '\0' && value >= 1 && value <= most && floor(value) == value ? (size_t)value : 0;
}

static heddle_status run(const heddle_cli_device *device, const pipeline_settings *settings, size_t bytes, bool compare)
{
    const heddle_device_kind kind = device->kind;
    heddle_pipeline_options how = heddle_pipeline_defaults(kind);
    how.batches = settings->batches ? settings->batches : how.batches;
    how.bytes = bytes ? bytes : how.bytes;
    how.work = settings->work;
    how.rounds = settings->rounds ? settings->rounds : how.rounds;
    if (kind == HEDDLE_SIM && settings->trace)
        return heddle_fail(HEDDLE_INVALID,
                           "--trace: the simulated GPU does not report timings; use --device cpu or cuda");
    heddle_pipeline *pipeline = NULL;
    HEDDLE_TRY(heddle_pipeline_open(device->device, &how, &pipeline));
    const heddle_pipeline_way way = {.streams = settings->streams,
                                     .pageable = settings->memory == 1,
                                     .blocking = settings->blocking,
                                     .default_work = settings->blocking,
                                     .callbacks = settings->callbacks,
                                     .ahead = settings->ahead,
                                     .priority = settings->priority,
                                     .ordered = settings->ordered};
    char name[HEDDLE_PIPELINE_TEXT];
    snprintf(name, sizeof name, "%d %s%sstream%s%s", way.streams, way.pageable ? "pageable, " : "",
             way.blocking ? "blocking " : "", way.streams == 1 ? "" : "s",
             way.ahead       ? ", callbacks ahead"
             : way.callbacks ? ", callbacks"
                             : "");
    heddle_status status =
        compare ? heddle_pipeline_compare(pipeline, settings->streams) : heddle_pipeline_measure(pipeline, name, &way);
    if (status == HEDDLE_OK)
        status = show(pipeline, settings, device);
    heddle_pipeline_close(pipeline);
    return status;
}

static int run_command(int argc, char **argv)
{
    pipeline_settings settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_pipeline, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    size_t bytes = settings.bytes ? parse_bytes(settings.bytes) : 0;
    if (settings.bytes && (bytes == 0 || bytes % sizeof(float) != 0))
        return heddle_cli_usage(&heddle_command_pipeline,
                                "--bytes %s: the size must be a multiple of 4, such as 65536, 64K or 16M",
                                settings.bytes);
    if (settings.ahead && !settings.callbacks)
        return heddle_cli_usage(&heddle_command_pipeline, "--ahead needs --callbacks");
    bool chosen = false;
    for (int i = 0; ways[i]; i++) {
        bool given = heddle_cli_given(&heddle_command_pipeline, &arguments, ways[i]);
        if (given && settings.compare && i > 0)
            return heddle_cli_usage(&heddle_command_pipeline, "--compare runs with and without --%s; leave it out",
                                    ways[i]);
        chosen |= given;
    }
    heddle_cli_device device = {0};
    heddle_status status = heddle_cli_can_write(settings.json.file);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings.trace);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings.html);
    if (status == HEDDLE_OK)
        status = heddle_cli_device_open(settings.device, 1, NULL, &device); // the other cores copy meanwhile
    if (status == HEDDLE_OK)
        status = run(&device, &settings, bytes, settings.compare || !chosen);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_cli_device_close(&device);
    return exit_code;
}

const heddle_cli_command heddle_command_pipeline = {
    .name = "pipeline",
    .summary = "show how copies and compute overlap over several streams, and how close that comes to the limit",
    .description =
        "Every batch is copied to the device, processed by rounds of multiply-add, and copied back, on one of N "
        "streams. Events around each stage give the timeline. The limit is the time that the slowest stage alone takes "
        "for all batches. Each result is checked after every round; a wrong one ends the command with exit code "
        "1.\n\nWithout options that choose a configuration, the command compares several: one stream and more, "
        "pageable and pinned memory, blocking and non-blocking streams, callbacks and a loop, a high-priority stream, "
        "order kept by events, and a run limited by its copies.",
    .example = "heddle pipeline\nheddle pipeline --device cpu --streams 2 --trace timeline.json\n"
               "heddle pipeline --streams 4 --callbacks --bytes 32M --html pipeline.html",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
