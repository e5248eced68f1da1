// Starts and ends child processes.

#include "build/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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

static int spawn(pid_t *id, const char *const *arguments, int input, int output, int errors)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (input >= 0)
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    else
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, errors >= 0 ? errors : STDOUT_FILENO, STDERR_FILENO);
    // The caller may have chosen to ignore signals or block them; a compiler should not.
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    // A group of its own, because a compiler is a driver with children: all of them can then be ended together.
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int error = posix_spawnp(id, arguments[0], &actions, &attributes, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

bool sim_process_start(sim_process *process, const char *const *arguments, int pipes)
{
    ends input, output = {-1, -1}, errors = {-1, -1};
    *process = (sim_process){.id = -1, .input = -1, .output = -1, .errors = -1};
    bool fine = open_pipe(&input, pipes & SIM_PIPE_INPUT, true) && open_pipe(&output, pipes & SIM_PIPE_OUTPUT, false) &&
                open_pipe(&errors, pipes & SIM_PIPE_ERRORS, false);
    int error = fine ? spawn(&process->id, arguments, input.theirs, output.theirs, errors.theirs) : errno;
    close_one(&input.theirs);
    close_one(&output.theirs);
    close_one(&errors.theirs);
    if (error) {
        close_one(&input.ours);
        close_one(&output.ours);
        close_one(&errors.ours);
        errno = error;
        return false;
    }
    process->input = input.ours;
    process->output = output.ours;
    process->errors = errors.ours;
    sim_children_add(process->id);
    return true;
}

int sim_process_end(sim_process *process)
{
    close_one(&process->input);
    close_one(&process->output);
    close_one(&process->errors);
    int status = 0;
    while (waitpid(process->id, &status, 0) < 0 && errno == EINTR)
        continue;
    sim_children_remove(process->id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int sim_process_run(const char *const *arguments, sim_text *messages)
{
    sim_process process;
    if (!sim_process_start(&process, arguments, SIM_PIPE_OUTPUT))
        return -1;
    char buffer[4096];
    ssize_t count;
    while ((count = read(process.output, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR))
        if (count > 0)
            sim_text_add_bytes(messages, buffer, (size_t)count);
    return sim_process_end(&process);
}
