// Lines of the simulator's headers, by which race/ knows the loads of a function that addr2line misnames. Files are
// mapped once.
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/arena.h"
#include "program/lines.h"

typedef struct source {
    const char *path, *text; // text NULL: cannot be read
    size_t bytes;
    struct source *next;
} source;

static source *sources;

static source *open_source(const char *path)
{
    source *file = sim_arena_take(sizeof *file);
    if (!file)
        return NULL;
    file->path = sim_arena_string(path, strlen(path));
    file->next = sources;
    sources = file;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0)
        return file;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (map != MAP_FAILED)
            file->text = map;
        file->bytes = (size_t)status.st_size;
    }
    close(descriptor);
    return file;
}

static source *find_source(const char *path)
{
    for (source *file = sources; file; file = file->next)
        if (strcmp(file->path, path) == 0)
            return file;
    return open_source(path);
}

const char *sim_source_line(const char *path, unsigned number, size_t *length)
{
    source *file = number > 0 && path[0] ? find_source(path) : NULL;
    if (!file || !file->text)
        return NULL;
    const char *line = file->text, *end = file->text + file->bytes;
    for (unsigned i = 1; i < number; i++) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline)
            return NULL;
        line = newline + 1;
    }
    if (line >= end)
        return NULL;
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    *length = (size_t)((newline ? newline : end) - line);
    while (*length > 0 && line[*length - 1] == '\r')
        --*length;
    return line;
}
