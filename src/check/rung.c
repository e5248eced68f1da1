// One of heddle's own files, checked as if it were a program: which rung it is, and how that is run.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/scan.h"
#include "check/sources.h"
#include "heddle/op.h"

enum { NAME_SIZE = 128 }; // of an operator's or a rung's name

// "matmul_forward" and "05_register_tiles", and what the registry has of it; rung NULL: this build knows none.
typedef struct own_rung {
    char op[NAME_SIZE], name[NAME_SIZE];
    const heddle_rung *rung;
    const char *ladder; // the folder of its operator's rungs; NULL: not known
} own_rung;

static const heddle_rung *registered(const heddle_op *op, const char *name)
{
    for (int i = 0; i < op->rungs; i++)
        if (strcmp(op->ladder[i].name, name) == 0)
            return &op->ladder[i];
    return NULL;
}

static void read_string(const sim_source *source, int token, char text[NAME_SIZE])
{
    const sim_token *string = sim_token_at(&source->code, token);
    bool quoted = string->kind == SIM_TOKEN_STRING && string->end - string->start > 2;
    snprintf(text, NAME_SIZE, "%.*s", quoted ? (int)(string->end - string->start - 2) : 0,
             source->text + string->start + 1);
}

// By the lines that enter it into the module, HEDDLE_CUDA_RUNG("matmul_forward", "01_naive", launch): the first that
// the simulated GPU runs, else the first.
static bool find_entered(const sim_source *source, own_rung *found)
{
    bool any = false;
    for (int i = 0; i < source->code.count; i++) {
        own_rung one = {.rung = NULL};
        if (!sim_token_is(source, &source->code.at[i], "HEDDLE_CUDA_RUNG"))
            continue;
        read_string(source, i + 2, one.op); // ( "..." , "..."
        read_string(source, i + 4, one.name);
        for (int o = 0; o < heddle_op_count() && !one.rung; o++)
            if (strcmp(heddle_op_at(o)->name, one.op) == 0) {
                one.rung = registered(heddle_op_at(o), one.name);
                one.ladder = heddle_op_at(o)->ladder_name;
            }
        bool simulated = one.rung && heddle_rung_runs_on(one.rung, HEDDLE_SIM);
        if (!any || simulated)
            *found = one;
        any = true;
        if (simulated)
            break;
    }
    return any;
}

// By its place: a file that enters its rungs by a macro of its ladder's stands, as all do, in the folder of its ladder
// under its own name.
static bool find_by_place(const sim_source *source, const char *ladder, const char *name, own_rung *found)
{
    for (int i = 0; strstr(source->text, "#include \"ops/") && i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        found->rung = strcmp(op->ladder_name, ladder) == 0 ? registered(op, name) : NULL;
        if (found->rung) {
            found->ladder = op->ladder_name;
            snprintf(found->op, NAME_SIZE, "%s", op->name);
            snprintf(found->name, NAME_SIZE, "%s", name);
            return true;
        }
    }
    return false;
}

// "transpose" and "01_naive" of ".../transpose/01_naive.cu".
static void read_path(const char *path, char folder[NAME_SIZE], char name[NAME_SIZE])
{
    char absolute[PATH_MAX] = "";
    char *file = realpath(path, absolute) ? strrchr(absolute, '/') : NULL, *dot = file ? strrchr(file, '.') : NULL;
    folder[0] = name[0] = '\0';
    if (!dot)
        return;
    *file = *dot = '\0';
    const char *last = strrchr(absolute, '/');
    snprintf(folder, NAME_SIZE, "%s", last ? last + 1 : "");
    snprintf(name, NAME_SIZE, "%s", file + 1);
}

static bool find_rung(const char *path, const char *folder, const char *name, own_rung *found)
{
    heddle_check_sources *sources = heddle_check_sources_create();
    const sim_source *source = sources ? heddle_check_sources_code(sources, path) : NULL;
    bool own = source && (find_entered(source, found) || find_by_place(source, folder, name, found));
    heddle_check_sources_free(sources);
    return own;
}

heddle_status heddle_check_rung_refuse(const char *path)
{
    char folder[NAME_SIZE], name[NAME_SIZE], where[192] = "", change[192] = "after a build";
    own_rung found = {.rung = NULL};
    read_path(path, folder, name);
    if (!find_rung(path, folder, name, &found))
        return HEDDLE_OK;
    const char *device = "";
    if (found.rung && heddle_rung_runs_on(found.rung, HEDDLE_CPU)) {
        device = " --device cpu";
    } else if (found.rung && heddle_rung_runs_on(found.rung, HEDDLE_SIM)) {
        device = " --device sim";
        snprintf(where, sizeof where, " on the simulated GPU");
    } else if (found.rung) {
        device = " --device cuda";
        snprintf(where, sizeof where, " on a real GPU: the simulated one has no %s", found.rung->gpu_only);
    }
    if (found.ladder && strcmp(folder, found.ladder) != 0) // a copy elsewhere is not what heddle is built of
        snprintf(change, sizeof change, "change it in src/ops/%s, not in a copy, and after a build", found.ladder);
    return heddle_fail(
        HEDDLE_INVALID,
        "%s: one of heddle's own rungs, which runs as part of heddle; %s, `heddle bench %s/%s%s` checks it%s", path,
        change, found.op, found.name, device, where);
}
