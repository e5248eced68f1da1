// A pipe, or a terminal of the program's own where ours is one: a program that writes to a terminal writes line by
// line. If standard error is a terminal, too, it takes the same way, so that lines stay in their order.

#include "check/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { PIECE = 1 << 16, TICK = 50, MOST_KEPT = 64 << 20 }; // TICK: milliseconds

// --- opening ---------------------------------------------------------------------------------------------------------

// Of the size of ours. Nothing is translated: that is done by ours.
static bool open_terminal(heddle_check_output *output)
{
    struct termios how;
    struct winsize size;
    char name[64];
    output->source = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (output->source < 0)
        return false;
    if (grantpt(output->source) == 0 && unlockpt(output->source) == 0 &&
        ptsname_r(output->source, name, sizeof name) == 0)
        output->program = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (output->program < 0 || tcgetattr(output->program, &how) != 0)
        return false;
    cfmakeraw(&how);
    if (ioctl(output->to, TIOCGWINSZ, &size) == 0)
        ioctl(output->program, TIOCSWINSZ, &size);
    return tcsetattr(output->program, TCSANOW, &how) == 0;
}

static bool open_pipe(heddle_check_output *output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    output->source = ends[0];
    output->program = ends[1];
    return true;
}

static void close_end(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

heddle_status heddle_check_output_open(heddle_check_output *output, int to, int errors, bool keep)
{
    *output = (heddle_check_output){.to = to, .source = -1, .program = -1, .errors = errors, .keep = keep};
    if (to < 0 && !keep)
        return HEDDLE_OK;
    output->is_terminal = to >= 0 && isatty(to);
    if (output->is_terminal ? !open_terminal(output) : !open_pipe(output)) {
        int error = errno;
        close_end(&output->source);
        close_end(&output->program);
        return heddle_fail(HEDDLE_IO, "cannot pass the program's output on: %s", strerror(error));
    }
    if (output->is_terminal && errors >= 0 && isatty(errors))
        output->errors = output->program;
    return HEDDLE_OK;
}

// --- carrying --------------------------------------------------------------------------------------------------------

// The simulated GPU's runtime clears the line of progress behind the program's output (src/sim/core/shown.c).
static size_t without_clearing(const char *piece, size_t size)
{
    static const char clear[] = "\033[K";
    const size_t length = strlen(clear);
    return size >= length && memcmp(piece + size - length, clear, length) == 0 ? size - length : size;
}

static void keep_piece(heddle_check_output *output, const char *piece, size_t size)
{
    size = without_clearing(piece, size);
    if (size == 0)
        return;
    output->last = piece[size - 1];
    output->coloured |= memchr(piece, '\033', size) != NULL;
    if (!output->keep || output->too_long)
        return;
    output->too_long = output->size + size >= MOST_KEPT;
    if (output->size + size >= output->room) {
        size_t room = 2 * (output->size + size) + PIECE;
        char *moved = output->too_long ? NULL : realloc(output->text, room);
        if (!moved) {
            output->too_long = true;
            return;
        }
        output->text = moved;
        output->room = room;
    }
    memcpy(output->text + output->size, piece, size);
    output->size += size;
    output->text[output->size] = '\0';
}

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        data += written;
        size -= (size_t)written;
    }
    return true;
}

// Until the program has ended and nothing is left. A reader that has gone ends the program as it would without us: by
// a signal when it writes on.
static void *carry(void *context)
{
    char piece[PIECE];
    heddle_check_output *output = context;
    for (;;) {
        struct pollfd watched = {.fd = output->source, .events = POLLIN};
        bool was_over = output->is_over;
        if (poll(&watched, 1, was_over ? 0 : TICK) == 0) {
            if (was_over)
                break;
            continue;
        }
        ssize_t got = read(output->source, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) // a terminal whose other side is closed: EIO
            break;
        keep_piece(output, piece, (size_t)got);
        if (output->to >= 0 && !write_all(output->to, piece, (size_t)got))
            break;
    }
    close_end(&output->source);
    return NULL;
}

heddle_status heddle_check_output_passed(heddle_check_output *output)
{
    close_end(&output->program);
    if (output->source < 0)
        return HEDDLE_OK;
    sigset_t all, before;
    sigfillset(&all); // a signal is for the thread that waits for the program
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&output->carrier, NULL, carry, output);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        close_end(&output->source);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cannot pass the program's output on: %s", strerror(error));
    }
    output->is_carried = true;
    return HEDDLE_OK;
}

void heddle_check_output_close(heddle_check_output *output)
{
    output->is_over = 1;
    if (output->is_carried)
        pthread_join(output->carrier, NULL);
    output->is_carried = false;
}

void heddle_check_output_free(heddle_check_output *output)
{
    close_end(&output->source);
    close_end(&output->program);
    free(output->text);
    output->text = NULL;
}
