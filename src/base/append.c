// Files that grow by whole records.

#include "base/append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum { FILE_MODE = 0666 }; // less what umask takes

struct heddle_append {
    char *path;
    const char *what;
    int file;       // -1: given up
    off_t size;     // of what is whole in it
    char *pending;  // records that are not in it yet
    size_t waiting; // bytes of them
    bool warned;
};

heddle_status heddle_append_open(const char *path, const char *what, heddle_append **file)
{
    heddle_append *made = *file = calloc(1, sizeof *made);
    struct stat about;
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to write %s", path, what);
    *made = (heddle_append){.path = strdup(path), .what = what};
    made->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE);
    if (made->path && made->file >= 0 && fstat(made->file, &about) == 0) {
        made->size = about.st_size;
        return HEDDLE_OK;
    }
    const int why = errno;
    heddle_append_close(made);
    *file = NULL;
    return heddle_fail(HEDDLE_IO, "%s: cannot write %s: %s", path, what, strerror(why));
}

// A part of a record would spoil those that follow: it is taken back, or else the file is given up.
static void give_back(heddle_append *file, int why)
{
    const bool whole = ftruncate(file->file, file->size) == 0;
    if (!whole || !file->warned)
        heddle_log(HEDDLE_LOG_WARN, "%s: cannot write %s: %s; %s", file->path, file->what, strerror(why),
                   whole ? "it is kept and tried again" : "what follows is not written");
    file->warned = true;
    if (whole)
        return;
    close(file->file);
    file->file = -1;
    free(file->pending);
    file->pending = NULL;
    file->waiting = 0;
}

// Writes all that is waiting, or leaves the file as it was.
static bool flush(heddle_append *file)
{
    size_t done = 0;
    while (file->file >= 0 && done < file->waiting) {
        ssize_t part = write(file->file, file->pending + done, file->waiting - done);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0) {
            give_back(file, errno);
            return false;
        }
        done += (size_t)part;
    }
    file->size += (off_t)done;
    file->waiting = 0;
    return file->file >= 0;
}

void heddle_append_add(heddle_append *file, const void *record, size_t size)
{
    char *more = file->file < 0 ? NULL : realloc(file->pending, file->waiting + size);
    if (!more)
        return;
    memcpy(more + file->waiting, record, size);
    file->pending = more;
    file->waiting += size;
    flush(file);
}

void heddle_append_sync(heddle_append *file)
{
    if (flush(file))
        (void)fdatasync(file->file);
}

void heddle_append_close(heddle_append *file)
{
    if (!file)
        return;
    if (file->file >= 0)
        flush(file);
    if (file->file >= 0) // flush may give up
        close(file->file);
    free(file->path);
    free(file->pending);
    free(file);
}
