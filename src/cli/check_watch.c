// Which files are watched, the wait between two checks, and the end of a check whose files are saved meanwhile.

#include "cli/check_watch.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/terminal.h"
#include "base/watch.h"
#include "check/check.h"
#include "check/own.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

enum { MOST_WATCHED = HEDDLE_CHECK_MOST_FILES + 2 * HEDDLE_CLI_LIST_ROOM };

typedef struct file_names {
    char at[MOST_WATCHED][PATH_MAX];
    const char *list[MOST_WATCHED];
    int count;
    int present; // the others are headers that are not there yet
} file_names;

static void add(file_names *files, const char *path, size_t length)
{
    if (files->count == MOST_WATCHED || length == 0 || length >= PATH_MAX)
        return;
    snprintf(files->at[files->count], PATH_MAX, "%.*s", (int)length, path);
    files->list[files->count] = files->at[files->count];
    files->count++;
}

// The names of .npy files in the line of --args.
static void add_arrays(file_names *files, const char *line)
{
    static const char ending[] = ".npy", separators[] = " ,;=\"'";
    for (const char *at = line; at && (at = strstr(at, ending)); at += sizeof ending - 1) {
        const char *first = at, *last = at + sizeof ending - 1;
        while (first > line && !strchr(separators, first[-1]))
            first--;
        add(files, first, (size_t)(last - first));
    }
}

static void add_options(file_names *files, const heddle_check_settings *settings)
{
    const char *reference = settings->reference;
    const char *colon = reference ? strrchr(reference, ':') : NULL;
    for (int i = 0; i < settings->expect.count; i++) {
        const char *item = settings->expect.items[i], *equal = settings->kernel ? strchr(item, '=') : NULL;
        add(files, equal ? equal + 1 : item, strlen(equal ? equal + 1 : item));
    }
    if (reference)
        add(files, reference, colon ? (size_t)(colon - reference) : strlen(reference));
    if (settings->suppress)
        add(files, settings->suppress, strlen(settings->suppress));
    add_arrays(files, settings->args);
}

// Where a header in quotes may appear: beside the file that includes it, and in the folders of -I.
static void add_missing(file_names *files, heddle_check_sources *sources, const sim_source *source,
                        const char *const *folders)
{
    char path[2 * PATH_MAX];
    for (int i = 0; i < source->directive_count; i++) {
        const sim_directive *line = &source->directives[i];
        bool quoted = false;
        char *name = line->kind == SIM_DIRECTIVE_INCLUDE ? sim_included_name(source, line, &quoted) : NULL;
        if (name && quoted && !heddle_check_sources_found(sources, source, line, folders)) {
            const char *slash = strrchr(source->path, '/');
            int length = slash ? (int)(slash - source->path) + 1 : 0;
            snprintf(path, sizeof path, "%.*s%s", name[0] == '/' ? 0 : length, source->path, name);
            add(files, path, strlen(path));
            for (int f = 0; folders && folders[f] && name[0] != '/'; f++) {
                snprintf(path, sizeof path, "%s/%s", folders[f], name);
                add(files, path, strlen(path));
            }
        }
        free(name);
    }
}

// Asked before each check, because a change may bring another header.
static heddle_status find_files(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                                const char *const *folders, file_names *files)
{
    heddle_check_own_files own = {.count = 0};
    heddle_check_sources *sources = heddle_check_sources_create();
    if (!sources)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the names of the files");
    files->count = 0;
    for (int i = 0; i < arguments->count; i++) // by name, for it may be gone for a moment
        add(files, arguments->items[i], strlen(arguments->items[i]));
    for (int i = 0; i < arguments->count; i++)
        heddle_check_own_files_find(&own, sources, heddle_check_sources_code(sources, arguments->items[i]), folders);
    if (settings->driver) {
        add(files, settings->driver, strlen(settings->driver));
        heddle_check_own_files_find(&own, sources, heddle_check_sources_code(sources, settings->driver), folders);
    }
    for (int i = 0; i < own.count; i++) {
        bool named = false;
        for (int k = 0; k < files->count && !named; k++)
            named = strcmp(files->list[k], own.at[i]->path) == 0;
        if (!named)
            add(files, own.at[i]->path, strlen(own.at[i]->path));
    }
    add_options(files, settings);
    files->present = files->count;
    for (int i = 0; i < own.count; i++)
        add_missing(files, sources, own.at[i], folders);
    heddle_check_sources_free(sources);
    return HEDDLE_OK;
}

// The index of the file that was saved; -1: a signal asked to stop.
static int wait_for_change(heddle_watch *watch)
{
    int changed = -1;
    while (!heddle_cli_interrupted && (changed = heddle_watch_changed(watch)) < 0) {
        struct pollfd from = {.fd = heddle_watch_descriptor(watch), .events = POLLIN};
        poll(&from, 1, heddle_watch_period(watch));
    }
    return changed;
}

static void say(const heddle_check_settings *settings, const file_names *files, int changed)
{
    FILE *file = settings->json.print ? stderr : stdout; // JSON stands alone on standard output
    if (changed >= 0 && heddle_terminal_is(stdout) && !settings->json.print)
        fputs("\033[H\033[2J\033[3J", stdout);
    else if (changed >= 0)
        fprintf(file, "\n%s was saved: checking again\n", files->list[changed]);
    else
        fprintf(file, "watching %d file%s; Ctrl-C ends\n", files->present, files->present == 1 ? "" : "s");
    fflush(file);
}

// --- a check whose files are saved while it runs ---------------------------------------------------------------------

typedef struct guard {
    heddle_watch *watch;
    pthread_t thread;
    int done[2];        // a pipe: written when the check has ended
    atomic_int changed; // the file that was saved; -1: none
    bool runs;
} guard;

// Stops the check, again and again until it has ended: the first time may come before it has begun.
static void *stop_when_saved(void *context)
{
    guard *one = context;
    const int again = 100; // milliseconds
    struct pollfd from[] = {{.fd = one->done[0], .events = POLLIN},
                            {.fd = heddle_watch_descriptor(one->watch), .events = POLLIN}};
    for (;;) {
        int changed = atomic_load(&one->changed);
        if (changed < 0)
            atomic_store(&one->changed, changed = heddle_watch_changed(one->watch));
        if (changed >= 0)
            heddle_check_interrupt();
        if (poll(from, changed < 0 ? 2 : 1, changed < 0 ? heddle_watch_period(one->watch) : again) > 0 &&
            from[0].revents)
            return NULL;
    }
}

static void guard_begin(guard *one, heddle_watch *watch)
{
    sigset_t all, before;
    one->watch = watch;
    atomic_init(&one->changed, -1);
    one->runs = pipe(one->done) == 0;
    if (!one->runs)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // Ctrl-C is for the thread that checks
    one->runs = pthread_create(&one->thread, NULL, stop_when_saved, one) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!one->runs) {
        close(one->done[0]);
        close(one->done[1]);
    }
}

// The file that was saved during the check; -1: none.
static int guard_end(guard *one)
{
    if (!one->runs)
        return -1;
    close(one->done[1]);
    pthread_join(one->thread, NULL);
    close(one->done[0]);
    return atomic_load(&one->changed);
}

int heddle_cli_check_watch(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                           const char *const *folders, int (*check)(void *context), void *context)
{
    static file_names files;
    for (bool first = true;; first = false) {
        heddle_watch *watch = NULL;
        heddle_status status = find_files(settings, arguments, folders, &files);
        if (status == HEDDLE_OK)
            status =
                heddle_watch_open(files.list, files.count, &watch); // before the check: what is saved meanwhile counts
        if (status != HEDDLE_OK)
            return heddle_cli_fail(status);
        guard meanwhile;
        guard_begin(&meanwhile, watch);
        int code = check(context);
        int changed = guard_end(&meanwhile);
        bool possible = code == HEDDLE_EXIT_OK || code == HEDDLE_EXIT_FAILED;
        if (changed < 0 && !heddle_cli_interrupted && (possible || !first)) {
            say(settings, &files, -1);
            changed = wait_for_change(watch);
        }
        heddle_watch_close(watch);
        if (heddle_cli_interrupted)
            return heddle_cli_interrupt_code();
        if (changed < 0)
            return code;
        say(settings, &files, changed);
    }
}
