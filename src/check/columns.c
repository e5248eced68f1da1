// Frames of the report and frames of the debug information are the same but for those that the report leaves out, of
// the simulator's headers and the C++ library.

#include "check/columns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/debug_info.h"
#include "sim/rewrite/rewrite.h"

enum { MOST_FRAMES = 64 }; // inlined into each other at one place

struct heddle_check_columns {
    heddle_debug_info *info;
    sim_rewritten *units; // of the sources that were rewritten
    int unit_count;
};

heddle_check_columns *heddle_check_columns_open(const char *program, const char *const *files,
                                                const char *const *include)
{
    heddle_check_columns *columns = calloc(1, sizeof *columns);
    size_t count = 0;
    while (files[count])
        count++;
    if (columns)
        columns->units = calloc(count + 1, sizeof *columns->units);
    if (!columns || !columns->units) {
        free(columns);
        return NULL;
    }
    columns->info = heddle_debug_info_open(program);
    sim_rewrite_options options = {.folders = include, .shadow_folder = ""};
    for (size_t i = 0; i < count; i++) {
        const char *dot = strrchr(files[i], '.');
        if (dot && strncmp(dot, ".cu", 3) == 0)
            columns->unit_count += sim_rewrite_unit(files[i], &options, &columns->units[columns->unit_count]);
    }
    return columns;
}

void heddle_check_columns_close(heddle_check_columns *columns)
{
    if (!columns)
        return;
    for (int i = 0; i < columns->unit_count; i++)
        sim_rewritten_free(&columns->units[i]);
    free(columns->units);
    heddle_debug_info_close(columns->info);
    free(columns);
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return strcmp(one, other) == 0 ||
           (stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

// The user's column of one of the rewritten text.
static int users_column(const heddle_check_columns *columns, const char *file, int line, int column)
{
    for (int u = 0; u < columns->unit_count; u++)
        for (int i = 0; i < columns->units[u].count; i++)
            if (same_file(columns->units[u].files[i].path, file))
                return sim_rewritten_column(&columns->units[u], columns->units[u].files[i].path, line, column);
    return column;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// `pc`: the address that a call returns to.
static void settle_frames(const heddle_check_columns *columns, heddle_arena *arena, long long pc,
                          heddle_check_frame *frames, int count)
{
    heddle_debug_frame known[MOST_FRAMES];
    int found = pc > 0 ? heddle_debug_info_frames(columns->info, (uint64_t)pc - 1, known, MOST_FRAMES) : 0;
    for (int i = 0, next = 0; i < count; i++) {
        int at = next;
        while (at < found &&
               (known[at].line != frames[i].line || strcmp(last_part(known[at].file), last_part(frames[i].file)) != 0))
            at++;
        if (at == found)
            continue;
        next = at + 1;
        if (frames[i].column == 0)
            frames[i].column = known[at].column;
        if (frames[i].function[0] == '\0')
            frames[i].function = heddle_arena_copy_text(arena, known[at].function);
        if (!frames[i].function)
            frames[i].function = "";
    }
    for (int i = 0; i < count; i++)
        if (frames[i].column > 0)
            frames[i].column = users_column(columns, frames[i].file, frames[i].line, frames[i].column);
}

void heddle_check_columns_settle(const heddle_check_columns *columns, heddle_check_report *report)
{
    for (int i = 0; columns && i < report->finding_count; i++) {
        heddle_check_finding *finding = &report->findings[i];
        for (int p = 0; p < finding->place_count; p++) {
            heddle_check_place *place = &finding->places[p];
            settle_frames(columns, report->arena, place->offset, place->frame, place->frames);
        }
        heddle_check_memory *memory = finding->memory;
        if (memory) {
            settle_frames(columns, report->arena, memory->allocated_offset, &memory->allocated, 1);
            settle_frames(columns, report->arena, memory->freed_offset, &memory->freed, 1);
        }
    }
}
