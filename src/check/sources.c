// Source files as lines and as tokens.

#include "check/sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "sim/source/scope.h"

// A source file beyond this is not for showing. The names come from what the program wrote: it must not have us read
// everything there is.
enum { MOST_FILES = 1000, MOST_BYTES = 128 << 20 };

struct heddle_check_sources {
    heddle_check_source **files;
    int count, room;
    size_t bytes; // of them all
};

heddle_check_sources *heddle_check_sources_create(void)
{
    return calloc(1, sizeof(heddle_check_sources));
}

static void free_source(heddle_check_source *source)
{
    if (!source)
        return;
    free((char *)source->path);
    free(source->content);
    free((void *)source->lines);
    sim_source_close(&source->code);
    free(source);
}

void heddle_check_sources_free(heddle_check_sources *sources)
{
    if (!sources)
        return;
    for (int i = 0; i < sources->count; i++)
        free_source(sources->files[i]);
    free(sources->files);
    free(sources);
}

// Cuts the content at its line ends.
static void split_lines(heddle_check_source *source, size_t size)
{
    int count = size > 0;
    for (size_t i = 0; i < size; i++)
        count += source->content[i] == '\n' && i + 1 < size;
    source->lines = calloc((size_t)count + 1, sizeof *source->lines);
    if (!source->lines)
        return;
    char *rest = source->content;
    for (int i = 0; i < count; i++) {
        source->lines[i] = rest;
        char *end = memchr(rest, '\n', size - (size_t)(rest - source->content));
        if (!end)
            end = source->content + size;
        rest = end < source->content + size ? end + 1 : end;
        if (end > source->lines[i] && end[-1] == '\r')
            end--;
        *end = '\0';
    }
    source->count = count;
}

// A pipe among the headers would keep us waiting, a device never end.
static bool is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static void read_code(heddle_check_source *source, size_t size)
{
    char *text = malloc(size + 1);
    sim_qualifiers qualifiers = {0};
    if (!text)
        return;
    memcpy(text, source->content, size + 1);
    sim_source_open(&source->code, source->path, text, size);
    sim_qualifiers_learn(&qualifiers, &source->code);
    sim_scopes_find(&source->code, &qualifiers);
    sim_qualifiers_free(&qualifiers);
}

static heddle_check_source *load(const char *path, size_t most, size_t *size)
{
    heddle_check_source *source = calloc(1, sizeof *source);
    if (source)
        source->path = strdup(path);
    if (!source || !source->path) {
        free_source(source);
        return NULL;
    }
    if (is_regular(path) && heddle_file_read(path, most, &source->content, size) == HEDDLE_OK) {
        read_code(source, *size);
        split_lines(source, *size);
    }
    return source;
}

const heddle_check_source *heddle_check_sources_get(heddle_check_sources *sources, const char *path)
{
    for (int i = 0; i < sources->count; i++)
        if (strcmp(sources->files[i]->path, path) == 0)
            return sources->files[i];
    static const heddle_check_source none = {.path = ""};
    if (sources->count == MOST_FILES)
        return &none;
    if (sources->count == sources->room) {
        int more = sources->room ? 2 * sources->room : 8;
        heddle_check_source **moved = realloc(sources->files, (size_t)more * sizeof(heddle_check_source *));
        if (!moved)
            return NULL;
        sources->files = moved;
        sources->room = more;
    }
    size_t left = MOST_BYTES - sources->bytes, size = 0;
    heddle_check_source *source =
        load(path, left < HEDDLE_CHECK_LARGEST_SOURCE ? left : HEDDLE_CHECK_LARGEST_SOURCE, &size);
    if (source)
        sources->files[sources->count++] = source;
    sources->bytes += size;
    return source;
}

const sim_source *heddle_check_sources_code(heddle_check_sources *sources, const char *path)
{
    const heddle_check_source *source = path[0] ? heddle_check_sources_get(sources, path) : NULL;
    return source && source->code.text && !source->code.failed ? &source->code : NULL;
}

const sim_source *heddle_check_sources_included(heddle_check_sources *sources, const sim_source *from,
                                                const sim_directive *directive)
{
    char path[PATH_MAX];
    bool quoted = false;
    char *name = directive->kind == SIM_DIRECTIVE_INCLUDE ? sim_included_name(from, directive, &quoted) : NULL;
    const char *slash = strrchr(from->path, '/');
    int length =
        name ? snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - from->path) : 0, from->path, name) : 0;
    bool there = quoted && length > 0 && (size_t)length < sizeof path && heddle_file_exists(path);
    free(name);
    return there ? heddle_check_sources_code(sources, path) : NULL;
}

const sim_source *heddle_check_sources_found(heddle_check_sources *sources, const sim_source *from,
                                             const sim_directive *directive, const char *const *folders)
{
    const sim_source *found = heddle_check_sources_included(sources, from, directive);
    bool quoted;
    char path[PATH_MAX], *name = NULL;
    if (!found && directive->kind == SIM_DIRECTIVE_INCLUDE)
        name = sim_included_name(from, directive, &quoted);
    for (int i = 0; name && !found && folders && folders[i]; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folders[i], name);
        if (length > 0 && (size_t)length < sizeof path && heddle_file_exists(path))
            found = heddle_check_sources_code(sources, path);
    }
    free(name);
    return found;
}

const char *heddle_check_sources_line(heddle_check_sources *sources, const char *path, int line)
{
    const heddle_check_source *source = path[0] ? heddle_check_sources_get(sources, path) : NULL;
    return source && line >= 1 && line <= source->count ? source->lines[line - 1] : NULL;
}

const char *heddle_check_short_path(const char *path, char *text, size_t size)
{
    char here[4096];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (length > 1 && strncmp(path, here, length) == 0 && path[length] == '/')
        path += length + 1;
    snprintf(text, size, "%s", path);
    return text;
}

const char *heddle_check_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
