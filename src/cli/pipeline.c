// `heddle pipeline`: batches through copy-in, compute and copy-out over several streams. This file is the command line
// and where results go; bench/pipeline does the work.

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
    int memory; // place in `memories`
    bool blocking, callbacks, ahead, priority, ordered, compare;
} pipeline_settings;

static const char *const memories[] = {"pinned", "pageable", NULL};

#define PLACE(field) offsetof(pipeline_settings, field)

static const heddle_cli_option options[] = {
    {"device", HEDDLE_CLI_TEXT, PLACE(device), "NAME", NULL,
     "cuda, cpu, or sim, which checks and has no time; cuda where there is a GPU, else cpu", 0, 0, NULL},
    {"streams", HEDDLE_CLI_INT, PLACE(streams), "N", "3", "streams that the batches take in turn", 1,
     HEDDLE_PIPELINE_MOST_STREAMS, NULL},
    {"batches", HEDDLE_CLI_INT, PLACE(batches), "N", NULL, "how many; 128 on cuda, 32 on cpu, 7 on sim unless told", 1,
     HEDDLE_PIPELINE_MOST_BATCHES, NULL},
    {"bytes", HEDDLE_CLI_TEXT, PLACE(bytes), "SIZE", NULL,
     "of a batch: 65536, 64K, 16M; 16M on cuda, 4M on cpu, 4K on sim unless told", 0, 0, NULL},
    {"work", HEDDLE_CLI_INT, PLACE(work), "ROUNDS", NULL,
     "multiplications and additions an element; so many that compute takes as long as the copies unless told", 1,
     HEDDLE_PIPELINE_MOST_WORK, NULL},
    {"memory", HEDDLE_CLI_CHOICE, PLACE(memory), "KIND", "pinned", "of the host", 0, 0, memories},
    {"blocking", HEDDLE_CLI_FLAG, PLACE(blocking), NULL, NULL,
     "streams that wait for the default stream, which each batch gives a little work", 0, 0, NULL},
    {"callbacks", HEDDLE_CLI_FLAG, PLACE(callbacks), NULL, NULL,
     "queue a batch when a host callback says that the one before on its stream is done, not all in one loop", 0, 0,
     NULL},
    {"ahead", HEDDLE_CLI_FLAG, PLACE(ahead), NULL, NULL,
     "with --callbacks: on a stream of their own, and one batch more is queued on each stream", 0, 0, NULL},
    {"priority", HEDDLE_CLI_FLAG, PLACE(priority), NULL, NULL, "the first stream is urgent", 0, 0, NULL},
    {"ordered", HEDDLE_CLI_FLAG, PLACE(ordered), NULL, NULL,
     "events keep the batches in order, as always on cpu: a stage waits for that of the batch before", 0, 0, NULL},
    {"compare", HEDDLE_CLI_FLAG, PLACE(compare), NULL, NULL,
     "run all these ways and show them in one table; what happens when no way is chosen", 0, 0, NULL},
    {"rounds", HEDDLE_CLI_INT, PLACE(rounds), "N", NULL, "of each run; the median counts; 3, on sim 1 unless told", 1,
     HEDDLE_PIPELINE_MOST_ROUNDS, NULL},
    HEDDLE_CLI_JSON_OPTION(PLACE(json)),
    {"trace", HEDDLE_CLI_TEXT, PLACE(trace), "FILE", NULL, "write the timeline for ui.perfetto.dev or chrome://tracing",
     0, 0, NULL},
    {"html", HEDDLE_CLI_TEXT, PLACE(html), "FILE", NULL, "write a page with the timelines", 0, 0, NULL},
};

// What chooses one way to run.
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

// "65536", "64K", "16M", "1G"; 0: makes no sense.
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
        return heddle_fail(HEDDLE_INVALID, "--trace: the simulated GPU has no time to show: leave it out, or use "
                                           "--device cpu or cuda");
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
                                "--bytes %s: a batch is whole floats: a multiple of 4, like 65536, 64K or 16M",
                                settings.bytes);
    if (settings.ahead && !settings.callbacks)
        return heddle_cli_usage(&heddle_command_pipeline, "--ahead goes with --callbacks");
    bool chosen = false;
    for (int i = 0; ways[i]; i++) {
        bool given = heddle_cli_given(&heddle_command_pipeline, &arguments, ways[i]);
        if (given && settings.compare && i > 0)
            return heddle_cli_usage(&heddle_command_pipeline, "--compare runs with --%s and without it: leave it out",
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
        status = heddle_cli_device_open(settings.device, 1, NULL, &device); // the other cores copy beside the compute
    if (status == HEDDLE_OK)
        status = run(&device, &settings, bytes, settings.compare || !chosen);
    exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_cli_device_close(&device);
    return exit_code;
}

const heddle_cli_command heddle_command_pipeline = {
    .name = "pipeline",
    .summary = "batches through copy-in, compute and copy-out over streams: what overlaps, and how near to the limit",
    .description =
        "Every batch is copied to the device, goes through rounds of multiply and add there, and is copied back, on "
        "one "
        "of N streams; events around each stage are the timeline. The limit is what the slowest stage "
        "takes for all batches alone. Each batch's result is checked after every round; one that is wrong ends the "
        "command with 1. Without options that choose a way to run, it compares: 1 stream and more, pageable and pinned "
        "memory, blocking and non-blocking streams, callbacks and a loop, an urgent stream, order kept by events, and "
        "copies as the limit.",
    .example = "heddle pipeline\nheddle pipeline --device cpu --streams 2 --trace timeline.json\n"
               "heddle pipeline --streams 4 --callbacks --bytes 32M --html pipeline.html",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
