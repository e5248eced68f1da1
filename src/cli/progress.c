// One line on the terminal that says what is being done and is removed before results are shown. Nothing is printed if
// stderr is not a terminal.

#include <stdio.h>

#include "base/terminal.h"
#include "cli/cli.h"

void heddle_cli_show_progress(const char *text)
{
    if (!heddle_terminal_is(stderr))
        return;
    int columns = heddle_terminal_width(stderr);
    fprintf(stderr, "\r\033[K%.*s", (int)heddle_text_prefix(text, columns > 1 ? columns - 1 : 0), text);
    fflush(stderr);
}

void heddle_cli_clear_progress(void)
{
    if (heddle_terminal_is(stderr))
        fprintf(stderr, "\r\033[K");
}
