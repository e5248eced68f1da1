// The name that a kernel has for memory is the one that its access has in the source. It counts in the kernel itself: a
// function that the kernel calls has names of its own.

#include "check/marks.h"

#include <string.h>

#include "check/access.h"
#include "check/describe.h"

static bool is_in_kernel(const heddle_check_finding *finding, const heddle_check_place *place)
{
    return finding->kernel && place->has_thread && place->frames == 1 &&
           heddle_check_same_function(finding->kernel, place->frame[0].function);
}

static bool is_allocated(const heddle_check_memory *memory)
{
    return memory && (memory->name[0] || memory->allocated.line > 0 || memory->bytes > 0) &&
           !heddle_check_is_shared(memory->space) && !strstr(memory->space, "variable");
}

// With more than one index it may be another pointer's memory: rows[i][j].
static void settle_parameter(heddle_check_result *result, heddle_check_finding *finding,
                             const heddle_check_place *place, const heddle_check_access *access)
{
    bool named = access->name[0] && access->indices <= 1 && is_in_kernel(finding, place);
    if (!finding->parameter || finding->parameter[0] || !named || !heddle_check_is_near(finding->memory))
        return;
    const char *copy = heddle_arena_copy_text(result->arena, access->name);
    finding->parameter = copy ? copy : "";
}

void heddle_check_marks_settle(heddle_check_result *result)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        bool allocated = finding->kernel && is_allocated(finding->memory);
        if (allocated && (finding->memory->allocated.line > 0 || !finding->memory->name[0] ||
                          !heddle_check_is_near(finding->memory)))
            finding->parameter = "";
        for (int p = 0; p < finding->place_count; p++) {
            heddle_check_place *place = &finding->places[p];
            heddle_check_access access;
            const sim_source *source =
                place->frames > 0 ? heddle_check_sources_code(result->sources, place->frame[0].file) : NULL;
            if (!source || !heddle_check_access_find(source, finding, place, &access))
                continue;
            place->column = access.column;
            place->width = access.width;
            settle_parameter(result, finding, place, &access);
        }
    }
}
