// `heddle trace`: runs a program and shows what it did on the GPU, and when. libheddle-cupti.so, which the CUDA driver
// loads into the program, records it; bench/timeline summarises it.

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/table.h"
#include "bench/timeline.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/trace.h"
#include "device/module.h"
#include "profile/profile.h"

enum { PATH_SIZE = 4096, MOST_DRAWN = 8, DRAWN_WIDTH = 88, NOT_FOUND = 127 };
static const double drawn_copies = 6; // number of copies in the picture

static const heddle_cli_option options[] = {
    {"out", HEDDLE_CLI_TEXT, offsetof(heddle_cli_trace, out), "FILE", NULL,
     "write the timeline for ui.perfetto.dev: as trace events or, where FILE ends in .pftrace, in Perfetto's own "
     "format",
     0, 0, NULL},
    HEDDLE_CLI_JSON_OPTION(offsetof(heddle_cli_trace, json)),
};

// --- the program -----------------------------------------------------------------------------------------------------

// In the child: never returns.
static void run_in_child(char **words, const char *module, const char *spans, bool output_to_stderr)
{
    setenv("CUDA_INJECTION64_PATH", module, 1);
    setenv("HEDDLE_TRACE_SPANS", spans, 1);
    signal(SIGXFSZ, SIG_DFL); // main.c ignores it, and ignoring would survive exec
    if (output_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(words[0], words);
    if (errno == ENOENT && strcmp(words[0], "heddle") == 0) // not installed: use this program
        execv("/proc/self/exe", words);
    fprintf(stderr, "heddle: cannot run %s: %s\n", words[0], strerror(errno));
    _exit(NOT_FOUND);
}

static volatile pid_t program; // the traced program

// Ctrl-C in a terminal reaches the program as well; what it did until then is shown. Other signals are passed on.
static void pass_on(int number)
{
    if (number != SIGINT && program > 0)
        kill(program, number);
}

static heddle_status run_program(char **words, const char *module, const char *spans, bool output_to_stderr,
                                 int *outcome)
{
    fflush(NULL);
    heddle_cli_stop_gently(&(heddle_cli_gently){.also = pass_on});
    program = fork();
    if (program < 0)
        return heddle_fail(HEDDLE_IO, "cannot start %s: %s", words[0], strerror(errno));
    if (program == 0)
        run_in_child(words, module, spans, output_to_stderr);
    while (waitpid(program, outcome, 0) < 0)
        if (errno != EINTR)
            return heddle_fail(HEDDLE_IO, "cannot wait for %s: %s", words[0], strerror(errno));
    return HEDDLE_OK;
}

// --- what it did -----------------------------------------------------------------------------------------------------

static heddle_status show_rows(const heddle_timeline *timeline)
{
    heddle_table *table = heddle_table_create();
    static const char *const titles[] = {"times", "ms", "% of time", "longest, µs", "GB/s", "% overlapped"};
    heddle_table_column(table, "", HEDDLE_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        heddle_table_column(table, titles[i], HEDDLE_RIGHT);
    for (int i = 0; i < timeline->row_count; i++) {
        const heddle_timeline_row *row = &timeline->rows[i];
        heddle_table_cell(table, "%s", row->name);
        heddle_table_cell(table, "%d", row->count);
        heddle_table_cell(table, "%.3f", 1e3 * row->seconds);
        heddle_table_cell(table, "%.1f", 100 * row->seconds / timeline->seconds);
        heddle_table_cell(table, "%.1f", 1e6 * row->longest);
        if (row->kind == HEDDLE_SPAN_KERNEL || row->seconds <= 0) {
            heddle_table_cell(table, "%s", "");
            heddle_table_cell(table, "%s", "");
        } else {
            heddle_table_cell(table, "%.2f", 1e-9 * row->bytes / row->seconds);
            heddle_table_cell(table, "%.1f", 100 * row->under_kernels / row->seconds);
        }
    }
    return heddle_table_finish(table, stdout);
}

// An interval from the middle of the run with a few of its copies, or a hundredth of a run without copies.
static void show_picture(const heddle_timeline *timeline)
{
    int copies = 0, drawn = 0, streams[MOST_DRAWN];
    for (int i = 0; i < timeline->row_count; i++)
        if (timeline->rows[i].kind == HEDDLE_SPAN_COPY_IN || timeline->rows[i].kind == HEDDLE_SPAN_COPY_OUT)
            copies += timeline->rows[i].count;
    double length = timeline->seconds * (copies > drawn_copies ? drawn_copies / copies : 0.01);
    double begin = (timeline->seconds - length) / 2;
    for (int i = 0; i < timeline->count && drawn < MOST_DRAWN; i++) {
        const heddle_span *span = &timeline->spans[i];
        bool shown = span->end <= begin || span->begin >= begin + length;
        for (int j = 0; j < drawn && !shown; j++)
            shown = streams[j] == span->stream;
        if (!shown)
            streams[drawn++] = span->stream;
    }
    printf("\n%.3f ms from the middle of the run (# kernel, > copy in, < copy out, = other)\n", 1e3 * length);
    for (int i = 0; i < drawn; i++) {
        char line[DRAWN_WIDTH + 1];
        heddle_timeline_draw(timeline, streams[i], begin, begin + length, DRAWN_WIDTH, line);
        printf("stream %-4d %s\n", streams[i], line);
    }
}

static heddle_status show(const heddle_timeline *timeline)
{
    printf("\n%d kernels and copies on %d stream%s in %.3f ms; a kernel ran %.1f %% of the time\n\n", timeline->count,
           timeline->streams, timeline->streams == 1 ? "" : "s", 1e3 * timeline->seconds,
           100 * timeline->kernel_seconds / timeline->seconds);
    HEDDLE_TRY(show_rows(timeline));
    show_picture(timeline);
    if (timeline->dropped)
        printf("%ld more were dropped: they came faster than they could be recorded\n", timeline->dropped);
    return HEDDLE_OK;
}

// --- Perfetto's format -----------------------------------------------------------------------------------------------

static bool wants_perfetto(const char *path)
{
    static const char ending[] = ".pftrace";
    const size_t length = path ? strlen(path) : 0;
    return length >= strlen(ending) && strcmp(path + length - strlen(ending), ending) == 0;
}

static heddle_gpu_kind kind_of(heddle_span_kind kind)
{
    static const heddle_gpu_kind kinds[HEDDLE_SPAN_KINDS] = {HEDDLE_GPU_KERNEL, HEDDLE_GPU_COPY_IN, HEDDLE_GPU_COPY_OUT,
                                                             HEDDLE_GPU_COPY_INSIDE, HEDDLE_GPU_SET};
    return kinds[kind];
}

static void fill_records(const heddle_timeline *timeline, heddle_gpu_record *records, heddle_profile_data *data)
{
    for (int i = 0; i < timeline->row_count; i++)
        data->names[data->name_count++] = (char *)timeline->rows[i].name;
    for (int i = 0; i < timeline->count; i++) {
        const heddle_span *span = &timeline->spans[i];
        records[i] = (heddle_gpu_record){.kind = kind_of(span->kind),
                                         .stream = (uint32_t)span->stream,
                                         .begin = (uint64_t)(1e9 * span->begin),
                                         .end = (uint64_t)(1e9 * span->end),
                                         .bytes = (uint64_t)span->bytes,
                                         .name = -1};
        for (int j = 0; span->kind == HEDDLE_SPAN_KERNEL && j < data->name_count; j++)
            if (strcmp(data->names[j], span->name) == 0)
                records[i].name = j;
    }
}

static heddle_status write_perfetto(const heddle_timeline *timeline, const char *path)
{
    heddle_gpu_record *records = calloc((size_t)timeline->count + 1, sizeof *records);
    heddle_profile_data data = {.device = HEDDLE_CUDA,
                                .names = calloc((size_t)timeline->row_count + 1, sizeof(char *))};
    heddle_status status = HEDDLE_OUT_OF_MEMORY;
    if (records && data.names) {
        fill_records(timeline, records, &data);
        status = heddle_profile_match(&data, records, timeline->count, NULL, 0);
        if (status == HEDDLE_OK)
            status = heddle_profile_settle(&data);
        if (status == HEDDLE_OK)
            status = heddle_profile_write_perfetto(&data, path);
    } else {
        heddle_fail(status, "no memory for %s", path);
    }
    free(records);
    free(data.names);
    free(data.spans);
    free(data.lanes);
    free(data.launches);
    return status;
}

static heddle_status write_results(const heddle_timeline *timeline, const heddle_cli_trace *settings)
{
    if (wants_perfetto(settings->out))
        HEDDLE_TRY(write_perfetto(timeline, settings->out));
    else if (settings->out)
        HEDDLE_TRY(heddle_cli_write_json(heddle_timeline_trace(timeline), settings->out));
    if (!settings->json.print)
        HEDDLE_TRY(show(timeline));
    return heddle_cli_json_result(&settings->json, heddle_timeline_summary(timeline));
}

// --- the command -----------------------------------------------------------------------------------------------------

// Reports how the program ended, if it was a signal. Its exit code is the command's.
static int exit_code_of(const char *name, int outcome)
{
    if (heddle_cli_interrupted)
        return heddle_cli_interrupt_code();
    if (WIFEXITED(outcome))
        return WEXITSTATUS(outcome);
    fprintf(stderr, "heddle: %s was terminated by signal %d (%s)\n", name, WTERMSIG(outcome),
            strsignal(WTERMSIG(outcome)));
    return HEDDLE_CLI_SIGNALLED + WTERMSIG(outcome);
}

static heddle_status trace_program(char **words, const heddle_cli_trace *settings, char *spans, int *outcome)
{
    char module[PATH_SIZE];
    if (!heddle_module_find("libheddle-cupti.so", module, sizeof module))
        return heddle_fail(
            HEDDLE_MISSING,
            "heddle was built without CUPTI; rebuild where cupti.h and libcupti of the CUDA toolkit are installed");
    if (wants_perfetto(settings->out) && !heddle_profile_has_perfetto())
        return heddle_profile_write_perfetto(NULL, settings->out); // says what is missing
    HEDDLE_TRY(heddle_cli_can_write(settings->out));
    HEDDLE_TRY(heddle_cli_can_write(settings->json.file));
    int file = mkstemp(spans);
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "cannot write %s: %s", spans, strerror(errno));
    close(file);
    heddle_timeline timeline = {0};
    heddle_status status = run_program(words, module, spans, settings->json.print, outcome);
    if (status == HEDDLE_OK)
        status = heddle_timeline_read(spans, &timeline);
    unlink(spans);
    if (status == HEDDLE_OK && timeline.count == 0 && !heddle_cli_interrupted && WIFEXITED(*outcome) &&
        WEXITSTATUS(*outcome) == 0)
        status = heddle_fail(HEDDLE_DEVICE, "%s did not use a GPU: there is nothing to show", words[0]);
    if (status == HEDDLE_OK && timeline.count)
        status = write_results(&timeline, settings);
    heddle_timeline_free(&timeline);
    return status;
}

int heddle_cli_trace_program(char **words, const heddle_cli_trace *settings)
{
    int outcome = 0;
    const char *folder = getenv("TMPDIR");
    char spans[PATH_SIZE];
    snprintf(spans, sizeof spans, "%s/heddle-spans-XXXXXX", folder && *folder ? folder : "/tmp");
    heddle_status status = trace_program(words, settings, spans, &outcome);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    return exit_code_of(words[0], outcome);
}

static int run_command(int argc, char **argv)
{
    heddle_cli_trace settings = {0};
    heddle_cli_arguments arguments;
    int exit_code;
    if (!heddle_cli_parse(&heddle_command_trace, argc, argv, &settings, &arguments, &exit_code))
        return exit_code;
    arguments.items[arguments.count] = NULL; // for execvp; argv has room for it
    return heddle_cli_trace_program(arguments.items, &settings);
}

const heddle_cli_command heddle_command_trace = {
    .name = "trace",
    .summary = "show what a program does on the GPU, and when",
    .arguments = "-- PROGRAM [ARGUMENT...]",
    .least_arguments = 1,
    .most_arguments = 1 << 16,
    .description = "Runs any CUDA program, unchanged, and shows its kernels and copies: how often, how long, and how "
                   "much of the copy time overlaps with kernels. The exit code is the program's, or 1 if the program "
                   "succeeded without using a GPU. Needs a GPU.",
    .example = "heddle trace -- ./my_program 1024\n"
               "heddle trace --out step.json -- heddle train --device cuda --data-place streamed",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_command,
};
