// Names of files through /proc/self/fd: they lead to what was opened, not to what has its name now.

#include "cli/held.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// The file that a link leads to, be it there or not; `path` itself where it is no link.
static const char *link_target(const char *path, char target[PATH_MAX])
{
    char next[PATH_MAX];
    ssize_t length = readlink(path, next, sizeof next - 1);
    if (realpath(path, target) || length <= 0)
        return length > 0 ? target : path;
    next[length] = '\0';
    const char *slash = next[0] == '/' ? NULL : strrchr(path, '/');
    snprintf(target, PATH_MAX, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, next);
    return target;
}

// The folder of a path, with its slash, or ".".
static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash + 1 - path) : 1, slash ? path : ".");
}

static bool is_below_here(const char *path)
{
    char folder[PATH_MAX], whole[PATH_MAX], here[PATH_MAX];
    folder_of(path, folder);
    if (!realpath(folder, whole) || !getcwd(here, sizeof here))
        return false;
    size_t length = strcmp(here, "/") == 0 ? 0 : strlen(here);
    return strncmp(whole, here, length) == 0 && (whole[length] == '/' || whole[length] == '\0');
}

// Opening a pipe waits for its reader, which may never come: after a moment this gives up. It stays open, so that the
// reader does not take it for ended. -1: errno says why.
static int open_pipe(const char *pipe)
{
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    int file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    for (int i = 0; i < 100 && file < 0 && errno == ENXIO; i++) { // a reader that is being started
        nanosleep(&pause, NULL);
        file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    }
    if (file >= 0)
        fcntl(file, F_SETFL, 0);
    return file;
}

heddle_status heddle_cli_hold(heddle_cli_held *held, const char *path)
{
    char target[PATH_MAX], folder[PATH_MAX];
    struct stat about;
    *held = (heddle_cli_held){.path = path, .file = -1};
    if (!path)
        return HEDDLE_OK;
    held->is_special = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    const char *file = held->is_special ? path : link_target(path, target), *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    folder_of(file, folder);
    // An earlier program may have made the link, or a link of the folder.
    const bool meant_here = path[0] != '/' && !strstr(path, "..");
    if (!held->is_special && (meant_here || (file != path && is_below_here(path))) && access(folder, F_OK) == 0 &&
        !is_below_here(file))
        return heddle_fail(HEDDLE_INVALID,
                           "%s leads by a link to %s, outside of the working folder; name that file itself", path,
                           file);
    const bool is_pipe = held->is_special && S_ISFIFO(about.st_mode);
    held->file = is_pipe ? open_pipe(path) : open(held->is_special ? file : folder, O_PATH | O_CLOEXEC);
    if (is_pipe && held->file < 0 && errno == ENXIO)
        return heddle_fail(HEDDLE_INVALID, "%s: a pipe that nothing reads from; start its reader first", path);
    if (held->file < 0)
        return heddle_fail(HEDDLE_IO, "%s: %s", path, strerror(errno));
    if (held->is_special)
        snprintf(held->place, sizeof held->place, "/proc/self/fd/%d", held->file);
    else
        snprintf(held->place, sizeof held->place, "/proc/self/fd/%d/%s", held->file, name);
    if (lstat(held->place, &held->before) != 0)
        held->before.st_nlink = 0;
    return HEDDLE_OK;
}

heddle_status heddle_cli_held_check(const heddle_cli_held *held)
{
    const struct stat *before = &held->before;
    struct stat now;
    if (!held->path || held->is_special || lstat(held->place, &now) != 0 || !S_ISREG(now.st_mode) || now.st_size == 0)
        return HEDDLE_OK;
    bool same = before->st_nlink > 0 && before->st_ino == now.st_ino && before->st_size == now.st_size &&
                before->st_mtim.tv_sec == now.st_mtim.tv_sec && before->st_mtim.tv_nsec == now.st_mtim.tv_nsec;
    return same ? HEDDLE_OK
                : heddle_fail(HEDDLE_IO, "%s was written while the check ran; give the report a name of its own",
                              held->path);
}

const char *heddle_cli_held_place(const heddle_cli_held *held)
{
    struct stat about;
    if (!held->is_special && lstat(held->place, &about) == 0 && !S_ISREG(about.st_mode))
        remove(held->place);
    return held->place;
}

heddle_status heddle_cli_held_status(const heddle_cli_held *held, heddle_status status)
{
    char why[1024];
    size_t length = strlen(held->place);
    snprintf(why, sizeof why, "%s", heddle_last_error());
    if (status == HEDDLE_OK || strncmp(why, held->place, length) != 0)
        return status;
    return heddle_fail(status, "%s%s", held->path, why + length);
}

void heddle_cli_held_release(heddle_cli_held *held)
{
    if (held->file >= 0)
        close(held->file);
    held->file = -1;
}
