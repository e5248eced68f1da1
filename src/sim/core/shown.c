// Tells how far a launch has come, where the environment names a file for it.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/launch.h"
#include "machine/options.h"
#include "machine/shown.h"

static sim_shown *shown;
static bool on_terminal; // what the program prints is there too

// The file is there, and as large as it has to be.
static void open_file(void)
{
    const char *path = sim_options_get()->progress;
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *map = mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map != MAP_FAILED)
        shown = map;
    on_terminal = isatty(STDERR_FILENO);
}

void sim_shown_begin(const sim_launch_state *launch)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_file);
    if (!shown)
        return;
    __atomic_fetch_add(&shown->launches, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&shown->blocks, launch->blocks, __ATOMIC_RELAXED);
    __atomic_store_n(&shown->ended, 0, __ATOMIC_RELAXED);
    snprintf(shown->kernel, sizeof shown->kernel, "%s", launch->kernel->name);
    __atomic_fetch_add(&shown->launches, 1, __ATOMIC_SEQ_CST);
}

// The program may print something next.
void sim_shown_end(void)
{
    static const char clear[] = "\033[K"; // the cursor is where the line begins
    if (!shown)
        return;
    __atomic_store_n(&shown->blocks, 0, __ATOMIC_SEQ_CST);
    if (on_terminal && __atomic_exchange_n(&shown->drawn, 0, __ATOMIC_SEQ_CST) &&
        write(STDERR_FILENO, clear, sizeof clear - 1) < 0)
        on_terminal = false;
}

void sim_shown_block_ended(void)
{
    if (shown)
        __atomic_fetch_add(&shown->ended, 1, __ATOMIC_RELAXED);
}
