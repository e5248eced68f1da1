// The folder of a run. One is taken by making it: of all who try a name, the system lets one succeed. A look whether
// the name is free and a folder made later would leave a moment in which two runs find the same one.

#include "nn/trainer_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum {
    MOST_RUNS = 9999,
    MOST_TRIES = 100,      // of a name: another run that gives up may remove the folder above it at any moment
    FOLDER_MODE = 0777,    // less what umask takes
    LOCK_TRIES = 5,        // who only looks whether a run is training holds the lock for less than a pause
    LOCK_PAUSE = 10000000, // nanoseconds
};

// Two runs that write into one folder would take turns in destroying each other. The lock is on the folder itself, so
// it leaves nothing behind and goes with the process, however that ends.
heddle_status heddle_run_folder_lock(const char *folder, int *lock)
{
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (*lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return HEDDLE_OK; // a folder that cannot be read or locked is trained in without
        (void)nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE}, NULL);
    }
    close(*lock);
    *lock = -1;
    return heddle_fail(HEDDLE_INVALID, "another run is training in %s now; wait for it or choose another folder",
                       folder);
}

// The lock is shared, so that two who look at once see nothing, and held for a moment that heddle_run_folder_lock
// waits.
bool heddle_run_folder_is_busy(const char *folder)
{
    int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool busy = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (lock >= 0)
        close(lock);
    return busy;
}

// What is there under its name, or under that of a folder above it, is a file.
static heddle_status not_a_folder(const char *folder)
{
    if (heddle_file_exists(folder))
        return heddle_fail(HEDDLE_INVALID, "%s is a file, and a run has a folder: choose another name (--out)", folder);
    return heddle_fail(HEDDLE_INVALID, "%s: one of the folders above it is a file: choose another name (--out)",
                       folder);
}

heddle_status heddle_run_folder_holds(const char *folder, const char *name, bool *there)
{
    char path[HEDDLE_RUN_FOLDER_SIZE + sizeof HEDDLE_RUN_LAST];
    struct stat about;
    *there = false;
    if (strlen(folder) >= HEDDLE_RUN_FOLDER_SIZE)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", HEDDLE_RUN_FOLDER_SIZE);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &about) == 0) {
        *there = !S_ISDIR(about.st_mode);
        return HEDDLE_OK;
    }
    const int why = errno;
    if (why == ENOENT)
        return HEDDLE_OK;
    if (why == ENOTDIR)
        return not_a_folder(folder);
    return heddle_fail(HEDDLE_IO, "%s: cannot see whether there is a run in it: %s", folder, strerror(why));
}

heddle_status heddle_run_folder_is_free(const char *folder)
{
    bool last, best;
    HEDDLE_TRY(heddle_run_folder_holds(folder, HEDDLE_RUN_LAST, &last));
    HEDDLE_TRY(heddle_run_folder_holds(folder, HEDDLE_RUN_BEST, &best));
    if (last)
        return heddle_fail(HEDDLE_INVALID,
                           "%s already holds a run; resume it (--resume), choose another folder (--out) or replace it "
                           "(--overwrite)",
                           folder);
    if (best)
        return heddle_fail(HEDDLE_INVALID,
                           "%s already holds a run, but no %s of it; copy its %s to that name to resume it (--resume), "
                           "choose another folder (--out) or replace it (--overwrite)",
                           folder, HEDDLE_RUN_LAST, HEDDLE_RUN_BEST);
    return HEDDLE_OK;
}

heddle_status heddle_run_folder_check(const char *folder, bool goes_on_or_replaces)
{
    int lock;
    bool there;
    HEDDLE_TRY(heddle_run_folder_holds(folder, HEDDLE_RUN_LAST, &there)); // that it can be one at all
    HEDDLE_TRY(heddle_run_folder_lock(folder, &lock));
    if (lock >= 0)
        close(lock);
    return goes_on_or_replaces ? HEDDLE_OK : heddle_run_folder_is_free(folder);
}

// Bytes of `path` without its last part and the slashes before that; 0: it has one part.
static size_t parent_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 0 && path[length - 1] == '/')
        length--;
    return length;
}

// How much of the way to `path` is there.
static size_t length_there(const char *path)
{
    char part[HEDDLE_RUN_FOLDER_SIZE];
    size_t length = parent_length(path, strlen(path));
    for (; length > 0; length = parent_length(path, length)) {
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (heddle_folder_exists(part))
            break;
    }
    return length;
}

// *taken: it is ours. If not and nothing failed, the name has an owner.
static heddle_status make(const char *path, bool *taken)
{
    char parent[HEDDLE_RUN_FOLDER_SIZE];
    snprintf(parent, sizeof parent, "%.*s", (int)parent_length(path, strlen(path)), path);
    heddle_status status = HEDDLE_OK;
    *taken = false;
    for (int i = 0; i < MOST_TRIES; i++) {
        status = parent[0] ? heddle_folder_create(parent) : HEDDLE_OK;
        if (status != HEDDLE_OK)
            continue;
        *taken = mkdir(path, FOLDER_MODE) == 0;
        if (*taken || errno == EEXIST)
            return HEDDLE_OK;
        const int why = errno;
        status = heddle_fail(HEDDLE_IO, "%s: cannot make this folder: %s", path, strerror(why));
        if (why != ENOENT) // which alone mends itself
            break;
    }
    return heddle_fail(status, "%s; choose another (--out)", heddle_last_error());
}

heddle_status heddle_run_folder_take(const char *base, heddle_run_folder *folder)
{
    folder->path[0] = '\0';
    if (strlen(base) + sizeof "-9999" > sizeof folder->path)
        return heddle_fail(HEDDLE_INVALID, "the folder's name is longer than %d bytes", HEDDLE_RUN_FOLDER_SIZE);
    folder->there = length_there(base);
    for (int number = 1; number <= MOST_RUNS; number++) {
        char suffix[16] = "";
        bool taken;
        if (number > 1)
            snprintf(suffix, sizeof suffix, "-%d", number);
        snprintf(folder->path, sizeof folder->path, "%s%s", base, suffix);
        heddle_status status = make(folder->path, &taken);
        if (taken)
            return HEDDLE_OK;
        if (status != HEDDLE_OK) {
            heddle_run_folder_release(folder); // folders above it may have been made
            folder->path[0] = '\0';
            return status;
        }
    }
    folder->path[0] = '\0';
    return heddle_fail(HEDDLE_INVALID, "%s and %d more such folders are there already; choose a name (--out)", base,
                       MOST_RUNS - 1);
}

void heddle_run_folder_release(const heddle_run_folder *folder)
{
    char path[HEDDLE_RUN_FOLDER_SIZE];
    snprintf(path, sizeof path, "%s", folder->path);
    for (size_t length = strlen(path); length > folder->there; length = parent_length(path, length)) {
        path[length] = '\0';
        (void)rmdir(path); // fails where something is in it, and then above as well
    }
}
