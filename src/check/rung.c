// One of heddle's own files, checked as if it were a program: which rung it is, and how that is run.

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/scan.h"
#include "heddle/op.h"

enum { LARGEST_SOURCE = 16 << 20, NAME_SIZE = 128 }; // bytes of a file; of an operator's or a rung's name

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

// The text between the next two quotes; what follows them, or NULL.
static const char *read_quoted(const char *at, char text[NAME_SIZE])
{
    at = at ? strchr(at, '"') : NULL;
    const char *end = at ? strchr(at + 1, '"') : NULL;
    if (end)
        snprintf(text, NAME_SIZE, "%.*s", (int)(end - at - 1), at + 1);
    return end ? end + 1 : NULL;
}

// By the lines that enter it into the module, HEDDLE_CUDA_RUNG("matmul_forward", "01_naive", launch): the first that
// the simulated GPU runs, else the first.
static bool find_entered(const char *text, own_rung *found)
{
    static const char mark[] = "\nHEDDLE_CUDA_RUNG(";
    bool any = false;
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at += sizeof mark - 1) {
        own_rung one = {.rung = NULL};
        if (!read_quoted(read_quoted(at, one.op), one.name))
            break;
        for (int i = 0; i < heddle_op_count() && !one.rung; i++)
            if (strcmp(heddle_op_at(i)->name, one.op) == 0) {
                one.rung = registered(heddle_op_at(i), one.name);
                one.ladder = heddle_op_at(i)->ladder_name;
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
static bool find_by_place(const char *path, const char *text, own_rung *found)
{
    char absolute[PATH_MAX];
    if (!strstr(text, "#include \"ops/") || !realpath(path, absolute))
        return false;
    char *file = strrchr(absolute, '/'), *dot = file ? strrchr(file, '.') : NULL;
    if (!dot)
        return false;
    *file++ = *dot = '\0';
    const char *folder = strrchr(absolute, '/');
    for (int i = 0; folder && i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        found->rung = strcmp(op->ladder_name, folder + 1) == 0 ? registered(op, file) : NULL;
        if (found->rung) {
            found->ladder = op->ladder_name;
            snprintf(found->op, NAME_SIZE, "%s", op->name);
            snprintf(found->name, NAME_SIZE, "%s", file);
            return true;
        }
    }
    return false;
}

// Whether the file lies in a folder of that name: a copy elsewhere is not what heddle is built of.
static bool lies_in(const char *path, const char *folder)
{
    char absolute[PATH_MAX];
    char *file = realpath(path, absolute) ? strrchr(absolute, '/') : NULL;
    if (file)
        *file = '\0';
    const char *last = file ? strrchr(absolute, '/') : NULL;
    return last && strcmp(last + 1, folder) == 0;
}

heddle_status heddle_check_rung_refuse(const char *path)
{
    char *text = NULL, where[192] = "", change[192] = "after a build";
    size_t size = 0;
    own_rung found = {.rung = NULL};
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &text, &size));
    bool own = find_entered(text, &found) || find_by_place(path, text, &found);
    free(text);
    if (!own)
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
    if (found.ladder && !lies_in(path, found.ladder))
        snprintf(change, sizeof change, "change it in src/ops/%s, not in a copy, and after a build", found.ladder);
    return heddle_fail(
        HEDDLE_INVALID,
        "%s: one of heddle's own rungs, which runs as part of heddle; %s, `heddle bench %s/%s%s` checks it%s", path,
        change, found.op, found.name, device, where);
}
