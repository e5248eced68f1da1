// Terminal width, UTF-8 and text columns.

#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80 }; // of a terminal that does not tell

bool heddle_terminal_is(FILE *file)
{
    const char *kind = getenv("TERM");
    return isatty(fileno(file)) && !(kind && strcmp(kind, "dumb") == 0);
}

int heddle_terminal_width(FILE *file)
{
    struct winsize size;
    if (!isatty(fileno(file)))
        return 0;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col;
}

int heddle_terminal_height(FILE *file)
{
    struct winsize size;
    return isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool heddle_terminal_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (locale && locale[0] != '\0')
            return strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8");
    }
    return false;
}

// Bytes 10xxxxxx continue a code point.
static bool starts_code_point(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

int heddle_text_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += starts_code_point(*text);
    return columns;
}

size_t heddle_text_prefix(const char *text, int columns)
{
    size_t bytes = 0;
    while (text[bytes] && (!starts_code_point(text[bytes]) || columns-- > 0))
        bytes++;
    return bytes;
}
