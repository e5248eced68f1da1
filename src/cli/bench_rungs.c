// `heddle bench OP`: measures the requested rungs at their shapes, shows progress, and writes the results.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "bench/bench.h"
#include "bench/shrink.h"
#include "bench/sweep.h"
#include "cli/bench_request.h"
#include "cli/interrupt.h"
#include "cli/json.h"

static const double usual_seconds = 0.5, quick_seconds = 0.05;
// Work of one launch on a CPU: about a second for an unoptimised rung, and for its reference. The largest allows a
// product of 1024 cubed. Generating inputs and checking take a hundred times as long as a launch, so a quick look at
// all operators uses small shapes.
static const heddle_bench_budget usual_budget = {2.2e9, 256e6}, quick_budget = {1e8, 64e6}, all_budget = {1e7, 4e6};
// Work of one launch on the simulated GPU in a quick look: a fraction of a second per rung.
static const heddle_bench_budget sim_budget = {2e5, 2e5};
static const double slow_seconds = 1; // a launch on a CPU that takes longer is timed once

typedef struct measurement {
    heddle_cli_bench_request asked;
    heddle_bench *bench;
    bool reduction_told; // the note about reduced shapes was printed
    int done, wanted;    // operators
    int shown;           // results
} measurement;

static void show_progress(void *context, const char *text)
{
    const measurement *on = context;
    char line[2 * HEDDLE_BENCH_MESSAGE];
    if (heddle_cli_interrupted) // the guard may be printing results
        return;
    snprintf(line, sizeof line, "%d of %d: %s", on->done + 1, on->wanted, text);
    heddle_cli_show_progress(on->wanted > 1 ? line : text);
}

// --- where results go ------------------------------------------------------------------------------------------------

static cJSON *to_json(const measurement *on)
{
    cJSON *json = heddle_bench_json(on->bench);
    if (json)
        heddle_cli_device_add(&on->asked.device, json);
    return json;
}

static heddle_status write_page(const measurement *on)
{
    // Rungs of the CPU are not CUDA, and those of all operators are too many for a page.
    const bool has_source = on->bench->complete && on->asked.what && on->asked.kind != HEDDLE_CPU;
    const heddle_cli_bench_source source = {.file = on->asked.file,
                                            .what = on->asked.file ? on->asked.name : on->asked.what,
                                            .dtype = heddle_cli_bench_dtypes[on->asked.settings->dtype],
                                            .seed = on->asked.settings->seed};
    return on->asked.settings->html
               ? heddle_cli_bench_write_page(on->bench, has_source ? &source : NULL, on->asked.settings->html)
               : HEDDLE_OK;
}

// The results so far are in the file, whatever happens next.
static heddle_status save(const measurement *on)
{
    heddle_bench_conclude(on->bench);
    return heddle_cli_json_save(&on->asked.settings->json, to_json(on));
}

// The results that were not shown yet, each as an event.
static void print_events(measurement *on)
{
    cJSON *json = heddle_bench_json(on->bench), *results = cJSON_GetObjectItemCaseSensitive(json, "results");
    const int first = on->shown;
    for (; on->shown < on->bench->count; on->shown++)
        heddle_cli_json_event(&on->asked.settings->json, "measured", cJSON_DetachItemFromArray(results, first));
    cJSON_Delete(json);
}

static heddle_status show_new(measurement *on)
{
    heddle_cli_clear_progress();
    if (on->asked.settings->json.print)
        print_events(on);
    while (on->shown < on->bench->count) {
        int first = on->shown;
        if (on->bench->options.sweep && on->bench->info.kind != HEDDLE_SIM) { // sim has no timings
            on->shown = heddle_bench_op_end(on->bench, first);
            HEDDLE_TRY(heddle_bench_show_sweep(on->bench, first, on->shown, on->asked.file ? "yours" : on->asked.rung,
                                               stdout));
            continue;
        }
        on->shown = heddle_bench_group_end(on->bench, first);
        HEDDLE_TRY(heddle_bench_show_text(on->bench, first, on->shown, stdout));
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
static heddle_status fit_shape(measurement *on, const heddle_op *op, const char *given, char *text, size_t size)
{
    snprintf(text, size, "%s", given);
    if (on->bench->info.kind != HEDDLE_CPU)
        return HEDDLE_OK;
    char whole[HEDDLE_BENCH_TEXT];
    const heddle_bench_budget *budget = !on->asked.settings->quick  ? &usual_budget
                                        : on->asked.name[0] == '\0' ? &all_budget
                                                                    : &quick_budget;
    HEDDLE_TRY(heddle_bench_shrink(op, given, &(heddle_bench_budget){INFINITY, INFINITY}, whole, sizeof whole));
    HEDDLE_TRY(heddle_bench_shrink(op, given, budget, text, size));
    if (strcmp(whole, text) != 0 && !on->reduction_told && !on->asked.settings->json.print)
        printf("shapes sized for a GPU are reduced for the CPU; --shape takes any shape\n");
    on->reduction_told |= strcmp(whole, text) != 0;
    return HEDDLE_OK;
}

static heddle_status measure_shape(measurement *on, const heddle_op *op, const char *text)
{
    heddle_status status = heddle_bench_measure(on->bench, op, text, on->asked.rung);
    heddle_status saved = save(on);
    status = status != HEDDLE_OK ? status : saved;
    // Measuring on a CPU is slow, and no figure of its table depends on other shapes: show each at once.
    bool at_once = on->bench->info.kind == HEDDLE_CPU && (!on->bench->options.sweep || on->asked.settings->json.print);
    heddle_status shown = at_once ? show_new(on) : HEDDLE_OK;
    return status != HEDDLE_OK ? status : shown;
}

static int count_rungs(const measurement *on, const heddle_op *op, const void *shape)
{
    int count = 0;
    for (int i = 0; i < op->rungs; i++) {
        const heddle_rung *rung = &op->ladder[i];
        count += heddle_cli_bench_wants_rung(&on->asked, op, rung) && (!rung->supports || rung->supports(shape));
    }
    return count;
}

// The test shape for a quick look on sim. Of those that take a moment, the one that most rungs support, and of these
// the largest; if all take longer, the smallest. NULL: there is none.
static const char *choose_test_shape(const measurement *on, const heddle_op *op)
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
        int rungs = count_rungs(on, op, shape);
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
static heddle_status measure_own_shapes(measurement *on, const heddle_op *op)
{
    bool brief = on->asked.name[0] == '\0' || on->asked.settings->quick, on_sim = on->asked.kind == HEDDLE_SIM;
    const char *chosen[] = {brief && on_sim ? choose_test_shape(on, op) : NULL, NULL};
    const char *const *own = brief && on_sim ? chosen : on_sim ? op->test_shapes : op->bench_shapes;
    for (int i = 0; own && own[i]; i++) {
        char text[HEDDLE_BENCH_TEXT];
        if (brief && is_empty(op, own[i]))
            continue;
        HEDDLE_TRY(fit_shape(on, op, own[i], text, sizeof text));
        if (on->asked.rung && !heddle_cli_bench_can_do(op, on->asked.rung, text))
            continue;
        if (!is_measured(on->bench, op, text)) // two may become equal when reduced
            HEDDLE_TRY(measure_shape(on, op, text));
        if (brief)
            break;
    }
    return HEDDLE_OK;
}

static heddle_status measure_op(measurement *on, const heddle_op *op)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < on->asked.shapes.count && status == HEDDLE_OK; i++)
        if (heddle_cli_bench_fits(op, on->asked.shapes.items[i]))
            status = measure_shape(on, op, on->asked.shapes.items[i]);
    if (on->asked.shapes.count == 0)
        status = measure_own_shapes(on, op);
    heddle_status shown = show_new(on);
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
static heddle_status check_outcome(const measurement *on)
{
    const heddle_bench *bench = on->bench;
    if (on->asked.rung && bench->count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s supports none of the benchmark shapes of %s; use --shape",
                           on->asked.rung, on->asked.name);
    if (bench->count == 0)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s has no benchmark shape for this device; use --shape",
                           on->asked.name);
    if (!is_there(bench, false))
        return heddle_fail(HEDDLE_UNSUPPORTED, "no rung of %s on this device supports %s", bench->results[0].op->name,
                           bench->results[0].shape);
    if (!is_there(bench, true))
        return heddle_fail(
            HEDDLE_UNSUPPORTED,
            "nothing could be checked, so nothing was timed; the lines above say why (--shape takes another shape)");
    return HEDDLE_OK;
}

static heddle_status measure_all(measurement *on)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < heddle_op_count() && status == HEDDLE_OK; i++) {
        if (!heddle_cli_bench_wants(&on->asked, heddle_op_at(i)))
            continue;
        status = measure_op(on, on->asked.own ? on->asked.own : heddle_op_at(i));
        on->done++;
    }
    return status == HEDDLE_OK ? check_outcome(on) : status;
}

static int report_wrong(const heddle_bench *bench)
{
    for (int i = 0; i < bench->count; i++)
        if (bench->results[i].state == HEDDLE_BENCH_WRONG || bench->results[i].state == HEDDLE_BENCH_FAILED)
            fprintf(stderr, "heddle: %s\n", bench->results[i].message);
    return heddle_bench_found_wrong(bench) ? HEDDLE_EXIT_FAILED : HEDDLE_EXIT_OK;
}

// Shows and writes what was measured. Returns the exit code.
static int conclude(measurement *on, heddle_status status)
{
    heddle_cli_clear_progress();
    if (!on->asked.settings->json.print)
        heddle_bench_show_doubts(on->bench, stdout);
    on->bench->complete = status == HEDDLE_OK;
    int exit_code = status == HEDDLE_OK ? HEDDLE_EXIT_OK : heddle_cli_fail(status);
    heddle_bench_conclude(on->bench);
    heddle_status written = HEDDLE_OK;
    if (on->bench->count > 0)
        written = heddle_cli_json_result(&on->asked.settings->json, to_json(on));
    if (written == HEDDLE_OK && on->bench->count > 0)
        written = write_page(on);
    if (written != HEDDLE_OK)
        exit_code = written == status ? exit_code : heddle_cli_fail(written); // reported once
    int wrong = report_wrong(on->bench);
    return exit_code != HEDDLE_EXIT_OK ? exit_code : wrong;
}

// Called when measuring does not return from a long call.
static void take_over(void *context)
{
    measurement *on = context;
    heddle_bench_abandon(on->bench);
    heddle_bench_conclude(on->bench);
    show_new(on);
    conclude(on, heddle_fail(HEDDLE_INTERRUPTED, "stopped"));
}

static int run(measurement *on)
{
    const heddle_cli_bench_settings *settings = on->asked.settings;
    heddle_bench_options options = {
        .seed = settings->seed,
        .seconds = settings->seconds > 0 ? settings->seconds
                   : settings->quick     ? quick_seconds
                                         : usual_seconds,
        .slow = slow_seconds,
        .precision = on->asked.precision,
        .against = settings->against,
        .sweep = settings->sweep,
        .stop = &heddle_cli_interrupted,
        .listener = show_progress,
        .away = heddle_cli_guard_away,
        .listener_context = on,
    };
    heddle_status status = heddle_bench_open(on->asked.device.device, &options, &on->bench);
    if (status != HEDDLE_OK)
        return heddle_cli_fail(status);
    if (!settings->json.print) {
        heddle_cli_device_print(&on->asked.device, stdout);
        heddle_bench_show_machine(on->bench, stdout);
    }
    heddle_cli_guard_begin(take_over, on);
    status = measure_all(on);
    heddle_cli_guard_end();
    int exit_code = conclude(on, status);
    heddle_bench_close(on->bench);
    return exit_code;
}

int heddle_cli_bench_rungs(const heddle_cli_bench_settings *settings, const char *what)
{
    measurement on = {.shown = 0};
    heddle_cli_bench_request *asked = &on.asked;
    heddle_cli_bench_file *file = NULL;
    heddle_status status = heddle_cli_bench_request_read(settings, what, asked);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->json.file);
    if (status == HEDDLE_OK)
        status = heddle_cli_can_write(settings->html);
    if (status == HEDDLE_OK)
        status = heddle_cli_bench_request_open(asked);
    if (status == HEDDLE_OK && asked->file)
        status = heddle_cli_bench_file_open(asked->file, asked->device.device, &file, &asked->own);
    if (status == HEDDLE_OK)
        status = heddle_cli_bench_request_count(asked, &on.wanted);
    int exit_code = status == HEDDLE_OK ? run(&on) : heddle_cli_fail(status);
    heddle_cli_bench_file_close(file);
    heddle_cli_bench_request_free(asked);
    return exit_code;
}
