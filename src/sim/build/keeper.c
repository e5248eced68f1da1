// The keeper is the reaper of all that the program starts: a process whose parent ends becomes the keeper's child. All
// children of the keeper are therefore what is left of the program.

#include "build/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    NOT_STARTED = 127,         // as shells have it
    TICK = 20,                 // milliseconds between two looks at the limits
    DEEPEST = 32,              // processes below processes
    MOST_CHILDREN_TEXT = 4096, // bytes of a list of children
    THREADS_TEXT = 1024,       // bytes of a list of threads, read in pieces
    STUBBORN_SECONDS = 5,      // what cannot be killed, such as a program with more rights, is left then
};

struct sim_kept {
    volatile pid_t program;
    volatile int status, error, end;
    volatile bool ended;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Text of a small file of /proc. Safe after a fork, as all that the keeper calls.
static bool read_small(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    return count >= 0;
}

// The children of one thread of a process. A blank follows every number; what follows the last blank of a list that
// does not fit would be somebody else's number.
static bool read_children(pid_t process, pid_t thread, char text[MOST_CHILDREN_TEXT])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)process, (int)thread);
    if (!read_small(path, text, MOST_CHILDREN_TEXT))
        return false;
    char *last = strrchr(text, ' ');
    *(last ? last : text) = '\0';
    return true;
}

static uint64_t memory_of(pid_t process)
{
    char path[64], text[256], *rest = text;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    read_small(path, text, sizeof text);
    strtoull(text, &rest, 10); // the first number is what is mapped, the second what is in memory
    return strtoull(rest, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t memory_below(pid_t process, int depth);

static uint64_t memory_below_thread(pid_t process, pid_t thread, int depth)
{
    char text[MOST_CHILDREN_TEXT], *rest = text;
    uint64_t sum = 0;
    if (!read_children(process, thread, text))
        return 0;
    for (long child; (child = strtol(rest, &rest, 10)) > 0;)
        sum += memory_of((pid_t)child) + memory_below((pid_t)child, depth - 1);
    return sum;
}

// Any thread may have started processes. opendir is not safe after a fork: the folder is read by the system's own call.
static uint64_t memory_below(pid_t process, int depth)
{
    char path[64];
    _Alignas(long) char entries[THREADS_TEXT];
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)process);
    int folder = depth > 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (long got; folder >= 0 && (got = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
            long thread = strtol(entry->d_name, NULL, 10);
            if (thread > 0)
                sum += memory_below_thread(process, (pid_t)thread, depth);
            at += entry->d_reclen;
        }
    if (folder >= 0)
        close(folder);
    return sum;
}

uint64_t sim_memory_below(pid_t process)
{
    return memory_below(process, DEEPEST);
}

// --- the keeper ------------------------------------------------------------------------------------------------------

// Collects children that have ended. False: there are none left.
static bool reap(struct sim_kept *kept)
{
    int status;
    for (;;) {
        pid_t ended = waitpid(-1, &status, WNOHANG);
        if (ended <= 0)
            return ended == 0;
        if (ended == kept->program) {
            kept->status = status;
            kept->ended = true;
        }
    }
}

static void end_all(struct sim_kept *kept)
{
    char text[MOST_CHILDREN_TEXT];
    double until = now() + STUBBORN_SECONDS;
    while (reap(kept) && now() < until) {
        bool known = read_children(getpid(), getpid(), text);
        if (!known && kept->ended)
            return;
        if (!known)
            kill(kept->program, SIGKILL);
        char *rest = text;
        for (long child; (child = strtol(rest, &rest, 10)) > 0;)
            kill((pid_t)child, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static bool is_over(const sim_limits *limits, double started, struct sim_kept *kept)
{
    if (limits->seconds > 0 && now() - started > limits->seconds)
        kept->end = SIM_KEPT_TIMED_OUT;
    else if (limits->memory && sim_memory_below(getpid()) > limits->memory)
        kept->end = SIM_KEPT_TOO_LARGE;
    return kept->end != SIM_KEPT_ENDED;
}

static void keep(struct sim_kept *kept, const sim_limits *limits)
{
    double started = now();
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    while (reap(kept) && !kept->ended) {
        int got = limits ? sigtimedwait(&awaited, NULL, &(struct timespec){.tv_nsec = TICK * 1000000L})
                         : sigwaitinfo(&awaited, NULL);
        if (got == SIGTERM || (limits && is_over(limits, started, kept)))
            break;
    }
    kill(-kept->program, SIGKILL); // most of it in one go
    end_all(kept);
}

// What is open here must not stay open after its owner has closed it: pipes would never end, locks never be free.
static void close_all(void)
{
    enum { FIRST = 0, USUAL_FILES = 1024 };
#ifdef SYS_close_range
    if (syscall(SYS_close_range, FIRST, ~0u, 0) == 0)
        return;
#endif
    for (int file = FIRST; file < USUAL_FILES; file++)
        close(file);
}

static void run_keeper(struct sim_kept *kept, const sim_limits *limits, pid_t owner,
                       void (*become)(const void *context), const void *context)
{
    signal(SIGCHLD, SIG_DFL); // where it is ignored, nobody learns how a child ended
    setpgid(0, 0);            // a terminal's signals are the owner's
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != owner)
        _exit(NOT_STARTED);
    pid_t program = fork();
    if (program == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become(context);
    }
    if (program <= 0) {
        kept->error = errno;
        _exit(NOT_STARTED);
    }
    kept->program = program;
    setpgid(program, program); // here too, so that the group exists whichever process runs first
    close_all();
    keep(kept, limits);
    _exit(0);
}

// --- its owner -------------------------------------------------------------------------------------------------------

bool sim_keeper_start(sim_keeper *keeper, const sim_limits *limits, void (*become)(const void *context),
                      const void *context)
{
    *keeper = (sim_keeper){.id = -1};
    keeper->kept = mmap(NULL, sizeof *keeper->kept, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (keeper->kept == MAP_FAILED)
        return false;
    // The owner's handlers must not run in the keeper.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t owner = getpid();
    keeper->id = fork();
    if (keeper->id == 0)
        run_keeper(keeper->kept, limits, owner, become, context);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (keeper->id > 0)
        return true;
    munmap(keeper->kept, sizeof *keeper->kept);
    errno = error;
    return false;
}

pid_t sim_keeper_program(const sim_keeper *keeper)
{
    return keeper->kept->program;
}

void sim_keeper_stop(pid_t keeper)
{
    kill(keeper, SIGTERM);
}

void sim_keeper_collect(sim_keeper *keeper)
{
    while (waitpid(keeper->id, NULL, 0) < 0 && errno == EINTR)
        continue;
    keeper->end = keeper->kept->end;
    keeper->error = keeper->kept->error;
    // A keeper that was killed has not said how the program ended: it was killed with it.
    keeper->status = keeper->kept->ended ? keeper->kept->status : keeper->error ? NOT_STARTED << 8 : SIGKILL;
    munmap(keeper->kept, sizeof *keeper->kept);
    keeper->kept = NULL;
}
