// Builds with the simulator's compiler driver.

#include "check/build.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/build/build.h"

// Options of a list with their letter before them: -DNAME; then, unless it is NULL, -std=STANDARD. The caller frees the
// list and what it holds.
static char **with_letter(const char *const *items, const char *letter, const char *standard)
{
    size_t count = 0;
    while (items && items[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (asprintf(&list[i], "%s%s", letter, items[i]) < 0)
            list[i] = NULL;
    if (list && standard && asprintf(&list[count], "-std=%s", standard) < 0)
        list[count] = NULL;
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

// All messages, one after another, in the result's arena.
static heddle_status keep_messages(const sim_build_result *built, heddle_check_result *result)
{
    char *all = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&all, &size);
    if (!stream)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the compiler's messages");
    for (int i = 0; i < built->count; i++) {
        char *text = sim_build_message_text(&built->messages[i]);
        size_t length = text ? strlen(text) : 0;
        if (length)
            fprintf(stream, "%s%s", text, text[length - 1] == '\n' ? "" : "\n");
        free(text);
    }
    fclose(stream);
    if (size > 0)
        result->messages = heddle_arena_copy_text(result->arena, all);
    free(all);
    return HEDDLE_OK;
}

// The first error, as the last error's message.
static heddle_status fail_with(heddle_status status, const sim_build_result *built, const char *otherwise)
{
    for (int i = 0; i < built->count; i++)
        if (built->messages[i].kind == SIM_MESSAGE_ERROR)
            return heddle_fail(status, "%s", built->messages[i].text);
    return heddle_fail(status, "%s", otherwise);
}

static heddle_status judge(sim_build_status status, const sim_build_result *built, heddle_check_result *result)
{
    switch (status) {
    case SIM_BUILD_FINE:
    case SIM_BUILD_FAILED: result->built = status == SIM_BUILD_FINE; return keep_messages(built, result);
    case SIM_BUILD_USAGE: return fail_with(HEDDLE_INVALID, built, "the build's options make no sense");
    case SIM_BUILD_NO_COMPILER:
        return fail_with(HEDDLE_MISSING, built,
                         "no C++ compiler found; install g++ or clang, or name one by --compiler");
    case SIM_BUILD_SYSTEM: break;
    }
    return fail_with(HEDDLE_IO, built, "the program cannot be built");
}

// A compiler that gives up early, as one without an assembler does, is not the end of us.
static sim_build_status build_in_spite_of_broken_pipes(const sim_build_options *how, sim_build_result *built)
{
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &before);
    sim_build_status status = sim_build(how, built);
    sigaction(SIGPIPE, &before, NULL);
    return status;
}

heddle_status heddle_check_build(const heddle_check_options *options, const char *const *sources, const char *program,
                                 heddle_check_result *result)
{
    char **defines = with_letter(options->define, "-D", options->standard);
    char **libraries = with_letter(options->library, "-l", NULL);
    heddle_status status = defines && libraries ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to build");
    if (status == HEDDLE_OK) {
        sim_build_options how = {
            .files = sources,
            .include = options->include,
            .compile = (const char *const *)defines,
            .link = (const char *const *)libraries,
            .output = program,
            .compiler = options->compiler,
            .unwatched = options->unwatched,
        };
        sim_build_result built = {0};
        status = judge(build_in_spite_of_broken_pipes(&how, &built), &built, result);
        sim_build_result_free(&built);
    }
    free_list(defines);
    free_list(libraries);
    return status;
}
