// What a program was started with, from /proc: nothing here may depend on main having been called.
#define _GNU_SOURCE
#include "machine/started.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, MOST_PROGRAMS = 10000, PIECE = 1 << 14 };

bool sim_started_in(const char *report)
{
    return report && report[0] && report[strlen(report) - 1] == '/';
}

static bool put(int to, const char *bytes, size_t count)
{
    return write(to, bytes, count) == (ssize_t)count;
}

// Where a link of /proc leads, and the 0 byte behind it.
static bool put_link(int to, const char *link)
{
    char path[PATH_BYTES];
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    return put(to, path, strlen(path) + 1);
}

// Copies the file, or counts the strings in it, where `to` is -1.
static int read_strings(const char *path, int to)
{
    char piece[PIECE];
    int from = open(path, O_RDONLY | O_CLOEXEC), strings = 0;
    ssize_t got = 0;
    while (from >= 0 && (got = read(from, piece, sizeof piece)) > 0) {
        for (ssize_t i = 0; i < got; i++)
            strings += piece[i] == 0;
        if (to >= 0 && !put(to, piece, (size_t)got))
            break;
    }
    if (from >= 0)
        close(from);
    return strings;
}

static void tell(int to)
{
    char count[16];
    int length = snprintf(count, sizeof count, "%d", read_strings("/proc/self/cmdline", -1));
    if (!put_link(to, "/proc/self/exe") || !put_link(to, "/proc/self/cwd") || !put_link(to, "/proc/self/fd/0") ||
        !put(to, count, (size_t)length + 1))
        return;
    read_strings("/proc/self/cmdline", to);
    read_strings("/proc/self/environ", to);
}

const char *sim_started_report(const char *folder)
{
    static char path[PATH_BYTES], written[PATH_BYTES];
    int number = -1, error = 0;
    if (snprintf(written, sizeof written, "%s%d.start", folder, (int)getpid()) >= (int)sizeof written)
        return NULL;
    int to = open(written, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return NULL;
    tell(to);
    close(to);
    do { // another process may have the number
        snprintf(path, sizeof path, "%s%04d.run", folder, ++number);
        error = link(written, path) == 0 ? 0 : errno;
    } while (error == EEXIST && number + 1 < MOST_PROGRAMS);
    unlink(written);
    snprintf(path, sizeof path, "%s%04d.json", folder, number);
    return error == 0 ? path : NULL;
}
