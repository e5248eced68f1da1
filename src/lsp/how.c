// Reads the comment that says how a file is to be checked.

#include "lsp/how.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "sim/source/lexer.h"

enum { LARGEST_FILE = 16 << 20, TOP_LINES = 50 };

// The number of the comment that says how the file is checked; -1: none does. *words is what stands behind the start.
static int find_comment(const sim_source *source, const char **words)
{
    static const char start[] = "heddle: check";
    for (int i = 0; i < source->comments.count && source->comments.at[i].line <= TOP_LINES; i++) {
        const sim_token *comment = &source->comments.at[i];
        const char *word = source->text + comment->start;
        if (strncmp(word, "//", 2) != 0 || !sim_comment_begins_line(source, comment))
            continue;
        word += strspn(word, " \t/");
        if (strncmp(word, start, sizeof start - 1) == 0 && strchr(" \t\r\n", word[sizeof start - 1])) {
            *words = word + sizeof start - 1;
            return i;
        }
    }
    return -1;
}

// What a comment adds to the one above it: "//" and four or more spaces, as the plugin for pytest reads it. NULL:
// nothing.
static const char *find_more(const sim_source *source, int comment)
{
    const sim_token *above = &source->comments.at[comment - 1], *here = &source->comments.at[comment];
    const char *text = source->text + here->start;
    if (here->line != above->line + 1 || strncmp(text, "//    ", 6) != 0 || !sim_comment_begins_line(source, here))
        return NULL;
    return text + 2;
}

// All that the comment says behind "heddle: check", with the lines that belong to it. NULL: no memory.
static char *join_lines(heddle_arena *arena, const sim_source *source, int comment, const char *words)
{
    const size_t room = source->bytes - (size_t)(words - source->text) + 2;
    char *joined = heddle_arena_alloc(arena, room);
    size_t used = 0;
    while (joined && words) {
        used += (size_t)snprintf(joined + used, room - used, "%.*s ", (int)strcspn(words, "\n"), words);
        words = ++comment < source->comments.count ? find_more(source, comment) : NULL;
    }
    return joined;
}

// The next word, with quotes as a shell has them; NULL: there is none.
static char *next_word(char **rest)
{
    char *from = *rest;
    while (isspace((unsigned char)*from))
        from++;
    if (*from == '\0')
        return NULL;
    char *word = from, *to = from, quote = '\0';
    for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
        if (quote ? *from == quote : *from == '"' || *from == '\'')
            quote = quote ? '\0' : *from;
        else
            *to++ = *from;
    }
    *rest = *from ? from + 1 : from;
    *to = '\0';
    return word;
}

static heddle_status add_word(heddle_lsp_words *words, const char *word)
{
    if (!word)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what a comment says");
    if (words->count == HEDDLE_LSP_MOST_WORDS)
        return heddle_fail(HEDDLE_INVALID, "heddle: check has more than %d words", HEDDLE_LSP_MOST_WORDS);
    words->at[words->count++] = word;
    return HEDDLE_OK;
}

// Paths are meant from the file's own folder.
static const char *place_path(heddle_lsp_how *how, const char *path, const char *name)
{
    char whole[2 * PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (name[0] == '/' || !slash)
        return heddle_arena_copy_text(how->arena, name);
    snprintf(whole, sizeof whole, "%.*s/%s", (int)(slash - path), path, name);
    return heddle_arena_copy_text(how->arena, whole);
}

// An option that takes a value: in the same word (-IDIR, --op=NAME) or in the next. NULL: it is another option.
static const char *value_of(const char *word, const char *name, char **rest)
{
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=' && length > 2)
        return word + length + 1;
    if (word[length] == '\0') {
        const char *value = next_word(rest);
        return value ? value : "";
    }
    return length == 2 ? word + length : NULL;
}

static heddle_status read_option(heddle_lsp_how *how, const char *path, const char *word, char **rest)
{
    const char *value;
    if ((value = value_of(word, "-I", rest)))
        return add_word(&how->include, place_path(how, path, value));
    if ((value = value_of(word, "-D", rest)))
        return add_word(&how->define, value);
    if ((value = value_of(word, "--shape", rest)))
        return add_word(&how->shapes, value);
    if ((value = value_of(word, "--op", rest)))
        how->op = value;
    else if ((value = value_of(word, "--gpu", rest)))
        how->gpu = value;
    else if ((value = value_of(word, "-std", rest)) || (value = value_of(word, "--std", rest)))
        how->standard = value;
    else
        return heddle_fail(HEDDLE_INVALID,
                           "heddle: check in a comment takes files, -I, -D, -std, --op, --shape, --gpu and, after --, "
                           "arguments, but not %s",
                           word);
    return HEDDLE_OK;
}

static heddle_status read_words(heddle_lsp_how *how, const char *path, char *rest)
{
    bool for_program = false;
    for (char *word = next_word(&rest); word; word = next_word(&rest)) {
        if (for_program)
            HEDDLE_TRY(add_word(&how->arguments, word));
        else if (strcmp(word, "--") == 0)
            for_program = true;
        else if (word[0] == '-')
            HEDDLE_TRY(read_option(how, path, word, &rest));
        else
            HEDDLE_TRY(add_word(&how->sources, place_path(how, path, word)));
    }
    return HEDDLE_OK;
}

heddle_status heddle_lsp_how_read(const char *path, heddle_lsp_how *how, int *line)
{
    char *text = NULL;
    size_t size = 0;
    *how = (heddle_lsp_how){.arena = heddle_arena_create()};
    *line = 1;
    if (!how->arena)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what a comment says");
    struct stat about;
    heddle_status status = HEDDLE_OK;
    if (stat(path, &about) == 0 && S_ISFIFO(about.st_mode)) // reading it waits for a writer, and so would the editor
        status = heddle_fail(HEDDLE_INVALID, "%s: is a pipe, not a file", path);
    if (status == HEDDLE_OK)
        status = heddle_file_read(path, LARGEST_FILE, &text, &size);
    if (status == HEDDLE_OK)
        status = add_word(&how->sources, heddle_arena_copy_text(how->arena, path));
    sim_source source = {0};
    if (text)
        sim_source_open(&source, path, text, size); // takes the text over
    const char *start = NULL;
    const int comment = status == HEDDLE_OK ? find_comment(&source, &start) : -1;
    if (comment >= 0) {
        char *words = join_lines(how->arena, &source, comment, start);
        *line = source.comments.at[comment].line;
        status = words ? read_words(how, path, words)
                       : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for what a comment says");
    }
    sim_source_close(&source);
    return status;
}

void heddle_lsp_how_set(const heddle_lsp_how *how, heddle_check_options *options)
{
    options->sources = how->sources.at;
    options->arguments = how->arguments.count > 0 ? how->arguments.at : NULL;
    options->include = how->include.count > 0 ? how->include.at : NULL;
    options->define = how->define.count > 0 ? how->define.at : NULL;
    options->shapes = how->shapes.count > 0 ? how->shapes.at : NULL;
    options->op = how->op;
    options->gpu = how->gpu;
    options->standard = how->standard;
}

void heddle_lsp_how_free(heddle_lsp_how *how)
{
    heddle_arena_destroy(how->arena);
    *how = (heddle_lsp_how){0};
}
