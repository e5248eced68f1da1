// One line on the terminal while a run takes long: kernel, blocks, time left. It is gone before anything else is
// printed.

#include "cli/check_progress.h"

#include <math.h>
#include <stdio.h>

#include "base/terminal.h"
#include "base/text.h"
#include "check/describe.h"

enum { LINE_SIZE = 256 };

static const double patience = 2;     // seconds of a run without a line
static const double between = 0.1;    // seconds between two lines: more would flicker
static const double measurable = 0.5; // seconds of a launch before its rate says something
// The line is drawn behind what the program has printed, and the cursor stays there: what it prints next is not harmed.
// A line that is too long is cut, not wrapped.
static const char before[] = "\0337\033[?7l", behind[] = "\033[K\033[?7h\0338", clear_rest[] = "\033[K";

static double drawn; // when in the run the last line was; 0: never

// "matmul: 109 of 2,304 blocks, 20 s left"
static void describe(const heddle_check_progress *now, char *text, size_t size)
{
    char ended[32], blocks[32], time[32];
    const double left = now->launch_seconds * (now->blocks - now->ended) / now->ended;
    int used = snprintf(text, size, "%s: %s of %s block%s", now->kernel,
                        heddle_check_count_text(now->ended, ended, sizeof ended),
                        heddle_check_count_text(now->blocks, blocks, sizeof blocks), now->blocks == 1 ? "" : "s");
    // Whole seconds: tenths of an estimate would only flicker.
    if (now->launch_seconds > measurable && isfinite(left) && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", %s left", heddle_text_seconds(ceil(left), time, sizeof time));
}

static bool show(const heddle_check_progress *now)
{
    char text[LINE_SIZE];
    if (!now) {
        fputs(clear_rest, stderr);
        fflush(stderr);
        return false;
    }
    if (now->run_seconds < patience || fabs(now->run_seconds - drawn) < between)
        return false;
    describe(now, text, sizeof text);
    fprintf(stderr, "%s%s%s", before, text, behind);
    fflush(stderr);
    drawn = now->run_seconds;
    return true;
}

heddle_cli_check_progress *heddle_cli_check_progress_line(void)
{
    return heddle_terminal_is(stderr) ? show : NULL;
}
