// Reads what a run shows of its progress. The program that writes it may be hostile: it may make the file shorter, or
// name a kernel so that the terminal obeys it.

#include "check/progress.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "sim/machine/shown.h"

struct heddle_check_shown {
    const heddle_check_options *options;
    int file;
    uint64_t launch;
    double since; // when this launch was first seen
    double started;
};

heddle_check_shown *heddle_check_shown_open(const heddle_check_options *options, const char *path)
{
    unlink(path); // of the run before
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = file >= 0 && ftruncate(file, sizeof(sim_shown)) == 0;
    heddle_check_shown *shown = made ? malloc(sizeof *shown) : NULL;
    if (shown)
        *shown = (heddle_check_shown){.options = options, .file = file, .started = heddle_now()};
    else if (file >= 0)
        close(file);
    return shown;
}

static void copy_name(char *name, const char *from)
{
    memcpy(name, from, SIM_SHOWN_NAME);
    name[SIM_SHOWN_NAME - 1] = '\0';
    for (char *at = name; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

// Whether the program was not just writing it.
static bool read_now(const heddle_check_shown *shown, sim_shown *now, char name[SIM_SHOWN_NAME])
{
    sim_shown again;
    if (pread(shown->file, now, sizeof *now, 0) != sizeof *now || pread(shown->file, &again, sizeof again, 0) < 0 ||
        now->launches % 2 != 0 || now->launches != again.launches)
        return false;
    copy_name(name, now->kernel);
    return true;
}

void heddle_check_shown_look(void *context)
{
    heddle_check_shown *shown = context;
    sim_shown now;
    char name[SIM_SHOWN_NAME];
    const double time = heddle_now();
    if (!shown->options->progress || !read_now(shown, &now, name) || now.blocks == 0)
        return;
    if (now.launches != shown->launch) {
        shown->launch = now.launches;
        shown->since = time;
    }
    const heddle_check_progress progress = {.kernel = name,
                                            .launch = now.launches / 2,
                                            .blocks = (double)now.blocks,
                                            .ended = (double)(now.ended < now.blocks ? now.ended : now.blocks),
                                            .launch_seconds = time - shown->since,
                                            .run_seconds = time - shown->started};
    const uint64_t drawn = shown->options->progress(&progress);
    if (drawn && pwrite(shown->file, &drawn, sizeof drawn, offsetof(sim_shown, drawn)) != sizeof drawn)
        shown->options->progress(NULL);
}

void heddle_check_shown_where(heddle_check_shown *shown, char *text, size_t room)
{
    sim_shown now;
    char name[SIM_SHOWN_NAME];
    text[0] = '\0';
    if (!shown || !read_now(shown, &now, name))
        return;
    const unsigned long long launches = now.launches / 2, blocks = now.blocks, ended = now.ended;
    if (launches == 0)
        snprintf(text, room, "No kernel had been launched yet.");
    else if (blocks == 0)
        snprintf(text, room, "Host code was running; the last kernel, %s, had ended.", name);
    else
        snprintf(text, room, "Kernel %s was running: launch %llu, %llu of %llu blocks done.", name, launches,
                 ended < blocks ? ended : blocks, blocks);
}

void heddle_check_shown_close(heddle_check_shown *shown)
{
    if (!shown)
        return;
    sim_shown last;
    bool cleared = pread(shown->file, &last, sizeof last, 0) == sizeof last && !last.drawn;
    if (!cleared && shown->options->progress)
        shown->options->progress(NULL);
    close(shown->file);
    free(shown);
}
