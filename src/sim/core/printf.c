// printf in a kernel, in a file of its own: programs that print run on one worker, so that the lines have one order.
// Kernels run when something waits for them, so what they print may be written at once.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/launch.h"
#include "core/scheduler.h"
#include "machine/options.h"

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
int sim_printf(const char *format, ...)
{
    char line[SHORT_LINE], *text = line;
    va_list arguments;
    if (!format)
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
