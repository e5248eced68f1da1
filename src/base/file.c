// Whole files, read with a limit and written atomically, and folders. What is in them is the reader's business.

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum {
    FIRST_CAPACITY = 4096,   // for what has no size beforehand: pipes, /proc
    LARGEST_PIECE = 1 << 30, // Linux moves at most 2 GiB in one read or write
    SUFFIX_SIZE = 64,        // ".<process>.<counter>.tmp"
    TEMPORARY_TRIES = 1000,  // names left behind by killed processes of the same number, or swept at the wrong moment
    FILE_MODE = 0666,        // less what umask takes
    FOLDER_MODE = 0777,
};

// --- reading --------------------------------------------------------------------------------------------------------

static heddle_status open_for_reading(const char *path, int *file, size_t *expected)
{
    *file = open(path, O_RDONLY | O_CLOEXEC);
    if (*file < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return heddle_fail(HEDDLE_NOT_FOUND, "%s: no such file", path);
        return heddle_fail(HEDDLE_IO, "%s: cannot open: %s", path, strerror(errno));
    }
    struct stat about;
    heddle_status status = HEDDLE_OK;
    if (fstat(*file, &about) != 0)
        status = heddle_fail(HEDDLE_IO, "%s: cannot stat: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        status = heddle_fail(HEDDLE_NOT_FOUND, "%s: is a folder, not a file", path);
    else
        *expected = S_ISREG(about.st_mode) && about.st_size > 0 ? (size_t)about.st_size : 0;
    if (status != HEDDLE_OK)
        close(*file);
    return status;
}

static heddle_status too_large(const char *path, size_t limit)
{
    char text[32];
    return heddle_fail(HEDDLE_CORRUPT, "%s: larger than the %s allowed for such a file", path,
                       heddle_text_bytes((double)limit, text, sizeof text));
}

static heddle_status grow(const char *path, char **content, size_t *capacity)
{
    size_t larger = *capacity < SIZE_MAX / 2 ? *capacity * 2 : SIZE_MAX;
    char *moved = realloc(*content, larger);
    if (!moved)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", path);
    *content = moved;
    *capacity = larger;
    return HEDDLE_OK;
}

// Reads to the end, growing *content where the file is longer than its size said.
static heddle_status read_all(const char *path, int file, size_t limit, char **content, size_t *capacity, size_t *size)
{
    for (;;) {
        // One byte is kept for the zero at the end.
        if (*size + 1 >= *capacity)
            HEDDLE_TRY(grow(path, content, capacity));
        size_t room = *capacity - *size - 1;
        ssize_t got = read(file, *content + *size, room < LARGEST_PIECE ? room : LARGEST_PIECE);
        if (got == 0)
            return HEDDLE_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return heddle_fail(HEDDLE_IO, "%s: cannot read: %s", path, strerror(errno));
        *size += (size_t)got;
        if (*size > limit)
            return too_large(path, limit);
    }
}

heddle_status heddle_file_read(const char *path, size_t limit, char **content, size_t *size)
{
    *content = NULL;
    *size = 0;
    int file = -1;
    size_t expected = 0;
    HEDDLE_TRY(open_for_reading(path, &file, &expected));
    if (expected > limit) {
        close(file);
        return too_large(path, limit);
    }
    // Room for one byte more than expected, so that the end is seen without growing.
    size_t capacity = expected > 0 && expected < SIZE_MAX - 2 ? expected + 2 : FIRST_CAPACITY;
    char *text = malloc(capacity);
    size_t length = 0;
    heddle_status status = text ? read_all(path, file, limit, &text, &capacity, &length)
                                : heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", path);
    close(file);
    if (status != HEDDLE_OK || !text) {
        free(text);
        return status;
    }
    text[length] = '\0';
    *content = text;
    *size = length;
    return HEDDLE_OK;
}

// --- writing --------------------------------------------------------------------------------------------------------

static heddle_status write_bytes(const char *path, int file, const heddle_slice *slices, int count)
{
    for (int i = 0; i < count; i++) {
        const char *data = slices[i].data;
        size_t left = slices[i].size;
        while (left > 0) {
            ssize_t put = write(file, data, left < LARGEST_PIECE ? left : LARGEST_PIECE);
            if (put < 0 && errno == EINTR)
                continue;
            if (put < 0)
                return heddle_fail(HEDDLE_IO, "%s: cannot write: %s", path, strerror(errno));
            data += put;
            left -= (size_t)put;
        }
    }
    return HEDDLE_OK;
}

static heddle_status write_all(const char *path, int file, const heddle_slice *slices, int count)
{
    HEDDLE_TRY(write_bytes(path, file, slices, count));
    if (fsync(file) != 0)
        return heddle_fail(HEDDLE_IO, "%s: cannot write to disk: %s", path, strerror(errno));
    return HEDDLE_OK;
}

// Holds a lock on the new temporary file while it is written: that is how a sweep knows it from one left behind, for a
// process number says nothing in another container. False when a sweep came first.
static bool claim_temporary(int file)
{
    struct stat about;
    if (flock(file, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK; // without locks on this file system nothing is swept either
    return fstat(file, &about) != 0 || about.st_nlink > 0;
}

// A file beside `path` that no other process or call of this one is writing; `temporary` gets its name.
static heddle_status open_temporary(const char *path, char *temporary, size_t size, int *file)
{
    static atomic_uint counter;
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        snprintf(temporary, size, "%s.%ld.%u.tmp", path, (long)getpid(), atomic_fetch_add(&counter, 1));
        *file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (*file >= 0 && claim_temporary(*file))
            return HEDDLE_OK;
        if (*file >= 0) {
            close(*file);
            errno = EEXIST;
        }
        if (errno == ENOENT || errno == ENOTDIR)
            return heddle_fail(HEDDLE_NOT_FOUND, "%s: cannot write: its folder does not exist", path);
        if (errno != EEXIST)
            break;
    }
    return heddle_fail(HEDDLE_IO, "%s: cannot create a temporary file beside it: %s", path, strerror(errno));
}

// Gives the new file the permissions of the one that it will replace.
static heddle_status keep_mode(const char *path, int file, mode_t mode)
{
    struct stat made;
    const mode_t permissions = S_IRWXU | S_IRWXG | S_IRWXO;
    if (fstat(file, &made) == 0 && (made.st_mode & permissions) == (mode & permissions))
        return HEDDLE_OK;
    if (fchmod(file, mode & permissions) != 0)
        return heddle_fail(HEDDLE_IO, "%s: cannot keep its permissions: %s", path, strerror(errno));
    return HEDDLE_OK;
}

// Makes a rename last: until the folder is on disk, a power cut may bring the old name back.
static heddle_status sync_folder_of(const char *path, char *scratch, size_t size)
{
    snprintf(scratch, size, "%s", path);
    char *slash = strrchr(scratch, '/');
    if (!slash)
        snprintf(scratch, size, ".");
    else
        slash[slash == scratch ? 1 : 0] = '\0';
    int folder = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = 0;
    if (folder < 0 || fsync(folder) != 0)
        error = errno;
    if (folder >= 0)
        close(folder);
    // A folder one may write in but not read, and file systems that sync no folders, cannot do better.
    if (error == 0 || error == EINVAL || error == EACCES || error == ENOTSUP)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_IO, "%s: written, but not yet safe from a power failure: %s", path, strerror(error));
}

// A name of what is open already, such as /dev/stdout: a link of the system, which no file may take the place of.
static bool is_descriptor(const char *path)
{
    struct stat link;
    const bool named = strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
                       strncmp(path, "/dev/fd/", 8) == 0 || (strncmp(path, "/proc/", 6) == 0 && strstr(path, "/fd/"));
    return named && lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
}

// An existing file that is not regular (/dev/null, a pipe) is written to directly: a rename would replace it. So is
// standard output, behind what is there, even if it is a regular file.
static heddle_status write_into(const char *path, const heddle_slice *slices, int count)
{
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file < 0)
        return heddle_fail(HEDDLE_IO, "%s: cannot write: %s", path, strerror(errno));
    heddle_status status = write_bytes(path, file, slices, count);
    close(file);
    return status;
}

heddle_status heddle_file_write_atomic(const char *path, const heddle_slice *slices, int count)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (exists && !S_ISDIR(there.st_mode) && (!S_ISREG(there.st_mode) || is_descriptor(path)))
        return write_into(path, slices, count);
    size_t size = strlen(path) + SUFFIX_SIZE;
    char *temporary = malloc(size);
    if (!temporary)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write it", path);
    int file = -1;
    heddle_status status = open_temporary(path, temporary, size, &file);
    if (status == HEDDLE_OK) {
        if (exists && S_ISREG(there.st_mode))
            status = keep_mode(path, file, there.st_mode);
        if (status == HEDDLE_OK)
            status = write_all(path, file, slices, count);
        if (status == HEDDLE_OK && rename(temporary, path) != 0)
            status = heddle_fail(HEDDLE_IO, "%s: cannot replace it: %s", path, strerror(errno));
        if (status != HEDDLE_OK)
            unlink(temporary);
        // Not before: its lock keeps the file from being swept. What closing could still say, fsync has said.
        close(file);
        if (status == HEDDLE_OK)
            status = sync_folder_of(path, temporary, size);
    }
    free(temporary);
    return status;
}

// The rest of `text` behind a dot and digits; NULL when it does not start so.
static const char *skip_number(const char *text)
{
    size_t digits = text[0] == '.' ? strspn(text + 1, "0123456789") : 0;
    return digits > 0 ? text + 1 + digits : NULL;
}

// Is `entry` "NAME.<process>.<counter>.tmp"?
static bool is_temporary_of(const char *entry, const char *name)
{
    size_t length = strlen(name);
    const char *rest = strncmp(entry, name, length) == 0 ? skip_number(entry + length) : NULL;
    rest = rest ? skip_number(rest) : NULL;
    return rest && strcmp(rest, ".tmp") == 0;
}

static void remove_unless_claimed(int folder, const char *entry)
{
    int file = openat(folder, entry, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, entry, 0);
    close(file);
}

void heddle_file_sweep(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("./");
    DIR *entries = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    // cppcheck-suppress readdirCalled ; the stream is ours alone, and readdir_r is deprecated
    while (entries && (entry = readdir(entries)) != NULL) {
        if (is_temporary_of(entry->d_name, slash ? slash + 1 : path))
            remove_unless_claimed(dirfd(entries), entry->d_name);
    }
    if (entries)
        closedir(entries);
    free(folder);
}

// --- files and folders ----------------------------------------------------------------------------------------------

bool heddle_file_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

bool heddle_file_is_same(const char *one, const char *other)
{
    struct stat first, second;
    return one && other && stat(one, &first) == 0 && stat(other, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool heddle_folder_exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static heddle_status create_one(const char *path)
{
    if (mkdir(path, FOLDER_MODE) == 0)
        return HEDDLE_OK;
    int error = errno; // the checks below overwrite it
    if (heddle_folder_exists(path))
        return HEDDLE_OK;
    if (heddle_file_exists(path))
        return heddle_fail(HEDDLE_IO, "%s: cannot create this folder: a file of that name exists", path);
    return heddle_fail(HEDDLE_IO, "%s: cannot create this folder: %s", path, strerror(error));
}

heddle_status heddle_folder_create(const char *path)
{
    if (path[0] == '\0')
        return heddle_fail(HEDDLE_INVALID, "cannot create a folder without a name");
    char *partial = strdup(path);
    if (!partial)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to create this folder", path);
    heddle_status status = HEDDLE_OK;
    for (char *slash = strchr(partial + 1, '/'); slash && status == HEDDLE_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = create_one(partial);
        *slash = '/';
    }
    if (status == HEDDLE_OK)
        status = create_one(partial);
    free(partial);
    return status;
}
