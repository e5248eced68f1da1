// Lines of the user's source files, read when a finding has to show or to understand one. Files are mapped once.
#define _GNU_SOURCE 1
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/internal.h"

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

const char *sim_source_text(const char *path, size_t *bytes)
{
    const source *file = path[0] ? find_source(path) : NULL;
    *bytes = file && file->text ? file->bytes : 0;
    return file ? file->text : NULL;
}

// Behind a comment or a literal that begins at `at`; `at` where none does.
static const char *skip(const char *at, const char *end)
{
    if (at + 1 < end && at[0] == '/' && at[1] == '*') {
        const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        return close ? close + 2 : end;
    }
    bool line = at + 1 < end && at[0] == '/' && at[1] == '/';
    if (!line && *at != '"' && *at != '\'')
        return at;
    char close = line ? '\n' : *at;
    for (at += !line; at < end && *at != close && (line || *at != '\n'); at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + (*at == close && !line) : end;
}

bool sim_source_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// A line for the preprocessor, with those that a backslash joins to it.
static const char *line_end(const char *at, const char *end)
{
    while (at < end && *at != '\n')
        at += *at == '\\' && at + 1 < end ? 2 : 1;
    return at < end ? at : end;
}

sim_piece_kind sim_source_next(sim_reader *reader)
{
    while (reader->at < reader->end) {
        const char *behind = skip(reader->at, reader->end);
        if (behind == reader->at && isspace((unsigned char)*reader->at)) {
            reader->line_begins |= *reader->at == '\n';
            behind++;
        }
        if (behind == reader->at)
            break;
        reader->at = behind;
    }
    reader->piece = reader->at;
    if (reader->at == reader->end)
        return SIM_PIECE_END;
    bool directive = reader->line_begins && *reader->at == '#';
    reader->line_begins = false;
    if (directive) {
        reader->at = line_end(reader->at, reader->end);
        return SIM_PIECE_DIRECTIVE;
    }
    bool word = sim_source_in_word(*reader->at), number = isdigit((unsigned char)*reader->at);
    for (reader->at++; word && reader->at < reader->end;) {
        bool parted = number && *reader->at == '\'' && reader->at + 1 < reader->end; // 1'000: no literal begins there
        if (!sim_source_in_word(reader->at[parted]))
            break;
        reader->at += 1 + parted;
    }
    return word ? SIM_PIECE_WORD : SIM_PIECE_SIGN;
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
