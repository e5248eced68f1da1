// A supervised child process.

#include "check/child.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/text.h"

enum {
    TICK = 50,               // milliseconds between two looks at the memory
    TICK_WITHOUT_HANDLE = 2, // where the kernel cannot tell when the child ends
    POLITENESS = 10,
    SIGNAL_STATUS = 128, // and the signal's number: the exit status of a shell, or of bubblewrap
};

static const double grace = 5; // seconds to write a report after being asked to end

// --- starting --------------------------------------------------------------------------------------------------------

static void attach(int from, int to, int flags)
{
    int file = from >= 0 ? from : open("/dev/null", flags);
    if (file != to) // dup2 of a descriptor to itself would leave its close-on-exec flag
        dup2(file, to);
    else
        fcntl(to, F_SETFD, 0);
}

typedef struct start {
    const heddle_child_options *options;
    char *const *environment, *const *argv;
} start;

// Between fork and exec: only what is safe there.
static void become(const void *context)
{
    const start *wanted = context;
    const heddle_child_options *options = wanted->options;
    static const int defaults[] = {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGXFSZ};
    // Ours is not the terminal's group any more: reading from or writing to it must not stop the program.
    static const int ignored[] = {SIGTTIN, SIGTTOU, SIGTSTP};
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    // Should memory run short after all, it is this process that has to go.
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "1000", 4) == 4)
        close(score);
    if (options->polite && setpriority(PRIO_PROCESS, 0, POLITENESS) != 0)
        return;
    if (options->folder && chdir(options->folder) != 0)
        return;
    attach(options->input, STDIN_FILENO, O_RDONLY);
    attach(options->output, STDOUT_FILENO, O_WRONLY);
    attach(options->errors, STDERR_FILENO, O_WRONLY);
    if (!options->sandbox || heddle_sandbox_enter(options->sandbox))
        execve(wanted->argv[0], wanted->argv, wanted->environment);
}

// Ours, with the added ones in the place of those of the same name.
static char **make_environment(const char *const *added)
{
    size_t own = 0, more = 0;
    while (environ[own])
        own++;
    while (added && added[more])
        more++;
    char **made = calloc(own + more + 1, sizeof *made);
    size_t used = 0;
    for (size_t i = 0; made && i < own; i++) {
        bool replaced = false;
        size_t name = strcspn(environ[i], "=") + 1;
        for (size_t k = 0; k < more && !replaced; k++)
            replaced = strncmp(environ[i], added[k], name) == 0;
        if (!replaced)
            made[used++] = environ[i];
    }
    for (size_t k = 0; made && k < more; k++)
        made[used++] = (char *)added[k];
    return made;
}

// The command's words behind the sandbox's.
static char **make_arguments(const heddle_child_options *options)
{
    char *const *first = options->sandbox ? options->sandbox->wrapper : NULL;
    size_t before = 0, own = 0;
    while (first && first[before])
        before++;
    while (options->argv[own])
        own++;
    char **made = calloc(before + own + 1, sizeof *made);
    for (size_t i = 0; made && i < before; i++)
        made[i] = first[i];
    for (size_t i = 0; made && i < own; i++)
        made[before + i] = options->argv[i];
    return made;
}

heddle_status heddle_child_start(heddle_child *child, const heddle_child_options *options)
{
    *child = (heddle_child){.options = *options, .handle = -1, .process = -1};
    char **environment = make_environment(options->environment), **arguments = make_arguments(options);
    child->started = heddle_now();
    const start wanted = {options, environment, arguments};
    errno = ENOMEM;
    bool started = environment && arguments && sim_keeper_start(&child->keeper, NULL, become, &wanted);
    free(environment);
    free(arguments);
    if (!started)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "cannot start %s: %s", options->argv[0], strerror(errno));
    child->process = child->keeper.id;
#ifdef SYS_pidfd_open
    child->handle = (int)syscall(SYS_pidfd_open, child->process, 0);
#endif
    return HEDDLE_OK;
}

// --- waiting ---------------------------------------------------------------------------------------------------------

// Ended, but not yet collected: until then its number cannot be reused.
static bool has_ended(const heddle_child *child)
{
    siginfo_t about = {.si_pid = 0};
    return waitid(P_PID, (id_t)child->process, &about, WEXITED | WNOHANG | WNOWAIT) != 0 || about.si_pid != 0;
}

static void collect(heddle_child *child)
{
    sim_keeper_stop(child->process);
    sim_keeper_collect(&child->keeper);
    int status = child->keeper.status;
    child->seconds = heddle_now() - child->started;
    if (child->handle >= 0)
        close(child->handle);
    child->handle = -1;
    if (child->end != HEDDLE_CHILD_RUNNING)
        return;
    child->end = WIFSIGNALED(status) ? HEDDLE_CHILD_SIGNALLED : HEDDLE_CHILD_EXITED;
    child->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    // bubblewrap tells of a signal as shells do.
    if (child->options.sandbox && child->options.sandbox->wrapper && child->end == HEDDLE_CHILD_EXITED &&
        child->code > SIGNAL_STATUS && child->code - SIGNAL_STATUS < NSIG) {
        child->end = HEDDLE_CHILD_SIGNALLED;
        child->code -= SIGNAL_STATUS;
        child->wrapped = true;
    }
}

void heddle_child_exited(heddle_child *child, int status)
{
    if (!child->wrapped || (status >= 0 && status != child->code + SIGNAL_STATUS))
        return;
    child->wrapped = false;
    child->end = HEDDLE_CHILD_EXITED;
    child->code += SIGNAL_STATUS;
}

static void wait_a_little(const heddle_child *child, int milliseconds)
{
    struct pollfd watched = {.fd = child->handle, .events = POLLIN};
    if (child->handle >= 0)
        poll(&watched, 1, milliseconds);
    else
        poll(NULL, 0, milliseconds < TICK_WITHOUT_HANDLE ? milliseconds : TICK_WITHOUT_HANDLE);
}

// Why it has to end now, if it has.
static heddle_child_end look(heddle_child *child)
{
    uint64_t memory = sim_memory_below(child->process);
    if (memory > child->most_memory)
        child->most_memory = memory;
    if (child->options.stop && *child->options.stop)
        return HEDDLE_CHILD_STOPPED;
    if (child->options.memory && memory > child->options.memory)
        return HEDDLE_CHILD_TOO_LARGE;
    if (child->options.seconds > 0 && heddle_now() - child->started > child->options.seconds)
        return HEDDLE_CHILD_TIMED_OUT;
    return HEDDLE_CHILD_RUNNING;
}

static void end_group(heddle_child *child)
{
    double until = heddle_now() + grace;
    pid_t program = sim_keeper_program(&child->keeper);
    // One that takes too much memory gets no time to take more.
    if (child->end == HEDDLE_CHILD_TIMED_OUT && program > 0) {
        kill(-program, SIGTERM);
        kill(-program, SIGCONT); // it may have stopped itself
    }
    while (child->end == HEDDLE_CHILD_TIMED_OUT && !has_ended(child) && heddle_now() < until)
        wait_a_little(child, TICK);
    collect(child);
}

void heddle_child_wait(heddle_child *child, double patience)
{
    double until = patience < 0 ? INFINITY : heddle_now() + patience;
    while (child->end == HEDDLE_CHILD_RUNNING) {
        if (has_ended(child)) {
            collect(child);
            return;
        }
        double now = heddle_now();
        if (now >= until)
            return;
        child->end = look(child);
        if (child->options.look)
            child->options.look(child->options.look_context);
        if (child->end != HEDDLE_CHILD_RUNNING) {
            end_group(child);
            return;
        }
        double left = 1000 * (until - now);
        double limit = child->options.seconds > 0 ? 1000 * (child->started + child->options.seconds - now) : TICK;
        left = fmin(left, fmax(limit, 0) + 1);
        wait_a_little(child, left < TICK ? (int)left + 1 : TICK);
    }
}

void heddle_child_kill(heddle_child *child)
{
    if (child->process <= 0 || child->end != HEDDLE_CHILD_RUNNING)
        return;
    child->end = HEDDLE_CHILD_STOPPED;
    collect(child);
}

// --- what there is ---------------------------------------------------------------------------------------------------

uint64_t heddle_child_usual_memory(void)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = heddle_cgroup_get_memory().limit;
    return (group < machine ? group : machine) / 4 * 3;
}

const char *heddle_child_signal_name(int signal)
{
    switch (signal) {
    case SIGSEGV: return "SIGSEGV (invalid address)";
    case SIGBUS: return "SIGBUS (unusable address)";
    case SIGFPE: return "SIGFPE (integer division by zero, or overflow)";
    case SIGILL: return "SIGILL (illegal instruction)";
    case SIGABRT: return "SIGABRT (abort(), a failed assertion or an uncaught exception)";
    case SIGTRAP: return "SIGTRAP";
    case SIGKILL: return "SIGKILL (killed from outside, often because memory ran out)";
    case SIGTERM: return "SIGTERM";
    case SIGPIPE: return "SIGPIPE";
    case SIGINT: return "SIGINT";
    case SIGALRM: return "SIGALRM";
    case SIGSYS: return "SIGSYS";
    default: return strsignal(signal);
    }
}
