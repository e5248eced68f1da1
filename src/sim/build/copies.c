// From
//     call void @llvm.memcpy.p0.p0.i64(ptr align 16 %to, ptr align 16 %from, i64 16, i1 false), !dbg !7
// to
//     %copy = load <16 x i8>, ptr %from, align 16, !dbg !7
//     store <16 x i8> %copy, ptr %to, align 16, !dbg !7
// A vector of bytes is what clang neither splits where a structure's members are used one by one, nor cares about the
// types of those members. What does not look like this is left as it is.
#define _GNU_SOURCE 1
#include "build/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The widest load of a GPU; and the number of pieces from which on a copy stays a call.
enum { WIDEST = 16, MOST_PIECES = 8 };

typedef struct operand {
    const char *type; // of the pointer: "ptr", or "i8*" before clang 15
    int type_length;
    unsigned long alignment;
    const char *text;
    int length;
} operand;

static bool skip(const char **at, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

// "ptr align 16 %7, ": up to the comma that stands outside of all brackets.
static bool read_operand(const char **at, operand *read)
{
    read->type = *at;
    if (!skip(at, "ptr") && !skip(at, "i8*"))
        return false;
    read->type_length = (int)(*at - read->type);
    if (!skip(at, " align "))
        return false;
    char *end;
    read->alignment = strtoul(*at, &end, 10);
    if (*end != ' ')
        return false;
    read->text = *at = end + 1;
    for (int depth = 0; **at && (depth > 0 || **at != ','); (*at)++)
        depth += (strchr("([{", **at) != NULL) - (strchr(")]}", **at) != NULL);
    read->length = (int)(*at - read->text);
    return skip(at, ", ");
}

// The address of a piece, as %sim.copy.N.<role><piece>; `pointer` is the type of one to a piece.
static void add_address(sim_text *out, const operand *base, const char *pointer, char role, unsigned copy,
                        unsigned piece, unsigned width)
{
    sim_text_print(out, "  %%sim.copy.%u.%c%u.byte = getelementptr i8, %.*s %.*s, i64 %u\n", copy, role, piece,
                   base->type_length, base->type, base->length, base->text, piece * width);
    sim_text_print(out, "  %%sim.copy.%u.%c%u = bitcast %.*s %%sim.copy.%u.%c%u.byte to %s\n", copy, role, piece,
                   base->type_length, base->type, copy, role, piece, pointer);
}

static void add_piece(sim_text *out, const operand *to, const operand *from, unsigned copy, unsigned piece,
                      unsigned width, const char *debug, int debug_length)
{
    char pointer[32] = "ptr";
    if (to->type[0] != 'p')
        snprintf(pointer, sizeof pointer, "<%u x i8>*", width);
    add_address(out, from, pointer, 'f', copy, piece, width);
    add_address(out, to, pointer, 't', copy, piece, width);
    sim_text_print(out, "  %%sim.copy.%u.%u = load <%u x i8>, %s %%sim.copy.%u.f%u, align %u%.*s\n", copy, piece, width,
                   pointer, copy, piece, width, debug_length, debug);
    sim_text_print(out, "  store <%u x i8> %%sim.copy.%u.%u, %s %%sim.copy.%u.t%u, align %u%.*s\n", width, copy, piece,
                   pointer, copy, piece, width, debug_length, debug);
}

static unsigned width_of(const operand *to, const operand *from)
{
    unsigned long width = to->alignment < from->alignment ? to->alignment : from->alignment;
    return width > WIDEST ? WIDEST : (unsigned)width;
}

void sim_copy_line(const char *line, size_t bytes, unsigned *copies, sim_text *out)
{
    const char *at = line + strspn(line, " ");
    operand to, from;
    if (!skip(&at, "call void @llvm.memcpy.p0") || !(at = memchr(at, '(', bytes - (size_t)(at - line))) ||
        !skip(&at, "(") || !read_operand(&at, &to) || !read_operand(&at, &from) || !skip(&at, "i64 ")) {
        sim_text_add_bytes(out, line, bytes);
        return;
    }
    char *end;
    unsigned long size = strtoul(at, &end, 10);
    unsigned width = width_of(&to, &from);
    at = end;
    if (width < 2 || size == 0 || size % width != 0 || size / width > MOST_PIECES || !skip(&at, ", i1 false)")) {
        sim_text_add_bytes(out, line, bytes);
        return;
    }
    static const char mark[] = ", !dbg !";
    const char *debug = memmem(at, bytes - (size_t)(at - line), mark, strlen(mark));
    int debug_length = debug ? (int)(strlen(mark) + strspn(debug + strlen(mark), "0123456789")) : 0;
    for (unsigned piece = 0; piece < size / width; piece++)
        add_piece(out, &to, &from, *copies, piece, width, debug ? debug : "", debug_length);
    ++*copies;
}
