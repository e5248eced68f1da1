// Standard input for several runs. A file is opened again for each. A pipe or a terminal can be read only once, so a
// small process of ours carries it to the first run and writes it down; the one of the next program passes on what is
// written down, then the rest. It stays in our process group, because a terminal lets no other read.

#include "check/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIECE = 1 << 16, MODE = 0600 };

static bool write_all(int file, const char *data, ssize_t size)
{
    while (size > 0) {
        ssize_t written = write(file, data, (size_t)size);
        if (written <= 0)
            return false;
        data += written;
        size -= written;
    }
    return true;
}

// What the carriers before this one have read.
static bool replay(int to, int record)
{
    static char piece[PIECE];
    off_t at = 0;
    for (ssize_t got; (got = pread(record, piece, sizeof piece, at)) > 0; at += got)
        if (!write_all(to, piece, got))
            return false;
    return true;
}

// The carrier: does nothing else until the end of input, or until it is ended. That is not while it holds what it has
// not written down: the next program's carrier would not have it.
static void carry(int to, int record)
{
    static char piece[PIECE];
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t end, none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    bool goes_on = replay(to, record);
    while (goes_on) {
        sigprocmask(SIG_SETMASK, &end, NULL);
        if (ppoll(&input, 1, NULL, &none) <= 0)
            continue;
        ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
        goes_on = got > 0 && write_all(record, piece, got);
        sigprocmask(SIG_SETMASK, &none, NULL);
        goes_on = goes_on && write_all(to, piece, got);
    }
    _exit(0);
}

static heddle_status start_carrier(heddle_check_input *input)
{
    int ends[2];
    int record = open(input->record, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (record < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        if (record >= 0)
            close(record);
        return heddle_fail(HEDDLE_IO, "cannot pass standard input on: %s", strerror(errno));
    }
    input->carrier = fork();
    if (input->carrier == 0)
        carry(ends[1], record);
    close(ends[1]);
    close(record);
    input->file = ends[0];
    struct stat about;
    if (fstat(ends[0], &about) == 0)
        snprintf(input->pipe, sizeof input->pipe, "pipe:[%llu]", (unsigned long long)about.st_ino);
    if (input->carrier < 0) {
        input->carrier = 0;
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cannot pass standard input on: %s", strerror(errno));
    }
    return HEDDLE_OK;
}

heddle_status heddle_check_input_open(heddle_check_input *input, const char *folder, int run)
{
    *input = (heddle_check_input){.file = -1};
    snprintf(input->record, sizeof input->record, "%s/input", folder);
    struct stat about;
    if (fstat(STDIN_FILENO, &about) != 0)
        return HEDDLE_OK;
    bool once = S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || isatty(STDIN_FILENO);
    if (once && run == 0)
        return start_carrier(input);
    // /proc's name opens the file anew, from its start.
    input->file = open(once ? input->record : "/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    return HEDDLE_OK;
}

int heddle_check_input_file(const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(file);
        file = -1;
    }
    return file;
}

void heddle_check_input_passed(heddle_check_input *input)
{
    if (input->file >= 0)
        close(input->file);
    input->file = -1;
}

// One that a terminal has stopped does not hear that it is to end.
static void end_carrier(pid_t carrier)
{
    enum { TRIES = 100, PAUSE = 2 };
    kill(carrier, SIGTERM);
    for (int i = 0; i < TRIES; i++) {
        pid_t ended = waitpid(carrier, NULL, WNOHANG);
        if (ended == carrier || (ended < 0 && errno != EINTR))
            return;
        poll(NULL, 0, PAUSE);
    }
    kill(carrier, SIGKILL);
    while (waitpid(carrier, NULL, 0) < 0 && errno == EINTR)
        continue;
}

void heddle_check_input_close(heddle_check_input *input)
{
    heddle_check_input_passed(input);
    if (input->carrier > 0)
        end_carrier(input->carrier);
    input->carrier = 0;
}

const char *heddle_check_input_unread(const heddle_check_input *input)
{
    struct stat about;
    return lstat(input->record, &about) == 0 && about.st_size == 0 ? input->pipe : "";
}
