// The runs of one number, each of another program, become one: its kernels are those of all.

#include "check/join.h"

#include <stdlib.h>
#include <string.h>

static heddle_check_report *create_report(const heddle_check_report *like)
{
    heddle_arena *arena = heddle_arena_create();
    heddle_check_report *made = arena ? heddle_arena_alloc(arena, sizeof *made) : NULL;
    if (!made) {
        heddle_arena_destroy(arena);
        return NULL;
    }
    made->arena = arena;
    made->status = like->status;
    made->gpu = like->gpu;
    made->schedule = like->schedule;
    made->unchecked = "";
    return made;
}

static heddle_status add_report(heddle_check_report *all, const heddle_check_report *one)
{
    int count = all->kernel_count + one->kernel_count;
    heddle_check_kernel *kernels = heddle_arena_alloc(all->arena, ((size_t)count + 1) * sizeof *kernels);
    if (!kernels)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    if (all->kernel_count > 0)
        memcpy(kernels, all->kernels, (size_t)all->kernel_count * sizeof *kernels);
    if (one->kernel_count > 0)
        memcpy(kernels + all->kernel_count, one->kernels, (size_t)one->kernel_count * sizeof *kernels);
    all->kernels = kernels;
    all->kernel_count = count;
    all->accesses += one->accesses;
    all->launches += one->launches;
    all->algorithms += one->algorithms;
    all->seconds += one->seconds;
    all->suppressed += one->suppressed;
    if (one->unchecked[0])
        all->unchecked = one->unchecked;
    return HEDDLE_OK;
}

static heddle_status add_runs(heddle_check_result *result, const heddle_check_result *program)
{
    for (int run = 0; run < program->run_count; run++) {
        if (run == result->run_count) {
            result->runs[run] = create_report(program->runs[run]);
            if (!result->runs[run])
                return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
            result->run_count++;
        }
        HEDDLE_TRY(add_report(result->runs[run], program->runs[run]));
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_result_join(heddle_check_result *result, heddle_check_result *program, const char *name,
                                       bool several)
{
    program->joined = result->joined; // freed with it: its strings are in use
    result->joined = program;
    const char *own = heddle_arena_copy_text(result->arena, name);
    HEDDLE_TRY(add_runs(result, program));
    for (int i = 0; i < program->finding_count; i++) {
        heddle_check_finding finding = *program->findings[i];
        finding.program = several ? own : NULL;
        HEDDLE_TRY(heddle_check_result_add_finding(result, &finding));
    }
    for (int i = 0; i < program->note_count; i++)
        HEDDLE_TRY(
            heddle_check_result_note(result, "%s%s%s", several ? name : "", several ? ": " : "", program->notes[i]));
    result->unrepeatable |= program->unrepeatable;
    return HEDDLE_OK;
}
