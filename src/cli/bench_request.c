// Reads what `heddle bench OP` is asked for, and refuses what no operator, rung, shape or device can answer before
// anything is measured.

#include "cli/bench_request.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/ops.h"

const char *const heddle_cli_bench_dtypes[] = {"all",     "f32", "tf32", "bf16", "f16", "f64",
                                               "f8_e4m3", "i8",  "u8",   "i32",  NULL};

// --- names and shapes -----------------------------------------------------------------------------------------------

static bool is_asked_for(const heddle_cli_bench_request *asked, const heddle_op *op)
{
    return asked->name[0] == '\0' || heddle_cli_op_is_called(op, asked->name);
}

// Whether a requested operator has a rung of that name. If not, the message is that of the first operator, or of the
// first that can suggest a name.
static heddle_status find_rung(const heddle_cli_bench_request *asked, const char *name, const char *option)
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

static heddle_status read_name(heddle_cli_bench_request *asked, const char *what)
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

// The shape whose fields --sweep changes: that of --shape, or the operator's first benchmark shape.
static heddle_status read_sweep(heddle_cli_bench_request *asked)
{
    const char *base = asked->shapes.count ? asked->shapes.items[0] : NULL;
    if (asked->shapes.count > 1)
        return heddle_fail(HEDDLE_INVALID, "--sweep changes one shape: give one --shape");
    for (int i = 0; i < heddle_op_count() && !base; i++)
        if (is_asked_for(asked, heddle_op_at(i)))
            base = heddle_op_at(i)->bench_shapes[0];
    return heddle_cli_bench_sweep(asked->settings->sweep, base, &asked->shapes);
}

static heddle_status read_shapes(heddle_cli_bench_request *asked)
{
    HEDDLE_TRY(heddle_cli_shapes_read(&asked->settings->shapes, &asked->shapes));
    if (asked->settings->sweep && asked->name[0] == '\0')
        return heddle_fail(HEDDLE_INVALID, "--sweep needs an operator: heddle bench matmul_forward --sweep m=128:8192");
    if (asked->settings->sweep)
        HEDDLE_TRY(read_sweep(asked));
    if (asked->shapes.count && asked->name[0] == '\0')
        return heddle_fail(HEDDLE_INVALID, "--shape needs an operator: heddle bench matmul --shape \"m=64 n=64 k=64\"");
    return HEDDLE_OK;
}

bool heddle_cli_bench_fits(const heddle_op *op, const char *text)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    return heddle_shape_parse(op, text, shape) == HEDDLE_OK;
}

// Every shape must fit at least one operator of the ladder.
static heddle_status check_shapes(const heddle_cli_bench_request *asked)
{
    for (int s = 0; s < asked->shapes.count; s++) {
        bool fitting = false;
        for (int i = heddle_op_count() - 1; i >= 0 && !fitting; i--) // the first operator's message stays
            fitting =
                is_asked_for(asked, heddle_op_at(i)) && heddle_cli_bench_fits(heddle_op_at(i), asked->shapes.items[s]);
        if (!fitting)
            return HEDDLE_INVALID;
    }
    return HEDDLE_OK;
}

// Whether the operator's rung of that name supports the shape.
bool heddle_cli_bench_can_do(const heddle_op *op, const char *name, const char *text)
{
    _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
    const heddle_rung *rung;
    return heddle_rung_find(op, name, &rung) == HEDDLE_OK && heddle_shape_parse(op, text, shape) == HEDDLE_OK &&
           (!rung->supports || rung->supports(shape));
}

// The first given shape that fits the operator; NULL: none.
static const char *first_fitting(const heddle_cli_bench_request *asked, const heddle_op *op)
{
    for (int s = 0; s < asked->shapes.count; s++)
        if (heddle_cli_bench_fits(op, asked->shapes.items[s]))
            return asked->shapes.items[s];
    return NULL;
}

// A rung requested by name must support at least one of the shapes. If not, the message is that of the first operator
// that a shape fits.
static heddle_status check_rung_shapes(const heddle_cli_bench_request *asked)
{
    const heddle_op *of = NULL;
    const heddle_rung *rung = NULL;
    const char *shape = NULL;
    for (int i = 0; asked->rung && asked->shapes.count && i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (!is_asked_for(asked, op) || heddle_rung_find(op, asked->rung, &rung) != HEDDLE_OK)
            continue;
        for (int s = 0; s < asked->shapes.count; s++)
            if (heddle_cli_bench_can_do(op, asked->rung, asked->shapes.items[s]))
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

heddle_status heddle_cli_bench_request_read(const heddle_cli_bench_settings *settings, const char *what,
                                            heddle_cli_bench_request *asked)
{
    *asked = (heddle_cli_bench_request){.settings = settings, .what = what};
    asked->precision = settings->dtype > 0 ? heddle_cli_bench_dtypes[settings->dtype] : NULL;
    if (what && heddle_text_ends(what, ".cu")) {
        asked->file = what;
        HEDDLE_TRY(heddle_cli_bench_file_device(what, settings, &asked->device));
    }
    HEDDLE_TRY(read_name(asked, what));
    HEDDLE_TRY(read_shapes(asked));
    HEDDLE_TRY(check_shapes(asked));
    HEDDLE_TRY(check_rung_shapes(asked));
    return settings->against ? find_rung(asked, settings->against, "--against: ") : HEDDLE_OK;
}

void heddle_cli_bench_request_free(heddle_cli_bench_request *asked)
{
    heddle_cli_device_close(&asked->device);
    heddle_cli_shapes_free(&asked->shapes);
}

// --- the device -----------------------------------------------------------------------------------------------------

// What to suggest for a rung without a GPU; "": nothing.
static const char *without_gpu(const heddle_cli_bench_request *asked)
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

heddle_status heddle_cli_bench_request_open(heddle_cli_bench_request *asked)
{
    const char *instead = "--device cpu measures the CPU's rungs, and --device sim checks the GPU's (no timings)";
    if (asked->rung)
        instead = without_gpu(asked);
    if (!asked->file)
        HEDDLE_TRY(heddle_cli_device_open(asked->settings->device, asked->settings->threads, instead, &asked->device));
    asked->kind = asked->device.kind;
    return HEDDLE_OK;
}

bool heddle_cli_bench_wants_rung(const heddle_cli_bench_request *asked, const heddle_op *op, const heddle_rung *rung)
{
    return (!asked->rung || strcmp(asked->rung, rung->name) == 0) &&
           (!asked->precision || strcmp(asked->precision, heddle_bench_precision(op, rung)) == 0) &&
           heddle_bench_has_rung(op, rung, asked->kind);
}

static bool has_rungs(const heddle_cli_bench_request *asked, const heddle_op *op)
{
    for (int i = 0; i < op->rungs; i++)
        if (heddle_cli_bench_wants_rung(asked, op, &op->ladder[i]))
            return true;
    return false;
}

// Why a named rung is not available on this device.
static heddle_status rung_not_here(const heddle_cli_bench_request *asked, const heddle_rung *rung, const char *option)
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
static heddle_status check_here(const heddle_cli_bench_request *asked, const char *name, const char *option)
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

bool heddle_cli_bench_wants(const heddle_cli_bench_request *asked, const heddle_op *op)
{
    return is_asked_for(asked, op) && has_rungs(asked, op) && (!asked->own || strcmp(asked->own->name, op->name) == 0);
}

heddle_status heddle_cli_bench_request_count(const heddle_cli_bench_request *asked, int *wanted)
{
    *wanted = 0;
    HEDDLE_TRY(check_here(asked, asked->rung, ""));
    HEDDLE_TRY(check_here(asked, asked->settings->against, "--against: "));
    for (int i = 0; i < heddle_op_count(); i++)
        *wanted += heddle_cli_bench_wants(asked, heddle_op_at(i));
    if (*wanted > 0)
        return HEDDLE_OK;
    const char *precision = asked->precision;
    return heddle_fail(HEDDLE_INVALID, "nothing to measure: %s%s has no rung%s%s on %s", asked->name[0] ? "" : "heddle",
                       asked->name, precision ? " in " : "", precision ? precision : "",
                       heddle_device_kind_name(asked->kind));
}
