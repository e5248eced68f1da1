// Files from a list of mirrors: one at a time into NAME.part, checked, then renamed. A lock file keeps two downloads
// into one folder apart. What happens on the wire is in transfer.c.

#include "data/download.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "data/sha256.h"
#include "data/transfer.h"

enum {
    PATH_SIZE = 4096,
    REASONS_SIZE = 768, // what all mirrors failed of, in one message
    MAX_CUTS = 5,       // breaks in a row without a single new byte, before the next mirror is tried
    MAX_RESTARTS = 2,   // from the first byte, likewise
    MAX_TRIES = 100,    // of anything, likewise
    LOCK_POLL_MILLISECONDS = 100,
    FILE_MODE = 0644,
};

typedef struct heddle_download_job {
    const char *folder;
    const heddle_download_file *file;
    heddle_download_progress *progress;
    void *context;
    char path[PATH_SIZE], part[PATH_SIZE];
    char reasons[REASONS_SIZE];
} heddle_download_job;

// --- the lock -------------------------------------------------------------------------------------------------------

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_MILLISECONDS * 1000000L}, NULL);
}

static heddle_status stopped(const char *folder)
{
    return heddle_fail(HEDDLE_INTERRUPTED, "download into %s interrupted; run the command again to continue", folder);
}

static heddle_status lock_path(const char *folder, char path[PATH_SIZE])
{
    if (snprintf(path, PATH_SIZE, "%s/.download.lock", folder) < PATH_SIZE)
        return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "the path of folder %s is too long", folder);
}

static heddle_status try_lock(const char *folder, heddle_download_progress *progress, void *context, int *lock)
{
    char path[PATH_SIZE];
    HEDDLE_TRY(lock_path(folder, path));
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (*lock < 0)
        return heddle_fail(HEDDLE_IO, "cannot write in %s: %s", folder, strerror(errno));
    bool told = false;
    while (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            heddle_status status = heddle_fail(HEDDLE_IO, "cannot lock %s: %s", path, strerror(errno));
            close(*lock);
            return status;
        }
        if (!told)
            heddle_log(HEDDLE_LOG_INFO, "waiting for another download into %s", folder);
        told = true;
        if (progress && progress(context, "", 0, 0) != 0) {
            close(*lock);
            return stopped(folder);
        }
        pause_briefly();
    }
    return HEDDLE_OK;
}

// Who has held the lock removes it, so the file that was locked may be gone, and another process have locked a new one.
static heddle_status acquire_lock(const char *folder, heddle_download_progress *progress, void *context, int *lock)
{
    char path[PATH_SIZE];
    struct stat locked, there;
    HEDDLE_TRY(lock_path(folder, path));
    for (;;) {
        HEDDLE_TRY(try_lock(folder, progress, context, lock));
        if (fstat(*lock, &locked) == 0 && stat(path, &there) == 0 && locked.st_ino == there.st_ino &&
            locked.st_dev == there.st_dev)
            return HEDDLE_OK;
        close(*lock);
    }
}

static void release_lock(const char *folder, int lock)
{
    char path[PATH_SIZE];
    if (lock_path(folder, path) == HEDDLE_OK)
        unlink(path);
    close(lock);
}

// --- one file -------------------------------------------------------------------------------------------------------

// *right: `path` exists and has the right content.
static heddle_status check_file(const heddle_download_file *file, const char *path, bool *right)
{
    char sum[HEDDLE_SHA256_TEXT];
    *right = false;
    if (!heddle_file_exists(path))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_sha256_file(path, sum));
    *right = strcmp(sum, file->sha256) == 0;
    return HEDDLE_OK;
}

static heddle_status move_into_place(const heddle_download_job *job)
{
    if (rename(job->part, job->path) != 0)
        return heddle_fail(HEDDLE_IO, "cannot move %s into place: %s", job->part, strerror(errno));
    int folder = open(job->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder); // best effort: the file itself is safe
        close(folder);
    }
    return HEDDLE_OK;
}

static void add_reason(heddle_download_job *job, const char *mirror, const char *reason)
{
    size_t used = strlen(job->reasons);
    snprintf(job->reasons + used, sizeof job->reasons - used, "%s%s: %s", used ? "; " : "", mirror, reason);
}

typedef enum heddle_verdict { HEDDLE_VERDICT_DONE, HEDDLE_VERDICT_AGAIN, HEDDLE_VERDICT_NEXT } heddle_verdict;

// How patient we have been with a mirror.
typedef struct heddle_retries {
    const char *mirror;
    int cuts, restarts, tries;
    heddle_verdict verdict;
} heddle_retries;

static heddle_status give_up(heddle_download_job *job, heddle_retries *retries, const char *reason)
{
    add_reason(job, retries->mirror, reason);
    retries->verdict = HEDDLE_VERDICT_NEXT;
    return HEDDLE_OK;
}

// What we have does not go with what the mirror has. The same mirror gets another chance from the start.
static heddle_status restart(heddle_download_job *job, heddle_retries *retries, const char *reason)
{
    unlink(job->part);
    if (++retries->restarts > MAX_RESTARTS)
        return give_up(job, retries, reason);
    retries->verdict = HEDDLE_VERDICT_AGAIN;
    return HEDDLE_OK;
}

static heddle_status judge_whole(heddle_download_job *job, heddle_retries *retries, bool resumed)
{
    static const char reason[] = "SHA-256 mismatch";
    bool right;
    HEDDLE_TRY(check_file(job->file, job->part, &right));
    if (right) {
        retries->verdict = HEDDLE_VERDICT_DONE;
        return move_into_place(job);
    }
    if (resumed) // perhaps what an earlier try left was wrong
        return restart(job, retries, reason);
    unlink(job->part);
    return give_up(job, retries, reason);
}

static heddle_status judge_cut(heddle_download_job *job, heddle_retries *retries, const heddle_transfer *transfer)
{
    retries->cuts = transfer->after > transfer->before ? 0 : retries->cuts + 1;
    if (retries->cuts == MAX_CUTS || retries->tries == MAX_TRIES)
        return give_up(job, retries, transfer->reason);
    retries->verdict = HEDDLE_VERDICT_AGAIN;
    pause_briefly();
    return HEDDLE_OK;
}

static heddle_status judge(heddle_download_job *job, heddle_retries *retries, const heddle_transfer *transfer,
                           heddle_transfer_result result)
{
    switch (result) {
    case HEDDLE_TRANSFER_WHOLE: return judge_whole(job, retries, transfer->before > 0);
    case HEDDLE_TRANSFER_CUT: return judge_cut(job, retries, transfer);
    case HEDDLE_TRANSFER_STALE: return restart(job, retries, "serves a shorter file");
    case HEDDLE_TRANSFER_REFUSED:
        if (transfer->after != transfer->before)
            unlink(job->part); // what such a server sent is not worth keeping
        return give_up(job, retries, transfer->reason);
    case HEDDLE_TRANSFER_STOPPED: return stopped(job->folder);
    case HEDDLE_TRANSFER_LOCAL_ERROR: break;
    }
    return heddle_fail(HEDDLE_IO, "cannot download into %s: %s", job->folder, transfer->reason);
}

static heddle_status try_mirror(heddle_download_job *job, heddle_retries *retries)
{
    char address[PATH_SIZE];
    size_t length = strlen(retries->mirror);
    const char *slash = length > 0 && retries->mirror[length - 1] == '/' ? "" : "/";
    if (snprintf(address, sizeof address, "%s%s%s", retries->mirror, slash, job->file->name) >= (int)sizeof address)
        return give_up(job, retries, "the address is too long");
    do {
        heddle_transfer transfer = {
            .address = address,
            .part = job->part,
            .name = job->file->name,
            .limit = job->file->size,
            .progress = job->progress,
            .context = job->context,
        };
        heddle_transfer_result result = heddle_transfer_run(&transfer);
        retries->tries++;
        HEDDLE_TRY(judge(job, retries, &transfer, result));
    } while (retries->verdict == HEDDLE_VERDICT_AGAIN);
    return HEDDLE_OK;
}

static heddle_status fetch_file(heddle_download_job *job, const char *const *mirrors)
{
    bool right;
    HEDDLE_TRY(check_file(job->file, job->path, &right));
    if (right)
        return HEDDLE_OK;
    HEDDLE_TRY(check_file(job->file, job->part, &right)); // stopped between the last byte and the renaming
    if (right)
        return move_into_place(job);
    for (int i = 0; mirrors[i]; i++) {
        heddle_retries retries = {.mirror = mirrors[i]};
        heddle_log(HEDDLE_LOG_INFO, "downloading %s from %s", job->file->name, mirrors[i]);
        HEDDLE_TRY(try_mirror(job, &retries));
        if (retries.verdict == HEDDLE_VERDICT_DONE)
            return HEDDLE_OK;
    }
    return heddle_fail(HEDDLE_IO, "cannot download %s (check the network, or copy the file into %s): %s",
                       job->file->name, job->folder, job->reasons[0] ? job->reasons : "no mirrors given");
}

// A part without a byte is nothing to go on from.
static void remove_empty(const char *part)
{
    struct stat about;
    if (stat(part, &about) == 0 && about.st_size == 0)
        unlink(part);
}

static heddle_status fetch_files(heddle_download_job *job, const char *const *mirrors,
                                 const heddle_download_file *files, int count)
{
    for (int i = 0; i < count; i++) {
        job->file = &files[i];
        job->reasons[0] = '\0';
        int length = snprintf(job->part, sizeof job->part, "%s/%s.part", job->folder, files[i].name);
        if (length >= (int)sizeof job->part)
            return heddle_fail(HEDDLE_INVALID, "the path of folder %s is too long", job->folder);
        snprintf(job->path, sizeof job->path, "%s/%s", job->folder, files[i].name);
        heddle_status status = fetch_file(job, mirrors);
        remove_empty(job->part);
        HEDDLE_TRY(status);
    }
    return HEDDLE_OK;
}

heddle_status heddle_download(const char *folder, const char *const *mirrors, const heddle_download_file *files,
                              int count, heddle_download_progress *progress, void *context)
{
    HEDDLE_TRY(heddle_transfer_available());
    HEDDLE_TRY(heddle_sha256_available());
    HEDDLE_TRY(heddle_folder_create(folder));
    heddle_download_job *job = calloc(1, sizeof *job);
    if (!job)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory to download into %s", folder);
    job->folder = folder;
    job->progress = progress;
    job->context = context;
    int lock = -1;
    heddle_status status = acquire_lock(folder, progress, context, &lock);
    if (status == HEDDLE_OK) {
        status = fetch_files(job, mirrors, files, count);
        release_lock(folder, lock);
    }
    free(job);
    return status;
}
