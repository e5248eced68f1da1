// Reads what macros expand to, as far as they are defined in the program's own files, and finds PTX that ends a thread.
// What the preprocessor chooses between counts all together: of several definitions any may be the one.
#define _GNU_SOURCE 1
#include "report/leaving.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/internal.h"

enum { DEEPEST = 8, MOST_FILES = 64, LONGEST_PATH = 4096 }; // macros made of macros; of a program: others are not read

typedef struct definition {
    const char *name, *behind, *end; // of its line
} definition;

struct sim_program {
    const char *paths[MOST_FILES];
    int files;
    definition *definitions;
    size_t count;
    bool exits;
    struct sim_program *next;
};

static sim_program *programs;

static bool is(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(word, other, length) == 0;
}

// --- files -----------------------------------------------------------------------------------------------------------

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

// Behind the name of a line "# name ..." of the preprocessor; NULL: it has another.
static const char *behind_directive(const char *line, const char *end, const char *name)
{
    const char *at = skip_blanks(line + 1, end);
    size_t length = strlen(name);
    bool found = (size_t)(end - at) > length && memcmp(at, name, length) == 0 && !sim_source_in_word(at[length]);
    return found ? skip_blanks(at + length, end) : NULL;
}

static void add_file(sim_program *program, const char *from, const char *name, const char *end)
{
    char path[LONGEST_PATH];
    const char *slash = strrchr(from, '/');
    const char *quote = name < end && *name == '"' ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    size_t bytes;
    if (!quote || program->files == MOST_FILES)
        return;
    int length = snprintf(path, sizeof path, "%.*s%.*s", slash ? (int)(slash + 1 - from) : 0, from,
                          (int)(quote - name - 1), name + 1);
    if (length < 0 || (size_t)length >= sizeof path || !sim_source_text(path, &bytes))
        return;
    for (int i = 0; i < program->files; i++)
        if (strcmp(program->paths[i], path) == 0)
            return;
    program->paths[program->files] = sim_arena_string(path, (size_t)length);
    program->files += program->paths[program->files] != NULL;
}

static void add_definition(sim_program *program, const char *name, const char *end)
{
    const char *behind = name;
    while (behind < end && sim_source_in_word(*behind))
        behind++;
    if (program->definitions)
        program->definitions[program->count] = (definition){name, behind, end};
    program->count++;
}

// Adds what one file defines, or counts it where there is no room yet, and the files that it includes.
static void read_file(sim_program *program, const char *path)
{
    size_t bytes;
    const char *text = sim_source_text(path, &bytes);
    if (!text)
        return;
    sim_reader reader = {.at = text, .end = text + bytes, .line_begins = true};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (kind != SIM_PIECE_DIRECTIVE)
            continue;
        const char *included = behind_directive(reader.piece, reader.at, "include");
        const char *defined = behind_directive(reader.piece, reader.at, "define");
        if (included)
            add_file(program, path, included, reader.at);
        if (defined)
            add_definition(program, defined, reader.at);
    }
}

static bool in_comment(const char *at, const char *text)
{
    const char *line = at;
    while (line > text && line[-1] != '\n')
        line--;
    return memmem(line, (size_t)(at - line), "//", 2) != NULL;
}

// `exit;`: behind the C library's function there would be a bracket.
static bool has_exit(const char *path)
{
    static const char word[] = "exit";
    size_t bytes;
    const char *text = sim_source_text(path, &bytes), *end = text + bytes;
    for (const char *at = text; at && (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)) != NULL; at++) {
        const char *behind = skip_blanks(at + sizeof word - 1, end);
        if ((at == text || !sim_source_in_word(at[-1])) && behind < end && *behind == ';' && !in_comment(at, text))
            return true;
    }
    return false;
}

const sim_program *sim_program_of(const char *path)
{
    for (const sim_program *known = programs; known; known = known->next)
        if (strcmp(known->paths[0], path) == 0)
            return known;
    sim_program *program = sim_arena_take(sizeof *program);
    const char *copy = sim_arena_string(path, strlen(path));
    if (!program || !copy)
        return NULL;
    *program = (sim_program){.paths = {copy}, .files = 1, .next = programs};
    programs = program;
    for (int i = 0; i < program->files; i++) {
        read_file(program, program->paths[i]);
        program->exits |= has_exit(program->paths[i]);
    }
    program->definitions = sim_arena_take((program->count + 1) * sizeof *program->definitions);
    program->count = 0;
    for (int i = 0; program->definitions && i < program->files; i++)
        read_file(program, program->paths[i]);
    return program;
}

bool sim_program_exits(const sim_program *program)
{
    return program->exits;
}

// --- macros ----------------------------------------------------------------------------------------------------------

static bool looks_like_call(const char *word, const char *behind, const char *end)
{
    for (const char *at = word; at < behind; at++)
        if (islower((unsigned char)*at))
            return false;
    while (behind < end && isspace((unsigned char)*behind))
        behind++;
    return isalpha((unsigned char)*word) && behind < end && *behind == '(';
}

static bool leaves(const sim_program *program, const char *word, const char *behind, const char *end, int depth);

// Also told of what changes the blocks around it: a brace without its other, a branch of somebody's if or switch.
static bool body_leaves(const sim_program *program, const definition *macro, int depth)
{
    static const char *const others[] = {"else", "case", "default", "asm", "__asm__"};
    int braces = 0;
    sim_reader reader = {.at = macro->behind, .end = macro->end};
    for (sim_piece_kind kind; (kind = sim_source_next(&reader)) != SIM_PIECE_END;) {
        if (kind == SIM_PIECE_SIGN)
            braces += *reader.piece == '{' ? 1 : *reader.piece == '}' ? -1 : 0;
        if (braces < 0)
            return true;
        if (kind != SIM_PIECE_WORD)
            continue;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            if (is(reader.piece, (size_t)(reader.at - reader.piece), others[i]))
                return true;
        if (leaves(program, reader.piece, reader.at, macro->end, depth + 1))
            return true;
    }
    return braces != 0;
}

static bool leaves(const sim_program *program, const char *word, const char *behind, const char *end, int depth)
{
    size_t length = (size_t)(behind - word);
    bool defined = false;
    if (is(word, length, "return") || is(word, length, "goto"))
        return true;
    for (size_t i = 0; i < program->count; i++) {
        const definition *macro = &program->definitions[i];
        if ((size_t)(macro->behind - macro->name) != length || memcmp(macro->name, word, length) != 0)
            continue;
        defined = true;
        if (depth >= DEEPEST || body_leaves(program, macro, depth))
            return true;
    }
    return !defined && looks_like_call(word, behind, end);
}

bool sim_word_leaves(const sim_program *program, const char *word, const char *behind, const char *end)
{
    return leaves(program, word, behind, end, 0);
}
