// Command lines of `heddle check` that make no sense: files that are not there, options that exclude each other,
// reports that would overwrite an input.
#include "cli/check_refuse.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/check_kernel.h"
#include "cli/cli.h"
#include "cli/held.h"
#include "learn/state.h"

enum { QUOTED_SIZE = 1024 };

// A name that no compiler knows is a typing error. One that this compiler is too old for, the compiler reports.
static heddle_status refuse_standard(const char *name)
{
    static const char *const names[] = {
        "c++17",   "c++20",   "c++23",   "c++26",   "c++14",   "c++11",   "c++98",   "c++03",   "c++0x",   "c++1y",
        "c++1z",   "c++2a",   "c++2b",   "c++2c",   "gnu++17", "gnu++20", "gnu++23", "gnu++26", "gnu++14", "gnu++11",
        "gnu++98", "gnu++03", "gnu++0x", "gnu++1y", "gnu++1z", "gnu++2a", "gnu++2b", "gnu++2c",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name == NULL || strcmp(name, names[i]) == 0)
            return HEDDLE_OK;
    return heddle_fail(HEDDLE_INVALID, "--std: unknown C++ standard '%s'; use c++17, c++20 or c++23", name);
}

// 64, 0.5, 512x512: without a folder or anything like a file name's extension.
static bool looks_like_argument(const char *word)
{
    size_t length = heddle_text_number(word, false);
    if (length > 0 && word[length] == '\0')
        return true;
    for (const char *dot = strchr(word, '.'); dot; dot = strchr(dot + 1, '.'))
        if (isalpha((unsigned char)dot[1]))
            return false;
    return !strchr(word, '/');
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

// A word after the first file that is not a file and does not look like one is probably meant for the program.
static heddle_status refuse_missing_files(const heddle_check_settings *settings, const heddle_cli_arguments *arguments)
{
    for (int i = 1; i < arguments->count && !is_missing(arguments->items[0]); i++) {
        const char *word = arguments->items[i];
        if (!is_missing(word) || !looks_like_argument(word))
            continue;
        if (settings->op)
            return heddle_fail(HEDDLE_INVALID,
                               "%s: no such file; with --op there are no program arguments: use --shape (`heddle ops "
                               "%s` lists its fields)",
                               word, settings->op);
        char file[QUOTED_SIZE], quoted[QUOTED_SIZE];
        return heddle_fail(HEDDLE_INVALID, "%s: no such file; program arguments go after --: %s check %s -- %s", word,
                           heddle_cli_name(), heddle_text_quote(arguments->items[0], file, sizeof file),
                           heddle_text_quote(word, quoted, sizeof quoted));
    }
    return HEDDLE_OK;
}

static bool has_main(const char *path)
{
    enum { LARGEST_EXERCISE = 1 << 20 };
    char *text = NULL;
    size_t size = 0;
    bool found = heddle_file_read(path, LARGEST_EXERCISE, &text, &size) != HEDDLE_OK || strstr(text, "main(");
    free(text);
    return found;
}

// A file of a course folder has no main: it is built with its judge.
static heddle_status refuse_exercise(const char *path)
{
    char state[PATH_MAX] = "", *whole = realpath(path, NULL), *name = whole ? strrchr(whole, '/') : NULL;
    size_t length = name ? strspn(name + 1, "0123456789.") : 0;
    bool numbered = length > 0 && name[1 + length] == '-';
    if (numbered)
        snprintf(state, sizeof state, "%.*s/../%s", (int)(name - whole), whole, heddle_learn_state_name);
    heddle_status status = HEDDLE_OK;
    if (numbered && access(state, F_OK) == 0 && !has_main(whole))
        status = heddle_fail(HEDDLE_INVALID, "%s is an exercise of the course: `%s learn run %.*s` checks it", path,
                             heddle_cli_name(), (int)length, name + 1);
    free(whole);
    return status;
}

// --- what may be written ---------------------------------------------------------------------------------------------

typedef struct report_output {
    const char *option, *path; // path: NULL: not asked for
} report_output;

// What the program includes or reads is known only later, under whatever name and through whatever link: a report may
// replace nothing but an empty file or an earlier report of heddle, which names it near the beginning.
static bool may_be_replaced(const char *path)
{
    static const char *const begins[] = {"{\"version\":", "{\"$schema\":", "<!doctypehtml>"};
    static const char *const names[] = {"\"heddle\"", "\"heddlecheck\"", "heddlecheck</title>"};
    enum { LOOKED_AT = 4096 };
    char text[LOOKED_AT], packed[LOOKED_AT + 1];
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0)
        return true;
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0, used = 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < size; i++)
        if (text[i] && !isspace((unsigned char)text[i]))
            packed[used++] = text[i];
    packed[used] = '\0';
    bool begun = false, named = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        begun |= strncasecmp(packed, begins[i], strlen(begins[i])) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        named |= strstr(packed, names[i]) != NULL;
    return begun && named;
}

static heddle_status refuse_output(const report_output *output, const heddle_check_settings *settings,
                                   const heddle_cli_arguments *arguments)
{
    if (!output->path)
        return HEDDLE_OK;
    bool is_input = heddle_file_is_same(output->path, settings->suppress) ||
                    heddle_file_is_same(output->path, settings->expect.items[0]) ||
                    heddle_file_is_same(output->path, "/dev/stdin");
    for (int i = 0; i < arguments->count && !is_input; i++)
        is_input = heddle_file_is_same(output->path, arguments->items[i]);
    if (is_input)
        return heddle_fail(HEDDLE_INVALID, "%s %s would overwrite an input file; give the report a name of its own",
                           output->option, output->path);
    HEDDLE_TRY(heddle_cli_can_write(output->path));
    if (!may_be_replaced(output->path))
        return heddle_fail(HEDDLE_INVALID,
                           "%s %s would overwrite a file that is not a report of heddle; give the report another name, "
                           "or remove that file first",
                           output->option, output->path);
    return HEDDLE_OK;
}

static heddle_status refuse_outputs(const heddle_check_settings *settings, const heddle_cli_arguments *arguments)
{
    const report_output outputs[] = {
        {"--json", settings->json.file},
        {"--sarif", settings->sarif},
        {"--html", settings->html},
        {"--trace", settings->trace},
    };
    const int count = sizeof outputs / sizeof *outputs;
    for (int i = 0; i < count; i++) {
        HEDDLE_TRY(refuse_output(&outputs[i], settings, arguments));
        for (int k = 0; k < i; k++)
            if (outputs[i].path && outputs[k].path &&
                (strcmp(outputs[i].path, outputs[k].path) == 0 ||
                 heddle_file_is_same(outputs[i].path, outputs[k].path)))
                return heddle_fail(HEDDLE_INVALID, "%s and %s name the same file, %s; give each its own",
                                   outputs[k].option, outputs[i].option, outputs[i].path);
    }
    return HEDDLE_OK;
}

// A project's own build says how its files are compiled.
static heddle_status refuse_project(const heddle_check_settings *settings, const heddle_check_flags *flags)
{
    const struct {
        const char *name;
        bool given;
    } for_files[] = {
        {"--op", settings->op},
        {"--shape", settings->shapes.count > 0},
        {"--include", settings->include.count > 0 || flags->nvcc.include.count > 0},
        {"--define", !settings->cmake && (settings->define.count > 0 || flags->nvcc.compile.count > 0)},
        {"--std", settings->standard},
        {"--library", settings->library.count > 0 || flags->nvcc.link.count > 0},
        {"--compiler", settings->compiler},
        {"--divergence", settings->divergence},
        {"--expect", settings->expect.count > 0},
        {"--kernel", settings->kernel},
        {"--driver", settings->driver},
        {"--watch", settings->watch},
        {"--trace", settings->trace},
        {"--nvcc", settings->nvcc},
    };
    for (size_t i = 0; i < sizeof for_files / sizeof *for_files; i++)
        if (for_files[i].given)
            return heddle_fail(HEDDLE_INVALID, "%s is for a check of files; a project is built by its own command",
                               for_files[i].name);
    for (int i = 0; i < flags->nvcc.compile.count; i++)
        if (strncmp(flags->nvcc.compile.at[i], "-D", 2) != 0)
            return heddle_fail(HEDDLE_INVALID, "%s is for a check of files; --cmake passes only -D NAME=VALUE on",
                               flags->nvcc.compile.at[i]);
    return HEDDLE_OK;
}

static heddle_status refuse_files(const heddle_check_settings *settings, const heddle_cli_arguments *arguments)
{
    if (settings->cmake)
        return heddle_fail(HEDDLE_INVALID, "--cmake %s checks the project in that folder; leave out %s",
                           settings->cmake, arguments->items[0]);
    HEDDLE_TRY(refuse_missing_files(settings, arguments));
    return refuse_exercise(arguments->items[0]);
}

heddle_status heddle_cli_check_refuse(const heddle_check_settings *settings, const heddle_cli_arguments *arguments,
                                      const heddle_check_flags *flags)
{
    HEDDLE_TRY(arguments->count > 0 ? refuse_files(settings, arguments) : refuse_project(settings, flags));
    HEDDLE_TRY(refuse_standard(settings->standard));
    HEDDLE_TRY(heddle_cli_check_kernel_refuse(settings));
    if (settings->expect.count > 0 && settings->op)
        return heddle_fail(HEDDLE_INVALID,
                           "--expect does not go with --op: heddle compares the operator's results itself");
    if (settings->grade && settings->unwatched)
        return heddle_fail(HEDDLE_INVALID, "--grade does not go with --unwatched, which checks nothing");
    if (settings->divergence && settings->unwatched)
        return heddle_fail(HEDDLE_INVALID, "--divergence does not go with --unwatched, which counts nothing");
    if (settings->trace && settings->unwatched)
        return heddle_fail(HEDDLE_INVALID, "--trace does not go with --unwatched, which records nothing");
    return refuse_outputs(settings, arguments);
}
