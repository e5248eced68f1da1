// Temporary folders. Each holds a file `lock` on which its owner has a lock that the kernel drops when the owner dies,
// however it dies; process numbers would lie where several containers share /tmp.

#include "check/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    YOUNG_SECONDS = 60, // a folder may take as long to get its lock and its name
    MODE = 0600,
    FOLDER_MODE = 0700,
};

static const char prefix[] = "heddle-check-";
static const char unlocked_prefix[] = "heddle-made-"; // until the owner has the lock, so that no sweep meets it before
static const char kept_prefix[] = "heddle-kept-";
static const char lock_name[] = "lock";

static bool is_folder(int folder, const char *name)
{
    struct stat about;
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode);
}

// Removes a file, a link or an empty folder; what is in another folder moves up into `top`, under a new name. So no
// tree is too deep. Whether anything has changed.
static bool remove_or_raise(int top, int folder, const char *name, unsigned *raised)
{
    if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return true;
    if (!is_folder(folder, name) || fchmodat(folder, name, FOLDER_MODE, 0) != 0)
        return false;
    if (folder != top) {
        char moved[32];
        snprintf(moved, sizeof moved, "raised-%u", (*raised)++);
        return renameat(folder, name, top, moved) == 0;
    }
    int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = inner >= 0 ? fdopendir(inner) : NULL;
    bool changed = false;
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            changed |= remove_or_raise(top, inner, entry->d_name, raised);
    if (entries)
        closedir(entries);
    else if (inner >= 0)
        close(inner);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0 || changed;
}

// What cannot be removed does not keep the rest.
static void remove_tree(const char *path)
{
    unsigned raised = 0;
    int top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = top >= 0 ? fdopendir(top) : NULL;
    for (bool changed = entries; changed;) {
        changed = false;
        rewinddir(entries);
        // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
        for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                changed |= remove_or_raise(top, top, entry->d_name, &raised);
    }
    if (entries)
        closedir(entries);
    else if (top >= 0)
        close(top);
    remove(path);
}

static int take_lock(const char *folder, int flags)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, lock_name);
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, MODE);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) {
        close(file);
        file = -1;
        errno = EWOULDBLOCK;
    }
    return file;
}

static bool is_abandoned(const char *folder, bool unlocked)
{
    struct stat about;
    if (lstat(folder, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != geteuid())
        return false;
    bool is_old = time(NULL) - about.st_mtime > YOUNG_SECONDS;
    if (unlocked)
        return is_old;
    int file = take_lock(folder, 0);
    if (file < 0)
        return errno == ENOENT && is_old;
    close(file);
    return true;
}

int heddle_check_folder_sweep(const char *root)
{
    int swept = 0;
    DIR *folder = opendir(root);
    if (!folder)
        return 0;
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[PATH_MAX];
        bool unlocked = strncmp(entry->d_name, unlocked_prefix, sizeof unlocked_prefix - 1) == 0;
        if (!unlocked && strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (is_abandoned(path, unlocked)) {
            remove_tree(path);
            swept++;
        }
    }
    closedir(folder);
    return swept;
}

// Makes the folder, locks it, and only then gives it the name by which a sweep knows it.
static heddle_status make_locked(heddle_check_folder *folder, const char *root)
{
    char made[PATH_MAX];
    snprintf(made, sizeof made, "%s/%sXXXXXX", root, unlocked_prefix);
    if (!mkdtemp(made))
        return heddle_fail(HEDDLE_IO, "cannot create a folder in %s: %s; set TMPDIR to a writable one", root,
                           strerror(errno));
    snprintf(folder->path, sizeof folder->path, "%s/%s%s", root, folder->keep ? kept_prefix : prefix,
             made + strlen(root) + sizeof unlocked_prefix);
    folder->lock = take_lock(made, O_CREAT);
    if (folder->lock >= 0 && rename(made, folder->path) == 0)
        return HEDDLE_OK;
    heddle_status status = heddle_fail(HEDDLE_IO, "cannot write in %s: %s", made, strerror(errno));
    remove_tree(made);
    if (folder->lock >= 0)
        close(folder->lock);
    folder->lock = -1;
    return status;
}

// Whether a path leads to this folder or below it, by whatever names and mounts: a sandbox goes by the folder itself.
static bool is_below(const char *path, const struct stat *folder)
{
    char *whole = realpath(path, NULL);
    bool below = false;
    struct stat about;
    for (char *end = whole ? whole + strlen(whole) : NULL; end && !below; end = strrchr(whole, '/')) {
        *end = '\0';
        below = stat(whole[0] ? whole : "/", &about) == 0 && about.st_dev == folder->st_dev &&
                about.st_ino == folder->st_ino;
    }
    free(whole);
    return below;
}

static const char other_root[] = "/var/tmp";

static const char *choose_root(const char *writable, bool *exposed)
{
    const char *given = getenv("TMPDIR");
    const char *const roots[] = {given && given[0] == '/' ? given : "/tmp", "/tmp", other_root};
    struct stat folder;
    *exposed = writable && stat(writable, &folder) == 0;
    for (size_t i = 0; *exposed && i < sizeof roots / sizeof *roots; i++)
        if (!is_below(roots[i], &folder) && (i == 0 || access(roots[i], W_OK | X_OK) == 0)) {
            *exposed = false;
            return roots[i];
        }
    return roots[0];
}

heddle_status heddle_check_folder_create_outside(heddle_check_folder *folder, bool keep, const char *writable)
{
    *folder = (heddle_check_folder){.lock = -1, .keep = keep};
    const char *root = choose_root(writable, &folder->exposed);
    heddle_check_folder_sweep(root);
    heddle_check_folder_sweep(other_root); // a check in $TMPDIR itself may have been killed
    return make_locked(folder, root);
}

heddle_status heddle_check_folder_create(heddle_check_folder *folder, bool keep)
{
    return heddle_check_folder_create_outside(folder, keep, NULL);
}

heddle_status heddle_check_folder_inner(const heddle_check_folder *outer, const char *name, heddle_check_folder *inner)
{
    *inner = (heddle_check_folder){.lock = -1};
    heddle_check_folder_path(outer, name, inner->path, sizeof inner->path);
    remove_tree(inner->path);
    if (mkdir(inner->path, FOLDER_MODE) != 0)
        return heddle_fail(HEDDLE_IO, "%s: cannot create this folder: %s", inner->path, strerror(errno));
    return HEDDLE_OK;
}

void heddle_check_folder_clean(const heddle_check_folder *folder)
{
    int file = open(folder->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = file >= 0 ? fdopendir(file) : NULL;
    // cppcheck-suppress readdirCalled ; readdir is safe on a folder that one thread reads
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        struct stat about;
        if (fstatat(dirfd(entries), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(about.st_mode) &&
            !S_ISDIR(about.st_mode))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    else if (file >= 0)
        close(file);
}

void heddle_check_folder_release(heddle_check_folder *folder)
{
    if (folder->lock < 0)
        return;
    if (!folder->keep)
        remove_tree(folder->path);
    close(folder->lock);
    folder->lock = -1;
}

const char *heddle_check_folder_path(const heddle_check_folder *folder, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", folder->path, name);
    return path;
}
