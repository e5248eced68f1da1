// Starts and ends child processes.

#include "build/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/temporary.h"

static void close_one(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

typedef struct ends {
    int theirs, ours;
} ends;

static bool open_pipe(ends *pipe, bool wanted, bool child_reads)
{
    *pipe = (ends){-1, -1};
    int files[2];
    if (!wanted)
        return true;
    if (pipe2(files, O_CLOEXEC) != 0)
        return false;
    *pipe = child_reads ? (ends){files[0], files[1]} : (ends){files[1], files[0]};
    return true;
}

typedef struct call {
    const char *const *arguments;
    char **environment;
    int input, output, errors;
} call;

// Ours, but for where temporary files go: what an ended compiler leaves behind goes with the build. NULL: no memory.
static char **make_environment(const char *folder, char **text)
{
    static const char name[] = "TMPDIR=";
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **made = calloc(count + 2, sizeof *made);
    size_t size = sizeof name + (folder ? strlen(folder) : 0);
    *text = folder ? malloc(size) : NULL;
    for (size_t i = 0; made && i < count; i++)
        if (!folder || strncmp(environ[i], name, sizeof name - 1) != 0)
            made[used++] = environ[i];
    if (made && *text) {
        snprintf(*text, size, "%s%s", name, folder);
        made[used] = *text;
    }
    return made;
}

static void attach(int from, int to, int flags)
{
    int file = from >= 0 ? from : open("/dev/null", flags);
    if (file != to) // dup2 of a descriptor to itself would leave its close-on-exec flag
        dup2(file, to);
    else
        fcntl(to, F_SETFD, 0);
}

// The caller may have chosen to ignore signals or block them; a compiler should not.
static void become(const void *context)
{
    static const int usual[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    const call *wanted = context;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    attach(wanted->input, STDIN_FILENO, O_RDONLY);
    attach(wanted->output, STDOUT_FILENO, O_WRONLY);
    attach(wanted->errors >= 0 ? wanted->errors : STDOUT_FILENO, STDERR_FILENO, O_WRONLY);
    execvpe(wanted->arguments[0], (char *const *)wanted->arguments, wanted->environment);
}

bool sim_process_start(sim_process *process, const char *const *arguments, int pipes, const sim_limits *limits)
{
    ends input, output = {-1, -1}, errors = {-1, -1};
    *process = (sim_process){.input = -1, .output = -1, .errors = -1};
    bool fine = open_pipe(&input, pipes & SIM_PIPE_INPUT, true) && open_pipe(&output, pipes & SIM_PIPE_OUTPUT, false) &&
                open_pipe(&errors, pipes & SIM_PIPE_ERRORS, false);
    char *folder, **environment = make_environment(limits ? limits->folder : NULL, &folder);
    const call wanted = {arguments, environment, input.theirs, output.theirs, errors.theirs};
    fine = fine && environment && sim_keeper_start(&process->keeper, limits, become, &wanted);
    int error = errno;
    free(environment);
    free(folder);
    close_one(&input.theirs);
    close_one(&output.theirs);
    close_one(&errors.theirs);
    if (!fine) {
        close_one(&input.ours);
        close_one(&output.ours);
        close_one(&errors.ours);
        errno = error;
        return false;
    }
    process->input = input.ours;
    process->output = output.ours;
    process->errors = errors.ours;
    sim_children_add(process->keeper.id);
    return true;
}

int sim_process_end(sim_process *process)
{
    close_one(&process->input);
    close_one(&process->output);
    close_one(&process->errors);
    pid_t id = process->keeper.id;
    sim_keeper_collect(&process->keeper);
    sim_children_remove(id);
    if (process->keeper.error) {
        errno = process->keeper.error;
        return -1;
    }
    if (process->keeper.end != SIM_KEPT_ENDED)
        return process->keeper.end == SIM_KEPT_TIMED_OUT ? SIM_PROCESS_TIMED_OUT : SIM_PROCESS_TOO_LARGE;
    int status = process->keeper.status;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sim_process_run(const char *const *arguments, sim_text *messages, const sim_limits *limits)
{
    sim_process process;
    if (!sim_process_start(&process, arguments, SIM_PIPE_OUTPUT, limits))
        return -1;
    char buffer[4096];
    ssize_t count;
    while ((count = read(process.output, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
        if (count > 0)
            sim_text_add_bytes(messages, buffer, (size_t)count);
    return sim_process_end(&process);
}
