// Temporary folders and children, in tables that a signal handler can read.

#include "build/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "build/build.h"
#include "build/keeper.h"

enum { MOST_PATHS = 32, MOST_CHILDREN = 256 };
enum { STALE_SECONDS = 600 };
enum { ROOM_NEEDED = 256 << 20 }; // bytes free in memory before it is used for temporary files

static char paths[MOST_PATHS][2304];
static volatile sig_atomic_t path_used[MOST_PATHS];
static volatile pid_t children[MOST_CHILDREN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *base_folder(void)
{
    const char *given = getenv("TMPDIR");
    if (given && given[0] == '/')
        return given;
    struct statvfs memory;
    if (statvfs("/dev/shm", &memory) == 0 && access("/dev/shm", W_OK | X_OK) == 0 &&
        (unsigned long long)memory.f_bavail * memory.f_frsize > ROOM_NEEDED)
        return "/dev/shm";
    return "/tmp";
}

int sim_temporary_watch(const char *path)
{
    const size_t bytes = strlen(path) + 1;
    int slot = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_PATHS && slot < 0 && bytes <= sizeof *paths; i++) {
        if (path_used[i])
            continue;
        memcpy(paths[i], path, bytes);
        path_used[i] = 1;
        slot = i;
    }
    pthread_mutex_unlock(&lock);
    return slot;
}

void sim_temporary_forget(int slot)
{
    if (slot >= 0)
        path_used[slot] = 0;
}

// The process in "simcc-123-XXXXXX"; 0: another name.
static long maker_of(const char *name)
{
    static const char start[] = "simcc-";
    const size_t length = sizeof start - 1;
    return strncmp(name, start, length) == 0 ? strtol(name + length, NULL, 10) : 0;
}

// Removes what builds left behind that were killed: folders named for a process that is gone, and not young, in case
// the process is one of another container.
static void remove_stale(const char *base)
{
    char path[sizeof((sim_temporary *)0)->folder + sizeof((struct dirent *)0)->d_name];
    DIR *entries = opendir(base);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        struct stat about;
        const long process = maker_of(entry->d_name);
        if (process <= 0 || kill((pid_t)process, 0) == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
        if (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == getuid() &&
            time(NULL) - about.st_mtime > STALE_SECONDS)
            sim_folder_remove(path);
    }
    if (entries)
        closedir(entries);
}

bool sim_temporary_open(sim_temporary *temporary, const char *base, bool keep)
{
    if (!base) {
        base = base_folder();
        remove_stale(base);
    }
    if (keep)
        snprintf(temporary->folder, sizeof temporary->folder, "%s/simcc-kept-XXXXXX", base);
    else
        snprintf(temporary->folder, sizeof temporary->folder, "%s/simcc-%ld-XXXXXX", base, (long)getpid());
    if (!mkdtemp(temporary->folder))
        return false;
    temporary->slot = sim_temporary_watch(temporary->folder);
    return true;
}

static void remove_file(const char *folder, const char *name)
{
    char path[1024];
    size_t folder_bytes = strlen(folder), name_bytes = strlen(name);
    if (folder_bytes + name_bytes + 2 > sizeof path || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    memcpy(path, folder, folder_bytes + 1);
    path[folder_bytes] = '/';
    memcpy(path + folder_bytes + 1, name, name_bytes + 1);
    unlink(path);
}

// Async-signal-safe, which opendir is not: folders are read by the system call.
void sim_folder_remove(const char *folder)
{
    struct entry {
        unsigned long long number;
        long long offset;
        unsigned short bytes;
        unsigned char type;
        char name[];
    };
    char buffer[4096] __attribute__((aligned(8)));
    // Names may be passed over while others go; a second round finds them.
    for (int round = 0; round < 8; round++) {
        int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (file < 0)
            return;
        long count;
        while ((count = syscall(SYS_getdents64, file, buffer, sizeof buffer)) > 0)
            for (long at = 0; at < count; at += ((struct entry *)(buffer + at))->bytes)
                remove_file(folder, ((struct entry *)(buffer + at))->name);
        close(file);
        if (rmdir(folder) == 0)
            return;
    }
}

void sim_temporary_close(sim_temporary *temporary, bool keep)
{
    if (!keep)
        sim_folder_remove(temporary->folder);
    sim_temporary_forget(temporary->slot);
}

void sim_children_add(pid_t child)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_CHILDREN; i++) {
        if (children[i] == 0) {
            children[i] = child;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

void sim_children_remove(pid_t child)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_CHILDREN; i++)
        if (children[i] == child)
            children[i] = 0;
    pthread_mutex_unlock(&lock);
}

void sim_build_interrupted(void)
{
    for (int i = 0; i < MOST_CHILDREN; i++)
        if (children[i] > 0)
            sim_keeper_stop(children[i]);
    for (int i = 0; i < MOST_PATHS; i++)
        if (path_used[i] && unlink(paths[i]) != 0)
            sim_folder_remove(paths[i]);
}
