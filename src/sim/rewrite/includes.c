// The user's headers: found as the compiler would find them, read once each, and, where one is rewritten, included from
// its new place. Headers of the system and of the simulator are left alone.

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rewrite/includes.h"
#include "source/torch.h"

enum { MOST_FILES = 2000, LARGEST_HEADER = 1 << 24 };

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size < LARGEST_HEADER;
}

static char *join(const char *folder, size_t folder_bytes, const char *name)
{
    sim_text path = {0};
    if (folder_bytes && !(folder_bytes == 1 && folder[0] == '.')) {
        sim_text_add_bytes(&path, folder, folder_bytes);
        sim_text_add(&path, "/");
    }
    sim_text_add(&path, name);
    return sim_text_take(&path);
}

static char *try_folder(const char *folder, size_t folder_bytes, const char *name)
{
    char *path = join(folder, folder_bytes, name);
    if (path && is_file(path))
        return path;
    free(path);
    return NULL;
}

static char *try_folders(const char *const *folders, const char *name)
{
    char *path = NULL;
    for (; folders && *folders && !path; folders++)
        path = try_folder(*folders, strlen(*folders), name);
    return path;
}

static char *resolve(const sim_source *source, const char *const *folders, const char *name, bool quoted)
{
    if (name[0] == '/')
        return is_file(name) ? strdup(name) : NULL;
    char *path = NULL;
    if (quoted) {
        const char *slash = strrchr(source->path, '/');
        path = try_folder(source->path, slash ? (size_t)(slash - source->path) : 0, name);
    }
    return path ? path : try_folders(folders, name);
}

static bool same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int find_source(const sim_unit *unit, const char *path)
{
    for (int i = 0; i < unit->file_count; i++)
        if (strcmp(unit->files[i]->source.path, path) == 0 || same_file(unit->files[i]->source.path, path))
            return i;
    return -1;
}

int sim_unit_add(sim_unit *unit, const char *path, char *text, size_t bytes)
{
    if (!text || unit->file_count >= MOST_FILES ||
        !sim_array_grow(&unit->files, unit->file_count, &unit->file_room, sizeof *unit->files)) {
        free(text);
        return -1;
    }
    sim_file *file = calloc(1, sizeof *file);
    if (!file) {
        free(text);
        return -1;
    }
    sim_source_open(&file->source, path, text, bytes);
    unit->files[unit->file_count] = file;
    return unit->file_count++;
}

int sim_unit_read(sim_unit *unit, const char *path)
{
    sim_text text = {0};
    if (!sim_text_read(&text, path)) {
        sim_text_free(&text);
        return -1;
    }
    size_t bytes = text.bytes;
    return sim_unit_add(unit, path, sim_text_take(&text), bytes);
}

// A pipe or a device would keep the compiler waiting, or reading for ever. Named as the compiler would find it first.
static bool is_endless(const sim_source *source, const char *name)
{
    static const dev_t nothing = 0x103; // /dev/null
    struct stat about;
    const char *slash = name[0] != '/' ? strrchr(source->path, '/') : NULL;
    char *path = join(source->path, slash ? (size_t)(slash - source->path) : 0, name);
    const bool found = path && stat(path, &about) == 0;
    free(path);
    return found && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode) && about.st_rdev != nothing;
}

static void refuse_endless(sim_file *file, const sim_directive *directive, const char *name)
{
    sim_text line = {0};
    sim_text_print(&line, "#error %s is a pipe or a device: include a regular file", name);
    char *inserted = sim_text_take(&line);
    if (inserted)
        sim_edit_replace(file, directive->start, directive->end, inserted);
    free(inserted);
}

static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static void read_includes_of(sim_unit *unit, int index, const char *const *folders)
{
    const sim_source *source = &unit->files[index]->source;
    for (int i = 0; i < source->directive_count; i++) {
        if (source->directives[i].kind != SIM_DIRECTIVE_INCLUDE)
            continue;
        bool quoted = false;
        char *name = sim_included_name(source, &source->directives[i], &quoted);
        if (name && (quoted || name[0] == '/') && is_endless(source, name))
            refuse_endless(unit->files[index], &source->directives[i], name);
        bool left_out = unit->torch && name && sim_torch_is_header(name);
        char *path = name && !left_out ? resolve(source, folders, name, quoted) : NULL;
        free(name);
        if (!path)
            continue;
        int target = find_source(unit, path);
        if (target < 0 && is_regular(path))
            target = sim_unit_read(unit, path);
        free(path);
        if (target >= 0 &&
            sim_array_grow(&unit->includes, unit->include_count, &unit->include_room, sizeof *unit->includes))
            unit->includes[unit->include_count++] = (sim_include){index, target, i, quoted};
    }
}

void sim_includes_read(sim_unit *unit, const char *const *folders)
{
    for (int i = 0; i < unit->file_count; i++)
        read_includes_of(unit, i, folders);
}

void sim_includes_edit(sim_unit *unit, const char *const *shadows)
{
    for (int i = 0; i < unit->include_count; i++) {
        const sim_include *include = &unit->includes[i];
        sim_file *file = unit->files[include->from];
        if (!shadows[include->from] || (!shadows[include->to] && !include->quoted))
            continue;
        // Seen from its new place, the file no longer has its old neighbours: they are named in full.
        char full[PATH_MAX];
        const char *target = shadows[include->to];
        if (!target)
            target = realpath(unit->files[include->to]->source.path, full);
        if (!target)
            continue;
        const sim_source *source = &file->source;
        const sim_directive *directive = &source->directives[include->directive];
        sim_text line = {0};
        sim_text_add(&line, "\"");
        sim_text_add(&line, target);
        sim_text_add(&line, "\"");
        char *inserted = sim_text_take(&line);
        if (inserted)
            sim_edit_replace(file, source->lines.at[directive->first].start, source->lines.at[directive->last - 1].end,
                             inserted);
        free(inserted);
    }
}
