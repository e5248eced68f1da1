// `heddle bench OP`: chooses rungs and shapes, shows progress, and writes the results.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/text.h"
#include "bench/bench.h"
#include "bench/shrink.h"
#include "cli/bench.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/ops.h"
#include "cli/shapes.h"

enum { NAME_SIZE = 128 };

const char *const heddle_cli_bench_dtypes[] = {"all", "f32", "tf32", "bf16", "f16", "f64", "i8", "u8", "i32", NULL};

static const double usual_seconds = 0.5, quick_seconds = 0.05;
// Work of one launch on a CPU: about a second for an unoptimised rung, and for its reference. The largest allows a
// product of 1024 cubed. Generating inputs and checking take a hundred times as long as a launch, so a quick look at
// all operators uses small shapes.
static const heddle_bench_budget usual_budget = {2.2e9, 256e6}, quick_budget = {1e8, 64e6}, all_budget = {1e7, 4e6};
// Work of one launch on the simulated GPU in a quick look: a fraction of a second per rung.
static const heddle_bench_budget sim_budget = {2e5, 2e5};
static const double slow_seconds = 1; // a launch on a CPU that takes longer is timed once

// What the command line requests.
typedef struct request {
    const heddle_cli_bench_settings *settings;
    const char *what;     // as it was given; NULL: all
    char name[NAME_SIZE]; // operator or ladder; "": all
    const char *rung;     // NULL: all
    heddle_cli_shapes shapes;
    const char *file;      // the user's own kernel; NULL: none
    const heddle_op *own;  // its operator, with one more rung
    const char *precision; // of the rungs; NULL: any
    heddle_cli_device device;
    heddle_device_kind kind;
    heddle_bench *bench;
    bool reduction_told; // the note about reduced shapes was printed
    int done, wanted;    // operators
    int shown;           // results
} request;

static void show_progress(void *context, const char *text)
{
    const request *asked = context;
    char line[2 * HEDDLE_BENCH_MESSAGE];
    if (heddle_cli_interrupted) // the guard may be printing results
        return;
    snprintf(line, sizeof line, "%d of %d: %s", asked->done + 1, asked->wanted, text);
    heddle_cli_show_progress(asked->wanted > 1 ? line : text);
}

// --- what is asked for -----------------------------------------------------------------------------------------------

static bool is_asked_for(const request *asked, const heddle_op *op)
{
    return asked->name[0] == '\0' || heddle_cli_op_is_called(op, asked->name);
}

// Whether a requested operator has a rung of that name. If not, the message is that of the first operator, or of the
// first that can suggest a name.
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
    static const char *const jobs[] = {"train", "infer", "out-of-core", "collectives", NULL};
    if (asked->file) {
        const char *found;
        HEDDLE_TRY(heddle_cli_bench_file_op(what, asked->settings->op, &found));
        snprintf(asked->name, sizeof asked->name, "%s", found);
        return HEDDLE_OK;
    }
    if (asked->settings->op)
        return heddle_fail(HEDDLE_INVALID, "--op needs a file: heddle bench FILE.cu --op %s", asked->settings->op);
    if (!what)
        return HEDDLE_OK;
    const char *slash = strchr(what, '/');
    snprintf(asked->name, sizeof asked->name, "%.*s", (int)(slash ? slash - what : (long)strlen(what)), what);
    asked->rung = slash ? slash + 1 : NULL;
    int matches = 0;
    for (int i = 0; i < heddle_op_count(); i++)
        matches += asked->name[0] && heddle_cli_op_is_called(heddle_op_at(i), asked->name);
    if (matches == 0)
        return heddle_cli_unknown_op(asked->name, jobs);
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

// Every shape must fit at least one operator of the ladder.
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

// Whether the operator's rung of that name supports the shape.
static bool can_do(const heddle_op *op, const char *name, const char *text)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const heddle_rung *rung;
    return heddle_rung_find(op, name, &rung) == HEDDLE_OK && heddle_shape_parse(op, text, shape) == HEDDLE_OK &&
           (!rung->supports || rung->supports(shape));
}

// The first given shape that fits the operator; NULL: none.
static const char *first_fitting(const request *asked, const heddle_op *op)
{
    for (int s = 0; s < asked->shapes.count; s++)
        if (fits(op, asked->shapes.items[s]))
            return asked->shapes.items[s];
    return NULL;
}

// A rung requested by name must support at least one of the shapes. If not, the message is that of the first operator
// that a shape fits.
static heddle_status check_rung_shapes(const request *asked)
{
    const heddle_op *of = NULL;
    const heddle_rung *rung = NULL;
    const char *shape = NULL;
    for (int i = 0; asked->rung && asked->shapes.count && i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (!is_asked_for(asked, op) || heddle_rung_find(op, asked->rung, &rung) != HEDDLE_OK)
            continue;
        for (int s = 0; s < asked->shapes.count; s++)
            if (can_do(op, asked->rung, asked->shapes.items[s]))
                return HEDDLE_OK;
        if (!of || (!shape && first_fitting(asked, op))) {
            of = op;
            shape = first_fitting(asked, op);
        }
    }
    if (!of || heddle_rung_find(of, asked->rung, &rung) != HEDDLE_OK)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "rung %s of %s does not support %s: \"%s\"", rung->name, of->name,
                       shape ? shape : asked->shapes.items[0], rung->note);
}

static bool is_rung_wanted(const request *asked, const heddle_op *op, const heddle_rung *rung)
{
    return (!asked->rung || strcmp(asked->rung, rung->name) == 0) &&
           (!asked->precision || strcmp(asked->precision, heddle_bench_precision(op, rung)) == 0) &&
           heddle_bench_has_rung(op, rung, asked->kind);
}

static bool has_rungs(const request *asked, const heddle_op *op)
{
    for (int i = 0; i < op->rungs; i++)
        if (is_rung_wanted(asked, op, &op->ladder[i]))
            return true;
    return false;
}

// Why a named rung is not available on this device.
static heddle_status rung_not_here(const request *asked, const heddle_rung *rung, const char *option)
{
    const char *device = heddle_device_kind_name(rung->device);
    bool on_sim = heddle_rung_runs_on(rung, HEDDLE_SIM);
    if (rung->gpu_only && asked->kind == HEDDLE_SIM)
        return heddle_fail(HEDDLE_MISSING, "%srung %s needs a real GPU: the simulated one does not support %s", option,
                           rung->name, rung->gpu_only);
    if (heddle_rung_runs_on(rung, asked->kind))
        return heddle_fail(HEDDLE_MISSING, "%srung %s is not in this build, or this GPU is too old for it", option,
                           rung->name);
    if (rung->device == HEDDLE_CUDA && !asked->settings->device)
        return heddle_fail(HEDDLE_MISSING, "%srung %s needs a GPU (`heddle doctor` says why there is none)%s", option,
                           rung->name, on_sim ? "; --device sim checks it (no timings)" : "");
    return heddle_fail(HEDDLE_INVALID, "%srung %s runs on %s: use --device %s%s", option, rung->name, device, device,
                       on_sim ? ", or --device sim (correctness only, no timings)" : "");
}

// Whether a named rung is available on this device in at least one operator. If not, the message is that of the first
// operator that a shape fits.
static heddle_status check_here(const request *asked, const char *name, const char *option)
{
    const heddle_rung *rung, *absent = NULL;
    bool fitting = false;
    for (int i = 0; name && i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (!is_asked_for(asked, op) || heddle_rung_find(op, name, &rung) != HEDDLE_OK)
            continue;
        if (heddle_bench_has_rung(op, rung, asked->kind))
            return HEDDLE_OK;
        if (!absent || (!fitting && first_fitting(asked, op))) {
            absent = rung;
            fitting = first_fitting(asked, op) != NULL;
        }
    }
    return absent ? rung_not_here(asked, absent, option) : HEDDLE_OK;
}

static bool is_wanted(const request *asked, const heddle_op *op)
{
    return is_asked_for(asked, op) && has_rungs(asked, op) && (!asked->own || strcmp(asked->own->name, op->name) == 0);
}

// Checks that there is something to measure on this device, before it is measured.
static heddle_status count_wanted(request *asked)
{
    HEDDLE_TRY(check_here(asked, asked->rung, ""));
    HEDDLE_TRY(check_here(asked, asked->settings->against, "--against: "));
    for (int i = 0; i < heddle_op_count(); i++)
        asked->wanted += is_wanted(asked, heddle_op_at(i));
    if (asked->wanted > 0)
        return HEDDLE_OK;
    const char *precision = asked->precision;
    return heddle_fail(HEDDLE_INVALID, "nothing to measure: %s%s has no rung%s%s on %s", asked->name[0] ? "" : "heddle",
                       asked->name, precision ? " in " : "", precision ? precision : "",
                       heddle_device_kind_name(asked->kind));
}

// --- where results go ------------------------------------------------------------------------------------------------

static cJSON *to_json(const request *asked)
{
    cJSON *json = heddle_bench_json(asked->bench);
    if (json)
        heddle_cli_device_add(&asked->device, json);
    return json;
}

static heddle_status write_page(const request *asked)
{
    // Rungs of the CPU are not CUDA, and those of all operators are too many for a page.
    const bool has_source = asked->bench->complete && asked->what && asked->kind != HEDDLE_CPU;
    const heddle_cli_bench_source source = {.file = asked->file,
                                            .what = asked->file ? asked->name : asked->what,
                                            .dtype = heddle_cli_bench_dtypes[asked->settings->dtype],
                                            .seed = asked->settings->seed};
    return asked->settings->html
               ? heddle_cli_bench_write_page(asked->bench, has_source ? &source : NULL, asked->settings->html)
               : HEDDLE_OK;
}

// The results so far are in the file, whatever happens next.
static heddle_status save(const request *asked)
{
    heddle_bench_conclude(asked->bench);
    return heddle_cli_json_save(&asked->settings->json, to_json(asked));
}

// The results that were not shown yet, each as an event.
static void print_events(request *asked)
{
    cJSON *json = heddle_bench_json(asked->bench), *results = cJSON_GetObjectItemCaseSensitive(json, "results");
    const int first = asked->shown;
    for (; asked->shown < asked->bench->count; asked->shown++)
        heddle_cli_json_event(&asked->settings->json, "measured", cJSON_DetachItemFromArray(results, first));
    cJSON_Delete(json);
}

static heddle_status show_new(request *asked)
{
    heddle_cli_clear_progress();
    if (asked->settings->json.print)
        print_events(asked);
    while (asked->shown < asked->bench->count) {
        int first = asked->shown;
        asked->shown = heddle_bench_group_end(asked->bench, first);
        HEDDLE_TRY(heddle_bench_show_text(asked->bench, first, asked->shown, stdout));
    }
    fflush(stdout);
    return HEDDLE_OK;
}

// --- measuring -------------------------------------------------------------------------------------------------------

// A shape without output elements: trivially right, and no evidence.
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

// An operator's shape as this device takes it: they are sized for a GPU, and some would take minutes on a CPU.
static heddle_status fit_shape(request *asked, const heddle_op *op, const char *given, char *text, size_t size)
{
    snprintf(text, size, "%s", given);
    if (asked->bench->info.kind != HEDDLE_CPU)
        return HEDDLE_OK;
    char whole[HEDDLE_BENCH_TEXT];
    const heddle_bench_budget *budget = !asked->settings->quick  ? &usual_budget
                                        : asked->name[0] == '\0' ? &all_budget
                                                                 : &quick_budget;
    HEDDLE_TRY(heddle_bench_shrink(op, given, &(heddle_bench_budget){INFINITY, INFINITY}, whole, sizeof whole));
    HEDDLE_TRY(heddle_bench_shrink(op, given, budget, text, size));
    if (strcmp(whole, text) != 0 && !asked->reduction_told && !asked->settings->json.print)
        printf("shapes sized for a GPU are reduced for the CPU; --shape takes any shape\n");
    asked->reduction_told |= strcmp(whole, text) != 0;
    return HEDDLE_OK;
}

static heddle_status measure_shape(request *asked, const heddle_op *op, const char *text)
{
    heddle_status status = heddle_bench_measure(asked->bench, op, text, asked->rung);
    heddle_status saved = save(asked);
    status = status != HEDDLE_OK ? status : saved;
    // Measuring on a CPU is slow, and no figure of its table depends on other shapes: show each at once.
    heddle_status shown = asked->bench->info.kind == HEDDLE_CPU ? show_new(asked) : HEDDLE_OK;
    return status != HEDDLE_OK ? status : shown;
}

static int count_rungs(const request *asked, const heddle_op *op, const void *shape)
{
    int count = 0;
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        count += is_rung_wanted(asked, op, rung) && (!rung->supports || rung->supports(shape));
    }
    return count;
}

// The test shape for a quick look on sim. Of those that take a moment, the one that most rungs support, and of these
// the largest; if all take longer, the smallest. NULL: there is none.
static const char *choose_test_shape(const request *asked, const heddle_op *op)
{
    const char *best = NULL;
    int most_rungs = 0;
    double best_work = 0;
    bool best_short = false;
    for (int i = 0; op->test_shapes && op->test_shapes[i]; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        if (is_empty(op, op->test_shapes[i]) || heddle_shape_parse(op, op->test_shapes[i], shape) != HEDDLE_OK)
            continue;
        heddle_cost cost = op->cost(shape);
        double bytes = cost.bytes_read + cost.bytes_written, work = cost.flops + bytes;
        int rungs = count_rungs(asked, op, shape);
        bool is_short = cost.flops <= sim_budget.flops && bytes <= sim_budget.bytes;
        bool more = rungs > most_rungs || (rungs == most_rungs && work > best_work);
        bool better = is_short ? !best_short || more : !best_short && (!best || work < best_work);
        if (rungs == 0 || !better)
            continue;
        best = op->test_shapes[i];
        most_rungs = rungs;
        best_work = work;
        best_short = is_short;
    }
    return best;
}

// Measures the operator's own shapes: on sim, which is slow and reports no timings, the test shapes, which reach every
// path; else the benchmark shapes. A brief run takes the first that is not empty, on sim a large one. A rung requested
// by name is measured at shapes that it supports.
static heddle_status measure_own_shapes(request *asked, const heddle_op *op)
{
    bool brief = asked->name[0] == '\0' || asked->settings->quick, on_sim = asked->kind == HEDDLE_SIM;
    const char *chosen[] = {brief && on_sim ? choose_test_shape(asked, op) : NULL, NULL};
    const char *const *own = brief && on_sim ? chosen : on_sim ? op->test_shapes : op->bench_shapes;
    for (int i = 0; own && own[i]; i++) {
        char text[HEDDLE_BENCH_TEXT];
        if (brief && is_empty(op, own[i]))
            continue;
        HEDDLE_TRY(fit_shape(asked, op, own[i], text, sizeof text));
        if (asked->rung && !can_do(op, asked->rung, text))
            continue;
        if (!is_measured(asked->bench, op, text)) // two may become equal when reduced
            HEDDLE_TRY(measure_shape(asked, op, text));
        if (brief)
            break;
    }
    return HEDDLE_OK;
}

static heddle_status measure_op(request *asked, const heddle_op *op)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < asked->shapes.count && status == HEDDLE_OK; i++)
        if (fits(op, asked->shapes.items[i]))
            status = measure_shape(asked, op, asked->shapes.items[i]);
    if (asked->shapes.count == 0)
        status = measure_own_shapes(asked, op);
    heddle_status shown = show_new(asked);
    return status != HEDDLE_OK ? status : shown;
}

static bool is_there(const heddle_bench *bench, bool checked)
{
    for (int i = 0; i < bench->count; i++) {
        heddle_bench_state state = bench->results[i].state;
        if (state != HEDDLE_BENCH_NOT_RUN && (!checked || state != HEDDLE_BENCH_UNCHECKED))
            return true;
    }
    return false;
}

// Checks that something was measured.
static heddle_status check_outcome(const request *asked)
{
    const heddle_bench *bench = asked->bench;
    if (asked->rung && bench->count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s supports none of the benchmark shapes of %s; use --shape",
                           asked->rung, asked->name);
    if (bench->count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s has no benchmark shape for this device; use --shape", asked->name);
    if (!is_there(bench, false))
        return heddle_fail(HEDDLE_UNSUPPORTED, "no rung of %s on this device supports %s", bench->results[0].op->name,
                           bench->results[0].shape);
    if (!is_there(bench, true))
        return heddle_fail(
            HEDDLE_UNSUPPORTED,
            "nothing could be checked, so nothing was timed; the lines above say why (--shape takes another shape)");
    return HEDDLE_OK;
}

static heddle_status measure_all(request *asked)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < heddle_op_count() && status == HEDDLE_OK; i++) {
        if (!is_wanted(asked, heddle_op_at(i)))
            continue;
        status = measure_op(asked, asked->own ? asked->own : heddle_op_at(i));
        asked->done++;
    }
    return status == HEDDLE_OK ? check_outcome(asked) : status;
}

// What to suggest for a rung without a GPU; "": nothing.
static const char *without_gpu(const request *asked)
{
    const heddle_rung *rung;
    bool on_cpu = false, on_sim = false;
    for (int i = 0; i < heddle_op_count(); i++) {
        if (!is_asked_for(asked, heddle_op_at(i)) || heddle_rung_find(heddle_op_at(i), asked->rung, &rung) != HEDDLE_OK)
            continue;
        on_cpu |= heddle_rung_runs_on(rung, HEDDLE_CPU);
        on_sim |= heddle_rung_runs_on(rung, HEDDLE_SIM);
    }
    return on_cpu   ? "this rung runs on cpu: use --device cpu"
           : on_sim ? "--device sim checks this rung (no timings)"
                    : "";
}

static heddle_status open_device(request *asked)
{
    const char *instead = "--device cpu measures the CPU's rungs, and --device sim checks the GPU's (no timings)";
    if (asked->rung)
        instead = without_gpu(asked);
    return heddle_cli_device_open(asked->settings->device, asked->settings->threads, instead, &asked->device);
}

static int report_wrong(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].state == HEDDLE_BENCH_WRONG || bench->results[i].state == HEDDLE_BENCH_FAILED)
            fprintf(stderr, "heddle: %s\n", bench->results[i].message);
    return heddle_bench_found_wrong(bench) ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_OK;
}

// Shows and writes what was measured. Returns the exit code.
static int conclude(request *asked, heddle_status status)
{
    heddle_cli_clear_progress();
    if (!asked->settings->json.print)
        heddle_bench_show_doubts(asked->bench, stdout);
    asked->bench->complete = status == HEDDLE_OK;
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_bench_conclude(asked->bench);
    heddle_status written = HEDDLE_OK;
    if (asked->bench->count > 0)
        written = heddle_cli_json_result(&asked->settings->json, to_json(asked));
    if (written == HEDDLE_OK && asked->bench->count > 0)
        written = write_page(asked);
    if (written != HEDDLE_OK)
        exit_code = written == status ? exit_code : heddle_cli_fail(written); // reported once
    int wrong = report_wrong(asked->bench);
    return exit_code != HEDDLE_EXIT_OK ? exit_code : wrong;
}

// Called when measuring does not return from a long call.
static void take_over(void *context)
{
    request *asked = context;
    heddle_bench_abandon(asked->bench);
    heddle_bench_conclude(asked->bench);
    show_new(asked);
    conclude(asked, heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

static int run(request *asked)
{
    const heddle_cli_bench_settings *settings = asked->settings;
    heddle_bench_options options = {
        .seed = settings->seed,
        .seconds = settings->seconds > 0 ? settings->seconds
                   : settings->quick     ? quick_seconds
                                         : usual_seconds,
        .slow = slow_seconds,
        .precision = asked->precision,
        .against = settings->against,
        .stop = &heddle_cli_interrupted,
        .listener = show_progress,
        .away = heddle_cli_guard_away,
        .listener_context = asked,
    };
    heddle_status status = heddle_bench_open(asked->device.device, &options, &asked->bench);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (!settings->json.print) {
        heddle_cli_device_print(&asked->device, stdout);
        heddle_bench_show_machine(asked->bench, stdout);
    }
    heddle_cli_guard_begin(take_over, asked);
    status = measure_all(asked);
    heddle_cli_guard_end();
    int exit_code = conclude(asked, status);
    heddle_bench_close(asked->bench);
    return exit_code;
}

int heddle_cli_bench_rungs(const heddle_cli_bench_settings *settings, const char *what)
{
    request asked = {.settings = settings, .what = what};
    asked.precision = settings->dtype > 0 ? heddle_cli_bench_dtypes[settings->dtype] : NULL;
    const char *end = what ? strrchr(what, '.') : NULL;
    heddle_status status = HEDDLE_OK;
    if (end && strcmp(end, ".cu") == 0) {
        asked.file = what;
        status = heddle_cli_bench_file_device(what, settings, &asked.device);
    }
    if (status == HEDDLE_OK)
        status = read_name(&asked, what);
    if (status == HEDDLE_OK)
        status = read_shapes(&asked);
    if (status == HEDDLE_OK)
        status = check_shapes(&asked);
    if (status == HEDDLE_OK)
        status = check_rung_shapes(&asked);
    if (status == HEDDLE_OK && settings->against)
        status = find_rung(&asked, settings->against, "--against: ");
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->json.file);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->html);
    if (status == HEDDLE_OK && !asked.file)
        status = open_device(&asked);
    asked.kind = asked.device.kind;
    heddle_cli_bench_file *file = NULL;
    if (status == HEDDLE_OK && asked.file)
        status = heddle_cli_bench_file_open(asked.file, asked.device.device, &file, &asked.own);
    if (status == HEDDLE_OK)
        status = count_wanted(&asked);
    int exit_code = status == HEDDLE_OK ? run(&asked) : heddle_cli_fail(status);
    heddle_cli_bench_file_close(file);
    heddle_cli_device_close(&asked.device);
    heddle_cli_shapes_free(&asked.shapes);
    return exit_code;
}
