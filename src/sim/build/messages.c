// Reads gcc's and clang's messages. Those about the stand-in headers are moved to the line of the user's that led
// there; notes inside the headers say nothing to him and are dropped.

#include "build/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/process.h"
#include "build/wording.h"
#include "rewrite/text.h"
#include "source/lexer.h"

enum { MOST_MESSAGES = 200, WIDEST_LINE = 200 };

typedef struct message_place {
    const char *file;
    int file_bytes, line, column;
} message_place;

typedef struct message_reader {
    sim_build_result *result;
    const sim_rewritten *rewritten;
    const char *headers;
    message_place led_here; // the user's line that the next message is about; no file: unknown
    int launch_line;        // of the last message, when it was about a wrong launch; else 0
    bool unwanted;          // the last message was a warning that nobody asked for: its notes go with it
    int homeless;           // index of the last message that has no place of the user's; -1: none
} message_reader;

static sim_build_message *add_message(sim_build_result *result, sim_message_kind kind, const message_place *place,
                                      const char *text, size_t bytes)
{
    if (result->count >= MOST_MESSAGES ||
        !sim_array_grow(&result->messages, result->count, &result->room, sizeof *result->messages))
        return NULL;
    sim_build_message *message = &result->messages[result->count];
    *message = (sim_build_message){.kind = kind, .text = strndup(text, bytes)};
    if (!message->text)
        return NULL;
    if (place && place->file) {
        message->file = strndup(place->file, (size_t)place->file_bytes);
        message->line = place->line;
        message->column = place->column;
    }
    result->count++;
    return message;
}

void sim_build_say(sim_build_result *result, sim_message_kind kind, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add_message(result, kind, NULL, text, strlen(text));
}

void sim_messages_stopped(sim_build_result *result, const char *what, int status, const sim_limits *limits)
{
    const double gigabyte = 1e9;
    if (status == SIM_PROCESS_TIMED_OUT)
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s: the compiler was stopped after %g seconds", what,
                      limits->seconds);
    else
        sim_build_say(result, SIM_MESSAGE_ERROR, "%s: the compiler was stopped: it used more than %.3g GB of memory",
                      what, (double)limits->memory / gigabyte);
}

void sim_build_result_free(sim_build_result *result)
{
    for (int i = 0; i < result->count; i++) {
        free(result->messages[i].file);
        free(result->messages[i].text);
    }
    free(result->messages);
    free(result->compiler);
    *result = (sim_build_result){0};
}

// file:line:column: rest, or file:line: rest
static bool read_place(const char *line, size_t bytes, message_place *found, const char **rest)
{
    for (size_t colon = 1; colon + 1 < bytes; colon++) {
        if (line[colon] != ':' || line[colon + 1] < '0' || line[colon + 1] > '9')
            continue;
        char *end;
        *found =
            (message_place){.file = line, .file_bytes = (int)colon, .line = (int)strtol(line + colon + 1, &end, 10)};
        if (*end == ':' && end[1] >= '0' && end[1] <= '9')
            found->column = (int)strtol(end + 1, &end, 10);
        if (*end != ':' && *end != ',')
            continue;
        *rest = end + 1;
        return *rest <= line + bytes;
    }
    return false;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_users(const message_reader *reader, const message_place *place)
{
    size_t headers = strlen(reader->headers), bytes = (size_t)place->file_bytes;
    if (bytes >= headers && memcmp(place->file, reader->headers, headers) == 0)
        return false;
    return !starts(place->file, "/usr/include/") && !starts(place->file, "/usr/lib") && place->file[0] != '<' &&
           !(bytes > 9 && memcmp(place->file + bytes - 9, "standin.h", 9) == 0);
}

static void map_column(const message_reader *reader, sim_build_message *message)
{
    if (message->file && message->column && reader->rewritten)
        message->column = sim_rewritten_column(reader->rewritten, message->file, message->line, message->column);
}

// Of all warnings only those of variables that are read before they are set, and only in device code that somebody
// calls, are of use here.
static bool is_wanted(const message_reader *reader, const message_place *at, const char *text, size_t bytes)
{
    char file[4096];
    snprintf(file, sizeof file, "%.*s", at->file_bytes, at->file);
    return memmem(text, bytes, "uninitialized]", 14) && reader->rewritten &&
           sim_rewritten_is_device(reader->rewritten, file, at->line) &&
           !sim_rewritten_is_unused(reader->rewritten, file, at->line);
}

// A header of a library that is not simulated says so in one error, and includes a file by this name to end the
// compilation there: what the compiler says about that file is of no use.
static bool is_aftermath(const char *text, size_t bytes)
{
    static const char file[] = "stopped/by/the/error/above";
    return memmem(text, bytes, file, sizeof file - 1) != NULL;
}

static void read_diagnostic(message_reader *reader, const message_place *at, sim_message_kind kind, const char *text,
                            size_t bytes)
{
    message_place where = *at;
    if (kind != SIM_MESSAGE_NOTE)
        reader->unwanted = kind == SIM_MESSAGE_WARNING && !is_wanted(reader, at, text, bytes);
    if (reader->unwanted || is_aftermath(text, bytes))
        return;
    bool users = is_users(reader, at);
    if (!users && kind != SIM_MESSAGE_ERROR) {
        if (kind == SIM_MESSAGE_WARNING)
            reader->homeless = -1;
        return;
    }
    // clang names the user's line only in a note after the message.
    if (kind == SIM_MESSAGE_NOTE && reader->homeless >= 0 && memmem(text, bytes, "requested here", 14)) {
        sim_build_message *message = &reader->result->messages[reader->homeless];
        free(message->file);
        message->file = strndup(at->file, (size_t)at->file_bytes);
        message->line = at->line;
        message->column = at->column;
        map_column(reader, message);
        reader->homeless = -1;
        return;
    }
    bool lost = !users && !reader->led_here.file, launch = false;
    if (!users && reader->led_here.file)
        where = reader->led_here;
    reader->led_here = (message_place){0};
    // What else a compiler says at the place of a wrong launch is about the same fault.
    bool again = !lost && reader->launch_line == where.line && reader->launch_line > 0;
    sim_text words = {0};
    bool useful = sim_wording(kind, text, bytes, &words, &launch) && !(kind == SIM_MESSAGE_ERROR && again);
    sim_build_message *message =
        useful ? add_message(reader->result, kind, &where, words.at ? words.at : "", words.bytes) : NULL;
    sim_text_free(&words);
    if (kind != SIM_MESSAGE_NOTE) {
        reader->homeless = message && lost ? reader->result->count - 1 : -1;
        reader->launch_line = (launch && !lost) || again ? where.line : 0;
    }
    if (message)
        map_column(reader, message);
}

// In file included from FILE:LINE:COLUMN, and the lines after it that begin with blanks and "from": the innermost file
// of the user's is where an error in a stand-in header is said.
static void read_inclusion(message_reader *reader, const char *line, size_t bytes)
{
    static const char word[] = "from ";
    const char *from = memmem(line, bytes, word, sizeof word - 1);
    message_place at;
    const char *rest;
    if (!from || reader->led_here.file)
        return;
    from += sizeof word - 1;
    if (read_place(from, (size_t)(line + bytes - from), &at, &rest) && is_users(reader, &at))
        reader->led_here = at;
}

static void read_line(message_reader *reader, const char *line, size_t bytes)
{
    static const struct {
        const char *start;
        sim_message_kind kind;
    } kinds[] = {{" fatal error: ", SIM_MESSAGE_ERROR},
                 {" error: ", SIM_MESSAGE_ERROR},
                 {" sorry, unimplemented: ", SIM_MESSAGE_ERROR},
                 {" internal compiler error: ", SIM_MESSAGE_ERROR},
                 {" warning: ", SIM_MESSAGE_WARNING},
                 {" note: ", SIM_MESSAGE_NOTE}};
    message_place at;
    const char *rest;
    if (starts(line, "In file included from") || starts(line, "                 from ")) {
        read_inclusion(reader, line, bytes);
        return;
    }
    if (starts(line, "     ") || !read_place(line, bytes, &at, &rest)) {
        if (memmem(line, bytes, ": In ", 5))
            reader->led_here = (message_place){0};
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!starts(rest, kinds[i].start))
            continue;
        const char *text = rest + strlen(kinds[i].start);
        read_diagnostic(reader, &at, kinds[i].kind, text, (size_t)(line + bytes - text));
        return;
    }
    bool chain = memmem(rest, (size_t)(line + bytes - rest), "required ", 9) != NULL;
    if (chain && !reader->led_here.file && is_users(reader, &at))
        reader->led_here = at;
}

void sim_messages_compiler(sim_build_result *result, const char *said, const sim_rewritten *rewritten,
                           const sim_home *home)
{
    message_reader reader = {.result = result, .rewritten = rewritten, .headers = home->headers, .homeless = -1};
    while (*said) {
        size_t bytes = strcspn(said, "\n");
        read_line(&reader, said, bytes);
        said += bytes + (said[bytes] == '\n');
    }
}

static bool is_said(const sim_build_result *result, const char *text, size_t bytes)
{
    for (int i = 0; i < result->count; i++)
        if (strlen(result->messages[i].text) == bytes && memcmp(result->messages[i].text, text, bytes) == 0)
            return true;
    return false;
}

// The one of the user's files that `text` begins with; NULL: none.
static const char *file_at(const char *text, const char *const *files)
{
    const char *longest = NULL;
    for (; *files; files++)
        if (starts(text, *files) && text[strlen(*files)] == ':' && (!longest || strlen(*files) > strlen(longest)))
            longest = *files;
    return longest;
}

static const char *behind_ld(const char *line)
{
    static const char name[] = "/usr/bin/ld: ";
    return starts(line, name) ? line + sizeof name - 1 : line;
}

// One name in two files. GNU ld says "SECOND: in function `f'", then "place: multiple definition of `f'; FIRST:place:
// first defined here"; the place is often a line of our headers, so only the files are told. Others name no file here.
static void say_twice(sim_build_result *result, const char *reason, size_t bytes, const char *second,
                      const char *const *files)
{
    const char *mark = memmem(reason, bytes, "; ", 2);
    const char *first = mark ? file_at(mark + 2, files) : NULL;
    size_t name_bytes = mark ? (size_t)(mark - reason) : bytes;
    const char *name = memchr(reason, '`', name_bytes);
    name = name ? name + 1 : reason;
    name_bytes -= (size_t)(name - reason) + (name > reason);
    bool is_main = name_bytes == 4 && memcmp(name, "main", 4) == 0;
    if (is_main && first && second)
        sim_build_say(result, SIM_MESSAGE_ERROR,
                      "both %s and %s have a main: they are two programs, give one at a time", first, second);
    else if (first && second)
        sim_build_say(result, SIM_MESSAGE_ERROR,
                      "%.*s is defined in %s and in %s: make it static or inline, or leave one of the files out",
                      (int)name_bytes, name, first, second);
    else
        add_message(result, SIM_MESSAGE_ERROR, NULL, reason, mark ? (size_t)(mark - reason) : bytes);
}

static void say_no_main(sim_build_result *result, const char *const *files, bool *said)
{
    if (!*said)
        sim_build_say(result, SIM_MESSAGE_ERROR, "there is no main in %s%s: is it inside an #if that does not hold?",
                      *files, files[1] ? " or the other files" : "");
    *said = true;
}

static void say_reason(sim_build_result *result, const char *line, const char *reason, size_t bytes)
{
    message_place at;
    const char *rest;
    bool known = line < reason && read_place(line, (size_t)(reason - line), &at, &rest);
    add_message(result, SIM_MESSAGE_ERROR, known ? &at : NULL, reason, bytes);
}

// Code reaches variables within 2 GiB of it, here and with nvcc's host compiler. What the linker says of that is one
// line for each use, most of them in the C library.
static bool says_too_large(const char *said)
{
    return strstr(said, "relocation truncated to fit") || strstr(said, "relocation out of range") ||
           strstr(said, "failed to convert GOTPCREL relocation");
}

void sim_messages_linker(sim_build_result *result, const char *said, const char *const *files)
{
    static const char *const reasons[] = {"undefined reference to ", "multiple definition of ", "cannot find ",
                                          "undefined symbol: ",      "duplicate symbol: ",      NULL};
    const char *whole = said, *second = NULL;
    int before = result->count;
    bool no_main = false;
    for (; *said; said += strcspn(said, "\n"), said += *said == '\n') {
        size_t bytes = strcspn(said, "\n");
        const char *line = behind_ld(said);
        if (memmem(said, bytes, ": in function ", 14))
            second = file_at(line, files);
        for (int i = 0; reasons[i]; i++) {
            const char *reason = memmem(said, bytes, reasons[i], strlen(reasons[i]));
            size_t reason_bytes = reason ? (size_t)(said + bytes - reason) : 0;
            if (!reason || is_said(result, reason, reason_bytes))
                continue;
            if (starts(reason, "undefined reference to `main'") || starts(reason, "undefined symbol: main\n"))
                say_no_main(result, files, &no_main);
            else if (starts(reason, "multiple definition of "))
                say_twice(result, reason, reason_bytes, file_at(line, files) ? file_at(line, files) : second, files);
            else
                say_reason(result, line, reason, reason_bytes);
        }
    }
    if (result->count == before && says_too_large(whole))
        sim_build_say(
            result, SIM_MESSAGE_ERROR,
            "the global and static variables of %s%s are too large to link: more than 2 GiB together; allocate "
            "the largest arrays with cudaMalloc or malloc",
            *files, files[1] ? " and the other files" : "");
    else if (result->count == before)
        add_message(result, SIM_MESSAGE_ERROR, NULL, whole, strlen(whole));
}

// Adds the line of the file and a mark under the column.
static void add_excerpt(sim_text *text, const sim_build_message *message)
{
    FILE *file = message->file && message->line > 0 ? fopen(message->file, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t bytes = -1;
    for (int i = 0; file && i < message->line; i++)
        bytes = getline(&line, &room, file);
    if (file)
        fclose(file);
    if (bytes > 0 && bytes <= WIDEST_LINE) {
        line[strcspn(line, "\r\n")] = 0;
        sim_text_print(text, "\n%6d | %s", message->line, line);
        if (message->column > 0 && message->column <= (int)strlen(line) + 1) {
            sim_text_add(text, "\n       | ");
            for (int i = 0; i < message->column - 1; i++)
                sim_text_add(text, line[i] == '\t' ? "\t" : " ");
            sim_text_add(text, "^");
        }
    }
    free(line);
}

char *sim_build_message_text(const sim_build_message *message)
{
    static const char *const kinds[] = {"error", "warning", "note"};
    sim_text text = {0};
    if (message->file)
        sim_text_print(&text, "%s:", message->file);
    if (message->file && message->line)
        sim_text_print(&text, "%d:", message->line);
    if (message->file && message->column)
        sim_text_print(&text, "%d:", message->column);
    sim_text_print(&text, "%s%s: %s", message->file ? " " : "", kinds[message->kind], message->text);
    add_excerpt(&text, message);
    return sim_text_take(&text);
}
