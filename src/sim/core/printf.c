// printf in a kernel, in a file of its own: programs that print run on one worker, so that the lines have one order.
// Kernels run when something waits for them, so what they print may be written at once.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/launch.h"
#include "core/scheduler.h"
#include "machine/options.h"
#include "program/program.h"
#include "watch/watch.h"

enum { SHORT_LINE = 1024 };

static void flush(void)
{
    fflush(stdout);
}

__attribute__((constructor)) static void announce(void)
{
    sim_program_uses |= SIM_USES_PRINTF;
    sim_use_tell(SIM_USES_PRINTF, (uintptr_t)sim_printf);
    sim_printf_flush = flush;
}

// --- a format and what it is given -----------------------------------------------------------------------------------

// The next conversion of a format, from its % on. `stars`: how many of its sizes are arguments, too. `wants`: of what
// kind its own argument is; 0: it has none. NULL: there is no further one.
typedef struct conversion {
    const char *start, *end;
    int stars;
    char wants;
} conversion;

static char kind_wanted(const char *length, char letter)
{
    static const char floats[] = "fFeEgGaA", integers[] = "diuoxX";
    if (letter == 's' || letter == 'p')
        return letter == 's' ? SIM_PRINTS_TEXT : SIM_PRINTS_POINTER;
    if (letter && strchr(floats, letter))
        return SIM_PRINTS_DOUBLE;
    if (letter && strchr(integers, letter))
        return *length && strchr("lqjzt", *length) ? SIM_PRINTS_LONG : SIM_PRINTS_WORD;
    return letter == 'c' ? SIM_PRINTS_WORD : SIM_PRINTS_OTHER;
}

static conversion next_conversion(const char *format)
{
    static const char flags_and_sizes[] = "-+ #0123456789.*", lengths[] = "hlLqjzt";
    conversion found = {.start = strchr(format, '%')};
    if (!found.start)
        return found;
    const char *at = found.start + 1;
    for (; *at && strchr(flags_and_sizes, *at); at++)
        found.stars += *at == '*';
    const char *length = at;
    at += strspn(at, lengths);
    found.wants = *at == '%' || !*at ? '\0' : kind_wanted(length, *at);
    found.end = at + (*at != '\0');
    return found;
}

static const char *name_of(char kind)
{
    switch (kind) {
    case SIM_PRINTS_WORD: return "an integer of 4 bytes";
    case SIM_PRINTS_LONG: return "an integer of 8 bytes";
    case SIM_PRINTS_DOUBLE: return "a floating-point number";
    case SIM_PRINTS_TEXT: return "a pointer to characters";
    case SIM_PRINTS_POINTER: return "a pointer";
    default: return "no argument";
    }
}

static bool is_pointer(char kind)
{
    return kind == SIM_PRINTS_TEXT || kind == SIM_PRINTS_POINTER;
}

// A pointer and an integer of its size print as each other: NULL is such an integer.
static bool fits(char wants, char given)
{
    const bool as_pointer = given == SIM_PRINTS_TEXT || given == SIM_PRINTS_LONG;
    return wants == given || wants == SIM_PRINTS_OTHER || given == SIM_PRINTS_OTHER ||
           (wants == SIM_PRINTS_POINTER && as_pointer) || (wants == SIM_PRINTS_LONG && is_pointer(given));
}

// An integer of another size, or a pointer for one, is mostly printed as it was meant.
static sim_tier tier_of(char wants, char given)
{
    const bool number = given && wants != SIM_PRINTS_DOUBLE && given != SIM_PRINTS_DOUBLE && wants != SIM_PRINTS_TEXT;
    return number || (is_pointer(wants) && is_pointer(given)) ? SIM_WARNING : SIM_ERROR;
}

static void report_misfit(sim_worker *worker, const conversion *one, char given, uintptr_t pc)
{
    sim_finding finding = sim_finding_make(worker, SIM_BAD_CALL, tier_of(one->wants, given));
    snprintf(finding.message, sizeof finding.message, "printf: %.*s stands for %s, and is given %s",
             (int)(one->end - one->start), one->start, name_of(one->wants), name_of(given));
    finding.place[0] = sim_place_of(worker, worker->thread, pc, "call");
    sim_report(&finding);
}

// Reports the first conversion that its argument does not fit. False: to print it would read what is no text.
static bool check_arguments(const char *kinds, const char *format, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    bool told = false, safe = true;
    for (conversion one = next_conversion(format); one.start; one = next_conversion(one.end)) {
        for (; one.stars > 0 && *kinds; one.stars--)
            kinds++;
        if (!one.wants)
            continue;
        if (!fits(one.wants, *kinds)) {
            safe &= one.wants != SIM_PRINTS_TEXT || is_pointer(*kinds);
            if (worker && !told)
                report_misfit(worker, &one, *kinds, pc);
            told = true;
        }
        kinds += *kinds != '\0';
    }
    return safe;
}

// --- text that is printed -------------------------------------------------------------------------------------------

// A literal of host code, handed to the kernel: it lies among the device's own, but a kernel cannot read it on a card.
static bool is_hosts_literal(const sim_worker *worker, const char *text)
{
    const sim_module *module = sim_module_self();
    const sim_kernel *kernel = worker->launch->kernel;
    const uintptr_t address = (uintptr_t)text;
    sim_symbol symbol;
    if (address - module->image_lo >= module->image_hi - module->image_lo || worker->launch->origin != NULL ||
        address - module->data_lo < module->data_hi - module->data_lo || !sim_symbols_complete() ||
        sim_symbol_at(address, &symbol))
        return false;
    bool given = false;
    for (size_t at = 0; at + sizeof text <= kernel->closure_bytes && !given; at += sizeof text)
        given = memcmp((const char *)kernel->closure + at, &text, sizeof text) == 0;
    return given;
}

// Reads the text as a kernel would, which ends the thread where it cannot. False: it is the host's.
static bool read_text(const char *text, size_t most, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    if (!text)
        return true;
    if (is_hosts_literal(worker, text)) {
        sim_finding finding = sim_finding_make(worker, SIM_HOST_POINTER, SIM_ERROR);
        finding.place[0] = sim_place_of(worker, worker->thread, pc, "read");
        snprintf(finding.message, sizeof finding.message,
                 "printf: %%s is given text in host memory, which a kernel cannot access");
        sim_report(&finding);
        return false;
    }
    for (size_t i = 0; i < most; i++) {
        sim_watch_access((uintptr_t)text + i, 1, false, pc);
        if (!text[i])
            break;
    }
    return true;
}

// The most characters that a conversion prints of a text; `star`: what is given for the last *.
static size_t precision_of(const conversion *one, int star)
{
    const char *point = memchr(one->start, '.', (size_t)(one->end - one->start));
    if (!point)
        return SIZE_MAX;
    if (point[1] == '*')
        return star < 0 ? SIZE_MAX : (size_t)star;
    return strtoul(point + 1, NULL, 10);
}

// NOLINTBEGIN(clang-analyzer-valist.Uninitialized): version 14 misses va_start behind the condition in sim_printf

// Follows the arguments as far as their sizes are known.
static bool read_texts(const char *kinds, const char *format, uintptr_t pc, va_list arguments)
{
    for (conversion one = next_conversion(format); one.start && sim_current; one = next_conversion(one.end)) {
        int star = -1;
        for (; one.stars > 0 && *kinds == SIM_PRINTS_WORD; one.stars--, kinds++)
            star = va_arg(arguments, int);
        if (one.stars > 0)
            return true;
        if (!one.wants)
            continue;
        switch (*kinds) {
        case SIM_PRINTS_WORD: va_arg(arguments, int); break;
        case SIM_PRINTS_LONG: va_arg(arguments, long long); break;
        case SIM_PRINTS_DOUBLE: va_arg(arguments, double); break;
        case SIM_PRINTS_TEXT:
        case SIM_PRINTS_POINTER: {
            const char *text = va_arg(arguments, const char *);
            if (one.wants == SIM_PRINTS_TEXT && !read_text(text, precision_of(&one, star), pc))
                return false;
            break;
        }
        default: return true;
        }
        kinds++;
    }
    return true;
}

// --- printing --------------------------------------------------------------------------------------------------------

// CUDA's printf returns the number of arguments that the format uses.
static int arguments_of(const char *format)
{
    int count = 0;
    for (const char *at = format; *at; at++)
        if (*at == '%' && *++at != '%') {
            count++;
            if (!*at)
                break;
        }
    return count;
}

// The text is made before the stream is locked: a format that faults must not leave it so.
int sim_printf(const char *kinds, const char *format, ...)
{
    char line[SHORT_LINE], *text = line;
    va_list arguments;
    const uintptr_t pc = (uintptr_t)__builtin_return_address(0);
    if (!format || !check_arguments(kinds, format, pc))
        return -1;
    va_start(arguments, format);
    const bool readable = read_texts(kinds, format, pc, arguments);
    va_end(arguments);
    if (!readable)
        return -1;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length >= SHORT_LINE && (text = malloc((size_t)length + 1))) {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    if (!text)
        text = line, length = SHORT_LINE - 1;
    if (length > 0)
        fwrite(text, 1, (size_t)length, stdout);
    if (text != line)
        free(text);
    return length < 0 ? -1 : arguments_of(format);
}
// NOLINTEND(clang-analyzer-valist.Uninitialized)
