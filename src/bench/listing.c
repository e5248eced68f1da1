// Reads PTX, nvdisasm's output and what ptxas says, line by line. What it does not know it leaves out: these formats
// grow with each release.

#include "bench/listing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

enum { NAME_SIZE = 512, MOST_FILES = 4096 };

typedef struct whole_listing {
    heddle_listing shown;
    heddle_arena *arena;
    int functions_room, lines_room;
    bool failed; // no memory
    const char *file[MOST_FILES];
    const char *now; // the source line of the next instruction
    int number;
} whole_listing;

// --- lines of text ---------------------------------------------------------------------------------------------------

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// A copy of the next line without blanks at its ends, each run of blanks one; NULL at the end.
static char *next_line(whole_listing *listing, const char **at)
{
    if (!**at)
        return NULL;
    const size_t length = strcspn(*at, "\n");
    char *line = heddle_arena_alloc(listing->arena, length + 1);
    size_t used = 0;
    for (size_t i = 0; line && i < length; i++) {
        const char c = (*at)[i];
        const bool blank = isspace((unsigned char)c) != 0;
        if (!blank)
            line[used++] = c;
        else if (used > 0 && line[used - 1] != ' ')
            line[used++] = ' ';
    }
    if (line && used > 0 && line[used - 1] == ' ')
        line[used - 1] = '\0';
    listing->failed |= !line;
    *at += length + ((*at)[length] == '\n');
    return line;
}

// The text between the first two quotes.
static const char *quoted(whole_listing *listing, const char *line)
{
    const char *from = strchr(line, '"'), *to = from ? strchr(from + 1, '"') : NULL;
    char *text = to ? heddle_arena_copy_text(listing->arena, from + 1) : NULL;
    if (text)
        text[to - from - 1] = '\0';
    return text;
}

// --- building --------------------------------------------------------------------------------------------------------

static whole_listing *create(void)
{
    whole_listing *listing = calloc(1, sizeof *listing);
    if (listing)
        listing->arena = heddle_arena_create();
    if (listing && listing->arena)
        return listing;
    free(listing);
    return NULL;
}

void heddle_listing_free(heddle_listing *listing)
{
    whole_listing *whole = (whole_listing *)listing;
    for (int i = 0; listing && i < listing->count; i++)
        free(listing->function[i].line);
    if (!listing)
        return;
    free(listing->function);
    heddle_arena_destroy(whole->arena);
    free(whole);
}

static heddle_listing *finish(whole_listing *listing)
{
    if (!listing->failed)
        return &listing->shown;
    heddle_listing_free(&listing->shown);
    return NULL;
}

static bool make_room(void **array, int count, int *room, size_t size)
{
    if (count < *room)
        return true;
    const int more = *room ? 2 * *room : 16;
    void *larger = realloc(*array, (size_t)more * size);
    if (!larger)
        return false;
    *array = larger;
    *room = more;
    return true;
}

static void add_function(whole_listing *listing, const char *symbol, size_t length, bool kernel)
{
    heddle_listing *shown = &listing->shown;
    void *functions = shown->function;
    char name[NAME_SIZE], *copy = heddle_arena_alloc(listing->arena, length + 1);
    if (!copy || !make_room(&functions, shown->count, &listing->functions_room, sizeof *shown->function)) {
        listing->failed = true;
        return;
    }
    shown->function = functions;
    memcpy(copy, symbol, length);
    heddle_kernel_name(copy, name, sizeof name);
    shown->function[shown->count++] = (heddle_listing_function){
        .symbol = copy, .name = heddle_arena_copy_text(listing->arena, name), .kernel = kernel};
    listing->lines_room = 0;
    listing->now = NULL;
}

static void add_line(whole_listing *listing, const char *text, bool label)
{
    if (listing->failed || listing->shown.count == 0)
        return;
    heddle_listing_function *function = &listing->shown.function[listing->shown.count - 1];
    void *lines = function->line;
    if (!make_room(&lines, function->count, &listing->lines_room, sizeof *function->line)) {
        listing->failed = true;
        return;
    }
    function->line = lines;
    function->line[function->count++] =
        (heddle_listing_line){.file = listing->now, .number = listing->number, .label = label, .text = text};
    const bool counts = !label && !strchr(".{}", text[0]) && !begins(text, "NOP"); // behind the code, to fill its size
    function->instructions += counts;
}

// --- PTX -------------------------------------------------------------------------------------------------------------

// `.file 1 "/home/me/saxpy.cu"`; they may stand behind the code that names them.
static void find_files(whole_listing *listing, const char *text)
{
    for (const char *at = text; (at = strstr(at, ".file")); at++) {
        const long number = strtol(at + strlen(".file"), NULL, 10);
        const size_t length = strcspn(at, "\n");
        if (number <= 0 || number >= MOST_FILES || listing->file[number] || !memchr(at, '"', length))
            continue;
        listing->file[number] = quoted(listing, at);
    }
}

// `.visible .entry _Z5saxpyifPKfPf(` or `.func (.param .b32 retval) _Z5scalef(`
static void begin_function(whole_listing *listing, const char *line)
{
    const char *entry = strstr(line, ".entry "), *name = entry ? entry + strlen(".entry ") : NULL;
    if (!name) {
        name = strstr(line, ".func ") + strlen(".func ");
        if (*name == '(' && strchr(name, ')'))
            name = strchr(name, ')') + 1 + strspn(strchr(name, ')') + 1, " ");
    }
    add_function(listing, name, strcspn(name, "( ,;"), entry != NULL);
}

// `.loc 1 6 9, function_name $L__info_string0, inlined_at 1 6 9`: line 0 is of no line.
static void go_to(whole_listing *listing, const char *line)
{
    char *rest;
    const long file = strtol(line + strlen(".loc"), &rest, 10), number = strtol(rest, NULL, 10);
    if (number <= 0 || file <= 0 || file >= MOST_FILES)
        return;
    listing->now = listing->file[file];
    listing->number = (int)number;
}

static bool is_label(const char *line)
{
    const size_t length = strlen(line);
    return length > 1 && line[length - 1] == ':' && !strchr(line, ' ');
}

heddle_listing *heddle_listing_of_ptx(const char *text)
{
    whole_listing *listing = create();
    bool body = false, declared = false; // in the body of a function; its name has come, the body not yet
    char *line;
    if (!listing)
        return NULL;
    find_files(listing, text);
    for (const char *at = text; (line = next_line(listing, &at));) {
        if (!body && (strstr(line, ".entry ") || strstr(line, ".func "))) {
            declared = !strchr(line, ';'); // otherwise it is all of a declaration
            if (declared)
                begin_function(listing, line);
        } else if (!body && declared && strchr(line, ';') && !strchr(line, '{')) {
            listing->shown.count -= listing->shown.count > 0; // only a declaration
            declared = false;
        } else if (!body && declared && strcmp(line, "{") == 0) {
            body = true;
            declared = false;
        } else if (body && strcmp(line, "}") == 0 && at - text >= 2 && at[-2] == '}' &&
                   (at - text == 2 || at[-3] == '\n')) {
            body = false; // the brace of an inner block is indented
        } else if (body && begins(line, ".loc ")) {
            go_to(listing, line);
        } else if (body && *line && !begins(line, "//")) {
            add_line(listing, line, is_label(line));
        }
    }
    return finish(listing);
}

// --- SASS ------------------------------------------------------------------------------------------------------------

// `/*0010*/ S2R R5, SR_TID.X ;`: the instruction without its address. NULL: something else.
static char *instruction_of(char *line)
{
    char *end = begins(line, "/*") ? strstr(line, "*/") : NULL;
    if (!end)
        return NULL;
    for (const char *digit = line + 2; digit < end; digit++)
        if (!isxdigit((unsigned char)*digit))
            return NULL;
    end += 2 + strspn(end + 2, " ");
    char *comment = strstr(end, " /*"); // the bits, if they were asked for
    if (comment)
        *comment = '\0';
    return *end ? end : NULL;
}

heddle_listing *heddle_listing_of_sass(const char *text)
{
    static const char section[] = ".section .text.", place[] = "//## File ";
    whole_listing *listing = create();
    char *line;
    if (!listing)
        return NULL;
    for (const char *at = text; (line = next_line(listing, &at));) {
        char *instruction = instruction_of(line);
        if (begins(line, section)) {
            const char *name = line + strlen(section);
            add_function(listing, name, strcspn(name, ","), true);
        } else if (begins(line, place)) {
            const char *number = strstr(line, "\", line ");
            listing->now = quoted(listing, line);
            listing->number = number ? (int)strtol(number + strlen("\", line "), NULL, 10) : 0;
        } else if (instruction) {
            add_line(listing, instruction, false);
        } else if (begins(line, ".L_") && is_label(line)) {
            add_line(listing, line, true);
        }
    }
    return finish(listing);
}

// --- what others say of it -------------------------------------------------------------------------------------------

static heddle_listing_function *find(heddle_listing *listing, const char *symbol, size_t length)
{
    for (int i = 0; i < listing->count; i++)
        if (strlen(listing->function[i].symbol) == length && memcmp(listing->function[i].symbol, symbol, length) == 0)
            return &listing->function[i];
    return NULL;
}

// The number that stands before these words in a line; 0 if they are not there.
static int number_before(const char *line, const char *words)
{
    const char *at = strstr(line, words);
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && isdigit((unsigned char)at[-1]))
        at--;
    return at ? (int)strtol(at, NULL, 10) : 0;
}

void heddle_listing_add_usage(heddle_listing *listing, const char *said)
{
    static const char entry[] = "Compiling entry function '";
    whole_listing *whole = (whole_listing *)listing;
    heddle_listing_function *function = NULL;
    char *line;
    for (const char *at = said; (line = next_line(whole, &at));) {
        const char *name = strstr(line, entry);
        if (name) {
            name += strlen(entry);
            function = find(listing, name, strcspn(name, "'"));
        } else if (function && strstr(line, "bytes stack frame")) {
            function->stack_bytes = number_before(line, "bytes stack frame");
            function->spill_stores = number_before(line, "bytes spill stores");
            function->spill_loads = number_before(line, "bytes spill loads");
        } else if (function && strstr(line, "Used ")) {
            function->has_usage = true;
            function->registers = number_before(line, "registers");
            function->shared_bytes = number_before(line, "bytes smem");
        }
    }
}

void heddle_listing_add_names(heddle_listing *listing, const char *names)
{
    whole_listing *whole = (whole_listing *)listing;
    char *line;
    int i = 0;
    for (const char *at = names; i < listing->count && (line = next_line(whole, &at)); i++)
        if (*line)
            listing->function[i].name = begins(line, "void ") ? line + strlen("void ") : line;
}
