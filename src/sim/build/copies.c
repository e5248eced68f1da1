// From
//     call void @llvm.memcpy.p0.p0.i64(ptr align 16 %to, ptr align 16 %from, i64 16, i1 false), !dbg !7
// to
//     %copy = load <16 x i8>, ptr %from, align 16, !dbg !7
//     store <16 x i8> %copy, ptr %to, align 16, !dbg !7
// A vector of bytes is what clang neither splits where a structure's members are used one by one, nor cares about the
// types of those members. What does not look like this is left as it is.

#include "build/copies.h"

#include <ctype.h>
#include <stdint.h>
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

static unsigned width_for(unsigned long alignment)
{
    return alignment > WIDEST ? WIDEST : (unsigned)alignment;
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
                   pointer, copy, piece, width_for(from->alignment), debug_length, debug);
    sim_text_print(out, "  store <%u x i8> %%sim.copy.%u.%u, %s %%sim.copy.%u.t%u, align %u%.*s\n", width, copy, piece,
                   pointer, copy, piece, width_for(to->alignment), debug_length, debug);
}

// --- what the values are ---------------------------------------------------------------------------------------------

static unsigned what_is(const sim_copies *copies, const char *value)
{
    size_t number = value[0] == '%' && isdigit((unsigned char)value[1]) ? strtoul(value + 1, NULL, 10) : SIZE_MAX;
    return number < copies->values.bytes ? (unsigned char)copies->values.at[number] : 0;
}

static void set_what(sim_copies *copies, size_t number, unsigned what)
{
    static const char unknown[64];
    while (copies->values.bytes <= number && !copies->values.failed)
        sim_text_add_bytes(&copies->values, unknown, sizeof unknown);
    if (number < copies->values.bytes)
        copies->values.at[number] = (char)what;
}

// "[8 x %struct.float4]": one of CUDA's types, whose elements are as aligned as the type says.
static bool is_vectors(const char *type, const char *end)
{
    static const char *const names[] = {"char", "uchar", "short", "ushort",   "int",       "uint",
                                        "long", "ulong", "float", "longlong", "ulonglong", "double"};
    const char *name = memmem(type, (size_t)(end - type), "%struct.", strlen("%struct."));
    if (type[0] != '[' || !name)
        return false;
    name += strlen("%struct.");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && strchr("24", name[length]) && name[length + 1] == ']')
            return true;
    }
    return false;
}

// "getelementptr inbounds TYPE, ptr BASE, i64 0, i64 %7" and "bitcast TYPE BASE to TYPE", from behind the first word.
static unsigned what_is_derived(const sim_copies *copies, const char *at, const char *end, bool element)
{
    const char *opaque = memmem(at, (size_t)(end - at), "ptr %", 5), *typed = memmem(at, (size_t)(end - at), "* %", 3);
    const char *base = opaque ? opaque + strlen("ptr ") : typed ? typed + strlen("* ") : at;
    unsigned what = what_is(copies, base), indices = 0;
    for (const char *comma = base; element && (comma = memmem(comma, (size_t)(end - comma), ", i", 3)); comma++)
        indices++;
    at += strcspn(at, "[%{");
    return indices > 1 && !is_vectors(at, end) ? what | SIM_VALUE_PART : what;
}

static void note_value(sim_copies *copies, const char *at, const char *end)
{
    char *behind;
    size_t number = strtoul(at, &behind, 10);
    at = behind;
    if (!skip(&at, " = "))
        return;
    if (skip(&at, "alloca "))
        set_what(copies, number, SIM_VALUE_LOCAL);
    else if (skip(&at, "getelementptr "))
        set_what(copies, number, what_is_derived(copies, at, end, true));
    else if (skip(&at, "bitcast "))
        set_what(copies, number, what_is_derived(copies, at, end, false));
}

// --- copies ----------------------------------------------------------------------------------------------------------

// What is copied is a type's whole value: where one side is a variable or the target of a pointer, its alignment is the
// type's. clang knows less of the other, an array of floats perhaps that was cast to float4, and that is what has to be
// found when it is wrong; in local variables it cannot be.
static unsigned agree(const sim_copies *copies, operand *to, operand *from, unsigned long size)
{
    operand *more = to->alignment > from->alignment ? to : from, *less = more == to ? from : to;
    unsigned width = width_for(more->alignment);
    if (less->alignment >= width || size % width != 0 || what_is(copies, more->text) & SIM_VALUE_PART)
        return width_for(less->alignment);
    if (!(what_is(copies, less->text) & SIM_VALUE_LOCAL))
        less->alignment = width;
    return width;
}

static bool read_copy(const char *at, const char *end, operand *to, operand *from, unsigned long *size,
                      const char **rest)
{
    if (!skip(&at, "call void @llvm.memcpy.p0") || !(at = memchr(at, '(', (size_t)(end - at))) || !skip(&at, "(") ||
        !read_operand(&at, to) || !read_operand(&at, from) || !skip(&at, "i64 "))
        return false;
    char *behind;
    *size = strtoul(at, &behind, 10);
    *rest = behind;
    return skip(rest, ", i1 false)");
}

void sim_copy_line(sim_copies *copies, const char *line, size_t bytes, sim_text *out)
{
    static const char mark[] = ", !dbg !";
    const char *at = line + strspn(line, " "), *end = line + bytes, *rest;
    operand to, from;
    unsigned long size = 0;
    if (*at == '%')
        note_value(copies, at + 1, end);
    else if (strncmp(line, "define ", strlen("define ")) == 0)
        copies->values.bytes = 0;
    bool copy = read_copy(at, end, &to, &from, &size, &rest);
    unsigned width = copy ? agree(copies, &to, &from, size) : 0;
    if (width < 2 || size == 0 || size % width != 0 || size / width > MOST_PIECES) {
        sim_text_add_bytes(out, line, bytes);
        return;
    }
    const char *debug = memmem(rest, (size_t)(end - rest), mark, strlen(mark));
    int debug_length = debug ? (int)(strlen(mark) + strspn(debug + strlen(mark), "0123456789")) : 0;
    for (unsigned piece = 0; piece < size / width; piece++)
        add_piece(out, &to, &from, copies->count, piece, width, debug ? debug : "", debug_length);
    copies->count++;
}
