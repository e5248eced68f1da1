// The way out of library templates that the compiler has not inlined: by the stack, for the lines they were inlined
// into are found from debug information anyway.
#include "api/caller.h"

#include <execinfo.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "machine/options.h"
#include "program/program.h"

enum { MOST_FRAMES = 64, REMEMBERED = 64, CODE_SHIFT = 2 };

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

// By its mangled name: _ZN6thrust..., _ZNK6thrust..., and _ZZN6thrust... of a lambda in it. Of the standard library
// only what lies between two such functions.
static bool is_library(uintptr_t pc, bool standard)
{
    size_t offset;
    const char *name = sim_symbol_function(pc - 1, &offset);
    if (!name || !begins_with(name, "_Z"))
        return false;
    name += begins_with(name, "_ZZ") ? 3 : 2;
    if (standard && (begins_with(name, "St") || begins_with(name, "NSt") || begins_with(name, "NKSt")))
        return true;
    if (*name != 'N')
        return false;
    name += begins_with(name, "NK") ? 2 : 1;
    return begins_with(name, "6thrust") || begins_with(name, "3cub");
}

// Most calls come from the same few places.
static bool is_library_remembered(uintptr_t pc)
{
    static __thread struct {
        uintptr_t pc;
        bool library;
    } remembered[REMEMBERED];
    const size_t at = (pc >> CODE_SHIFT) % REMEMBERED;
    if (remembered[at].pc != pc) {
        remembered[at].library = is_library(pc, false);
        remembered[at].pc = pc;
    }
    return remembered[at].library;
}

uintptr_t sim_caller_outside(uintptr_t pc)
{
    if (!sim_options_get()->watch || !is_library_remembered(pc))
        return pc;
    void *frames[MOST_FRAMES];
    const int count = backtrace(frames, MOST_FRAMES);
    int at = 0;
    while (at < count && (uintptr_t)frames[at] != pc)
        at++;
    while (at < count && is_library((uintptr_t)frames[at], true))
        at++;
    return at < count ? (uintptr_t)frames[at] : pc;
}
