// `heddle bench OP`: which rungs at which shapes, progress, and where the results go.

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bench/bench.h"
#include "bench/shrink.h"
#include "cli/bench.h"
#include "cli/ops.h"

enum { MOST_NAMES = 1024, NAME_SIZE = 128 };

static const double usual_seconds = 0.5, quick_seconds = 0.05;
// Of a launch on a CPU: in a second or so even by a rung that does nothing for its speed, and its reference too. The
// larger one has the product of 1024 cubed in it.
static const heddle_bench_budget usual_budget = {2.2e9, 256e6}, quick_budget = {1e8, 64e6};
static const double slow_seconds = 1; // of a launch on a CPU that is timed once

// What the command line asks for.
typedef struct request {
    const heddle_cli_bench_settings *settings;
    char name[NAME_SIZE]; // operator or ladder; "": all
    const char *rung;     // NULL: all
    heddle_cli_shapes shapes;
    const char *file;     // a person's own kernel; NULL: none
    const heddle_op *own; // its operator, with a rung more
    heddle_bench *bench;
    bool told_smaller; // that shapes are
    FILE *out;         // where tables go: stderr when standard output is for JSON
} request;

static volatile sig_atomic_t stop_requested;

static void on_interrupt(int number)
{
    stop_requested = 1;
    signal(number, SIG_DFL); // a second one ends it at once
}

static void watch_for_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static void show_progress(void *context, const char *text)
{
    (void)context;
    heddle_cli_show_progress(text);
}

// --- what is asked for -----------------------------------------------------------------------------------------------

static bool is_asked_for(const request *asked, const heddle_op *op)
{
    return asked->name[0] == '\0' || heddle_cli_op_is_called(op, asked->name);
}

static heddle_status unknown_name(const char *name)
{
    const char *names[MOST_NAMES] = {"train", "infer"};
    int count = 2;
    for (int i = 0; i < heddle_op_count() && count + 2 <= MOST_NAMES; i++) {
        names[count++] = heddle_op_at(i)->ladder_name;
        names[count++] = heddle_op_at(i)->name;
    }
    const char *nearest = heddle_text_nearest(name, names, count);
    if (nearest)
        return heddle_fail(HEDDLE_INVALID, "no operator or ladder is called '%s'; did you mean %s?", name, nearest);
    return heddle_fail(HEDDLE_INVALID, "no operator or ladder is called '%s'; `heddle ops` lists them", name);
}

// Whether an operator that is asked for has a rung of that name. Otherwise the message is the first operator's, or that
// of the one that has a name to suggest.
static heddle_status find_rung(const request *asked, const char *name, const char *option)
{
    char message[HEDDLE_BENCH_MESSAGE] = "";
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_rung *rung;
        if (!is_asked_for(asked, heddle_op_at(i)))
            continue;
        if (heddle_rung_find(heddle_op_at(i), name, &rung) == HEDDLE_OK)
            return HEDDLE_OK;
        bool suggests = strstr(heddle_last_error(), "did you mean") != NULL;
        if (!message[0] || (suggests && !strstr(message, "did you mean")))
            snprintf(message, sizeof message, "%s", heddle_last_error());
    }
    return heddle_fail(HEDDLE_INVALID, "%s%s", option, message);
}

static heddle_status read_name(request *asked, const char *what)
{
    const char *end = what ? strrchr(what, '.') : NULL;
    if (end && strcmp(end, ".cu") == 0) {
        const char *found;
        HEDDLE_TRY(heddle_cli_bench_file_op(what, asked->settings->op, &found));
        snprintf(asked->name, sizeof asked->name, "%s", found);
        asked->file = what;
        return HEDDLE_OK;
    }
    if (asked->settings->op)
        return heddle_fail(HEDDLE_INVALID, "--op goes with a file: heddle bench FILE.cu --op %s", asked->settings->op);
    if (!what)
        return HEDDLE_OK;
    const char *slash = strchr(what, '/');
    snprintf(asked->name, sizeof asked->name, "%.*s", (int)(slash ? slash - what : (long)strlen(what)), what);
    asked->rung = slash ? slash + 1 : NULL;
    int matches = 0;
    for (int i = 0; i < heddle_op_count(); i++)
        matches += asked->name[0] && heddle_cli_op_is_called(heddle_op_at(i), asked->name);
    if (matches == 0)
        return unknown_name(asked->name);
    return asked->rung ? find_rung(asked, asked->rung, "") : HEDDLE_OK;
}

static heddle_status read_shapes(request *asked)
{
    HEDDLE_TRY(heddle_cli_shapes_read(&asked->settings->shapes, &asked->shapes));
    if (asked->shapes.count && asked->name[0] == '\0')
        return heddle_fail(HEDDLE_INVALID, "--shape needs an operator: heddle bench matmul --shape \"m=64 n=64 k=64\"");
    return HEDDLE_OK;
}

static bool fits(const heddle_op *op, const char *text)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    return heddle_shape_parse(op, text, shape) == HEDDLE_OK;
}

// Every shape must be one of at least one operator of the ladder.
static heddle_status check_shapes(const request *asked)
{
    for (int s = 0; s < asked->shapes.count; s++) {
        bool fitting = false;
        for (int i = heddle_op_count() - 1; i >= 0 && !fitting; i--) // the first operator's message stays
            fitting = is_asked_for(asked, heddle_op_at(i)) && fits(heddle_op_at(i), asked->shapes.items[s]);
        if (!fitting)
            return HEDDLE_INVALID;
    }
    return HEDDLE_OK;
}

static bool has_rungs(const request *asked, const heddle_op *op)
{
    const char *precision = asked->bench->options.precision;
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        if ((!asked->rung || strcmp(asked->rung, rung->name) == 0) &&
            (!precision || strcmp(precision, heddle_bench_precision(op, rung)) == 0) &&
            heddle_bench_has_rung(op, rung, asked->bench->info.kind))
            return true;
    }
    return false;
}

// Why nothing can be measured, for the person.
static heddle_status nothing_there(const request *asked)
{
    const char *device = heddle_device_kind_name(asked->bench->info.kind);
    const char *precision = asked->bench->options.precision;
    for (int i = 0; asked->rung && i < heddle_op_count(); i++) {
        const heddle_rung *rung;
        if (!is_asked_for(asked, heddle_op_at(i)) || heddle_rung_find(heddle_op_at(i), asked->rung, &rung) != HEDDLE_OK)
            continue;
        if (rung->gpu_only && asked->bench->info.kind == HEDDLE_SIM)
            return heddle_fail(HEDDLE_MISSING, "rung %s needs a real GPU: the simulated one has no %s", rung->name,
                               rung->gpu_only);
        if (!heddle_rung_runs_on(rung, asked->bench->info.kind))
            return heddle_fail(HEDDLE_INVALID, "rung %s is for %s: --device %s", rung->name,
                               heddle_device_kind_name(rung->device), heddle_device_kind_name(rung->device));
        return heddle_fail(HEDDLE_MISSING, "rung %s is not in this build, or this card is too old for it", rung->name);
    }
    return heddle_fail(HEDDLE_INVALID, "nothing to measure: %s%s has no rung%s%s on %s", asked->name[0] ? "" : "heddle",
                       asked->name, precision ? " in " : "", precision ? precision : "", device);
}

// --- where results go ------------------------------------------------------------------------------------------------

static heddle_status write_json(const request *asked)
{
    const char *path = asked->settings->json;
    return path ? heddle_cli_write_json(heddle_bench_json(asked->bench), path) : HEDDLE_OK;
}

static heddle_status write_page(const request *asked)
{
    const char *path = asked->settings->html;
    if (!path)
        return HEDDLE_OK;
    FILE *file = fopen(path, "we");
    if (!file)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    heddle_status status = heddle_bench_show_page(asked->bench, file);
    if (fclose(file) != 0 && status == HEDDLE_OK)
        status = heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    return status;
}

// What there is so far is in the file, whatever happens next.
static heddle_status save(const request *asked)
{
    heddle_bench_conclude(asked->bench);
    return asked->settings->json && strcmp(asked->settings->json, "-") != 0 ? write_json(asked) : HEDDLE_OK;
}

static heddle_status show_from(const request *asked, int first)
{
    heddle_cli_clear_progress();
    for (int last; first < asked->bench->count; first = last) {
        last = heddle_bench_group_end(asked->bench, first);
        HEDDLE_TRY(heddle_bench_show_text(asked->bench, first, last, asked->out));
    }
    fflush(asked->out);
    return HEDDLE_OK;
}

// --- measuring -------------------------------------------------------------------------------------------------------

// A shape with nothing in it to compute: right, but no proof of anything.
static bool is_empty(const heddle_op *op, const char *text)
{
    _Alignas(max_align_t) unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    if (heddle_shape_parse(op, text, shape) != HEDDLE_OK)
        return false;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i].role != HEDDLE_INPUT && heddle_operand_elements(op, i, shape) == 0)
            return true;
    return false;
}

static bool is_measured(const heddle_bench *bench, const heddle_op *op, const char *shape)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].op == op && strcmp(bench->results[i].shape, shape) == 0)
            return true;
    return false;
}

// A shape of the operator's table as this device takes it: the table's fill a GPU, and on a CPU some would take
// minutes.
static heddle_status fit_shape(request *asked, const heddle_op *op, const char *given, char *text, size_t size)
{
    snprintf(text, size, "%s", given);
    if (asked->bench->info.kind != HEDDLE_CPU)
        return HEDDLE_OK;
    char whole[HEDDLE_BENCH_TEXT];
    const heddle_bench_budget *budget = asked->settings->quick ? &quick_budget : &usual_budget;
    HEDDLE_TRY(heddle_bench_shrink(op, given, &(heddle_bench_budget){INFINITY, INFINITY}, whole, sizeof whole));
    HEDDLE_TRY(heddle_bench_shrink(op, given, budget, text, size));
    if (strcmp(whole, text) != 0 && !asked->told_smaller)
        fprintf(asked->out, "shapes that fill a GPU are made smaller for a CPU; --shape takes any\n");
    asked->told_smaller |= strcmp(whole, text) != 0;
    return HEDDLE_OK;
}

static heddle_status measure_shape(request *asked, const heddle_op *op, const char *text)
{
    int first = asked->bench->count;
    heddle_status status = heddle_bench_measure(asked->bench, op, text, asked->rung);
    heddle_status saved = save(asked);
    status = status != HEDDLE_OK ? status : saved;
    // A CPU takes its time, and no figure of a CPU's table waits for other shapes.
    heddle_status shown = asked->bench->info.kind == HEDDLE_CPU ? show_from(asked, first) : HEDDLE_OK;
    return status != HEDDLE_OK ? status : shown;
}

// The operator's own: on sim, which is slow and has no time, the test shapes, which reach every path; else the bench
// shapes. Where one has to do for all, it is the first that is not empty.
static heddle_status measure_own_shapes(request *asked, const heddle_op *op)
{
    bool brief = asked->name[0] == '\0' || asked->settings->quick;
    const char *const *own = asked->bench->info.kind == HEDDLE_SIM ? op->test_shapes : op->bench_shapes;
    for (int i = 0; own && own[i]; i++) {
        char text[HEDDLE_BENCH_TEXT];
        if (brief && is_empty(op, own[i]))
            continue;
        HEDDLE_TRY(fit_shape(asked, op, own[i], text, sizeof text));
        if (!is_measured(asked->bench, op, text)) // two may be the same when they are smaller
            HEDDLE_TRY(measure_shape(asked, op, text));
        if (brief)
            break;
    }
    return HEDDLE_OK;
}

static heddle_status measure_op(request *asked, const heddle_op *op)
{
    heddle_status status = HEDDLE_OK;
    int first = asked->bench->count;
    for (int i = 0; i < asked->shapes.count && status == HEDDLE_OK; i++)
        if (fits(op, asked->shapes.items[i]))
            status = measure_shape(asked, op, asked->shapes.items[i]);
    if (asked->shapes.count == 0)
        status = measure_own_shapes(asked, op);
    if (asked->bench->info.kind == HEDDLE_CPU)
        return status;
    heddle_status shown = show_from(asked, first);
    return status != HEDDLE_OK ? status : shown;
}

static bool anything_checked(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].state != HEDDLE_BENCH_UNCHECKED && bench->results[i].state != HEDDLE_BENCH_NOT_RUN)
            return true;
    return false;
}

static heddle_status measure_all(request *asked)
{
    int measured = 0;
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < heddle_op_count() && status == HEDDLE_OK; i++) {
        if (!is_asked_for(asked, heddle_op_at(i)) || !has_rungs(asked, heddle_op_at(i)))
            continue;
        if (asked->own && strcmp(asked->own->name, heddle_op_at(i)->name) != 0)
            continue;
        measured++;
        status = measure_op(asked, asked->own ? asked->own : heddle_op_at(i));
    }
    if (measured == 0)
        return nothing_there(asked);
    if (status == HEDDLE_OK && asked->bench->count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "no rung here can do that shape");
    if (status == HEDDLE_OK && !anything_checked(asked->bench))
        return heddle_fail(HEDDLE_UNSUPPORTED, "nothing could be checked, so there is no figure: take a smaller shape");
    return status;
}

// Cuda where there is one.
static heddle_status open_device(const heddle_cli_bench_settings *settings, heddle_device **device)
{
    if (settings->device)
        return heddle_device_open(settings->device, settings->threads, device);
    if (heddle_device_open("cuda", settings->threads, device) == HEDDLE_OK)
        return HEDDLE_OK;
    return heddle_device_open("cpu", settings->threads, device);
}

static int tell_wrong(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].state == HEDDLE_BENCH_WRONG || bench->results[i].state == HEDDLE_BENCH_FAILED)
            fprintf(stderr, "heddle: %s\n", bench->results[i].message);
    return heddle_bench_found_wrong(bench) ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_OK;
}

static int run(request *asked, heddle_device *device)
{
    const heddle_cli_bench_settings *settings = asked->settings;
    heddle_bench_options options = {
        .seed = settings->seed,
        .seconds = settings->seconds > 0 ? settings->seconds
                   : settings->quick     ? quick_seconds
                                         : usual_seconds,
        .slow = slow_seconds,
        .precision = settings->dtype > 0 ? heddle_cli_bench_dtypes[settings->dtype] : NULL,
        .against = settings->against,
        .stop = &stop_requested,
        .listener = show_progress,
    };
    heddle_status status = heddle_bench_open(device, &options, &asked->bench);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    heddle_bench_show_machine(asked->bench, asked->out);
    watch_for_interrupts();
    status = measure_all(asked);
    heddle_cli_clear_progress();
    heddle_bench_show_clocks(asked->bench, asked->out);
    asked->bench->complete = status == HEDDLE_OK;
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_bench_conclude(asked->bench);
    heddle_status written = asked->bench->count > 0 ? write_json(asked) : HEDDLE_OK;
    if (written == HEDDLE_OK && asked->bench->count > 0)
        written = write_page(asked);
    if (written != HEDDLE_OK)
        exit_code = written == status ? exit_code : heddle_cli_fail(written); // told once
    int wrong = tell_wrong(asked->bench);
    heddle_bench_close(asked->bench);
    return exit_code != HEDDLE_EXIT_OK ? exit_code : wrong;
}

int heddle_cli_bench_rungs(const heddle_cli_bench_settings *settings, const char *what)
{
    request asked = {.settings = settings, .out = stdout};
    if (settings->json && strcmp(settings->json, "-") == 0)
        asked.out = stderr;
    heddle_device *device = NULL;
    heddle_status status = read_name(&asked, what);
    if (status == HEDDLE_OK)
        status = read_shapes(&asked);
    if (status == HEDDLE_OK)
        status = check_shapes(&asked);
    if (status == HEDDLE_OK && settings->against)
        status = find_rung(&asked, settings->against, "--against: ");
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->json);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->html);
    if (status == HEDDLE_OK)
        status = open_device(settings, &device);
    heddle_cli_bench_file *file = NULL;
    if (status == HEDDLE_OK && asked.file)
        status = heddle_cli_bench_file_open(asked.file, device, &file, &asked.own);
    int exit_code = status == HEDDLE_OK ? run(&asked, device) : heddle_cli_fail(status);
    heddle_cli_bench_file_close(file);
    if (device)
        heddle_device_close(device);
    heddle_cli_shapes_free(&asked.shapes);
    return exit_code;
}
