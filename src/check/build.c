// Builds with the simulator's compiler driver.

#include "check/build.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/advice.h"
#include "sim/build/build.h"

static const double usual_seconds = 300; // for a compiler; templates that take longer rarely end at all

static size_t length_of(const char *const *items)
{
    size_t count = 0;
    while (items && items[count])
        count++;
    return count;
}

// Options of a list with their letter before them, -DNAME; then those of `more`; then, unless it is NULL or older than
// C++17, -std=STANDARD. The caller frees the list and what it holds.
static char **with_letter(const char *const *items, const char *letter, const char *const *more, const char *standard)
{
    size_t count = length_of(items), more_count = length_of(more);
    char **list = calloc(count + more_count + 2, sizeof *list);
    size_t used = 0;
    for (size_t i = 0; list && i < count; i++) // an empty one would take the next word for its own
        if (items[i][0] && asprintf(&list[used++], "%s%s", letter, items[i]) < 0)
            list[--used] = NULL;
    count = used;
    for (size_t i = 0; list && i < more_count; i++)
        list[count + i] = strdup(more[i]);
    if (list && standard && !sim_build_raises_standard(standard) &&
        asprintf(&list[count + more_count], "-std=%s", standard) < 0)
        list[count + more_count] = NULL;
    return list;
}

// File names of a list as the compiler takes them: it reads `@name` as a file of options, and `-name` as an option.
static char **as_names(const char *const *items)
{
    size_t count = length_of(items);
    char **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (asprintf(&list[i], "%s%s", strchr("@-", items[i][0]) ? "./" : "", items[i]) < 0)
            list[i] = NULL;
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

static bool says_any(const sim_build_message *message, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(message->text, *parts))
            return true;
    return false;
}

// Why each function of that name does not fit a call: they are the simulator's, mostly templates, and many.
static bool is_about_candidate(const sim_build_result *built, int at)
{
    static const char *const calls[] = {"no matching function for call", "is ambiguous", NULL};
    static const char *const reasons[] = {
        "invalid conversion",  "cannot convert",  "candidate",           "mismatched types",
        "no known conversion", "couldn't deduce", "substitution failed", NULL};
    const sim_build_message *message = &built->messages[at];
    if (!message->file || !says_any(message, reasons))
        return false;
    for (int i = at - 1; i >= 0; i--) {
        const sim_build_message *before = &built->messages[i];
        if (!before->file || strcmp(before->file, message->file) != 0 || before->line != message->line)
            return false;
        if (before->kind == SIM_MESSAGE_ERROR && says_any(before, calls))
            return true;
    }
    return false;
}

// The type of blockDim and gridDim is called as in CUDA.
static void use_names_of_cuda(sim_build_result *built)
{
    static const char own[] = "sim_extent", name[] = "dim3";
    for (int i = 0; i < built->count; i++)
        for (char *at = built->messages[i].text; (at = strstr(at, own)); at += sizeof name - 1) {
            memcpy(at, name, sizeof name - 1);
            memmove(at + sizeof name - 1, at + sizeof own - 1, strlen(at + sizeof own - 1) + 1);
        }
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
        char *text = is_about_candidate(built, i) ? NULL : sim_build_message_text(&built->messages[i]);
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

// A message of the compiler as a finding.
static heddle_status add_message(const sim_build_message *message, heddle_check_kind kind, heddle_check_tier tier,
                                 heddle_check_result *result)
{
    char *absolute = message->file ? realpath(message->file, NULL) : NULL;
    heddle_check_place place = {.role = "source", .frames = message->file ? 1 : 0};
    place.frame[0] = (heddle_check_frame){
        .file = heddle_arena_copy_text(result->arena, absolute        ? absolute
                                                      : message->file ? message->file
                                                                      : ""),
        .line = message->line,
        .column = message->column,
        .function = "",
    };
    free(absolute);
    heddle_check_finding finding = {
        .kind = kind,
        .tier = tier,
        .count = 1,
        .message = heddle_arena_copy_text(result->arena, message->text),
        .note = "",
        .places = &place,
        .place_count = message->file ? 1 : 0,
    };
    if (!finding.message || !place.frame[0].file)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the compiler's messages");
    return heddle_check_result_add_finding(result, &finding);
}

// So that every form of the result carries why nothing was run.
static heddle_status add_errors(const sim_build_result *built, heddle_check_result *result)
{
    for (int i = 0; i < built->count; i++)
        if (built->messages[i].kind == SIM_MESSAGE_ERROR && !is_about_candidate(built, i))
            HEDDLE_TRY(add_message(&built->messages[i], HEDDLE_CHECK_NOT_BUILT, HEDDLE_CHECK_ERROR, result));
    return result->finding_count > 0 ? HEDDLE_OK
                                     : heddle_check_result_add(result, HEDDLE_CHECK_NOT_BUILT, HEDDLE_CHECK_ERROR,
                                                               "The compiler failed and did not say why.");
}

// What beginners and people who come from C write is said once, as a note.
static heddle_status add_habits(const sim_build_result *built, heddle_check_result *result)
{
    for (int i = 0; i < built->count; i++) {
        const sim_build_message *message = &built->messages[i];
        if (message->kind != SIM_MESSAGE_ERROR || !message->file)
            continue;
        const sim_source *source = heddle_check_sources_code(result->sources, message->file);
        const char *habit = heddle_check_habit_of_c(message->file, message->text, source, message->line);
        habit = habit ? habit : heddle_check_wants_address(message->text);
        for (int n = 0; habit && n < result->note_count; n++)
            habit = strcmp(result->notes[n], habit) == 0 ? NULL : habit;
        if (habit)
            HEDDLE_TRY(heddle_check_result_note(result, "%s", habit));
    }
    return HEDDLE_OK;
}

// All that the compiler suspects, in one line: ‘v’ at a.cu:2, ‘w’ at a.cu:7.
static heddle_status note_suspected(const char *list, heddle_check_result *result)
{
    if (result->suspected == 0)
        return HEDDLE_OK;
    return heddle_check_result_note(result,
                                    "the compiler thinks that local variables may be read before they are set, if a "
                                    "thread takes that path: %s; local variables are not watched",
                                    list);
}

static void list_suspected(const sim_build_message *message, heddle_check_result *result, FILE *list)
{
    const char *end = strstr(message->text, " may be ");
    end = end ? end : strstr(message->text, " is used");
    size_t length = end ? (size_t)(end - message->text) : strcspn(message->text, "[");
    fprintf(list, "%s%.*s at %s:%d", result->suspected++ ? ", " : "", (int)length, message->text, message->file,
            message->line);
}

// Registers and stacks of threads are not watched: what the compiler knows of variables that are read before they are
// set is all that there is. What it is sure of is a finding, what it suspects a note.
static heddle_status add_warnings(const sim_build_result *built, heddle_check_result *result)
{
    char *suspected = NULL;
    size_t size = 0;
    heddle_status status = HEDDLE_OK;
    FILE *list = open_memstream(&suspected, &size);
    if (!list)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the compiler's messages");
    for (int i = 0; i < built->count && status == HEDDLE_OK; i++) {
        const sim_build_message *message = &built->messages[i];
        if (message->kind != SIM_MESSAGE_WARNING || !message->file || !strstr(message->text, "uninitialized"))
            continue;
        if (strstr(message->text, " may be ") || strstr(message->text, "sometimes-uninit"))
            list_suspected(message, result, list);
        else
            status = add_message(message, HEDDLE_CHECK_UNINITIALISED, HEDDLE_CHECK_WARNING, result);
    }
    fclose(list);
    if (status == HEDDLE_OK)
        status = note_suspected(suspected, result);
    free(suspected);
    return status;
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
        result->built = true;
        HEDDLE_TRY(keep_messages(built, result));
        return add_warnings(built, result);
    case SIM_BUILD_FAILED:
        HEDDLE_TRY(keep_messages(built, result));
        HEDDLE_TRY(add_habits(built, result));
        return add_errors(built, result);
    case SIM_BUILD_USAGE: return fail_with(HEDDLE_INVALID, built, "the build's options are wrong");
    case SIM_BUILD_NO_COMPILER:
        return fail_with(HEDDLE_MISSING, built,
                         "no C++ compiler found; install g++ or clang, or give one with --compiler");
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

// `counting`: the program counts divergent branches, and nothing is asked of the compiler but to build it.
static heddle_status build(const heddle_check_options *options, const char *const *sources,
                           const heddle_check_folder *folder, const char *program, bool counting,
                           sim_build_status *outcome, sim_build_result *built)
{
    char **defines = with_letter(options->define, "-D", options->compile, options->standard);
    char **libraries = with_letter(options->library, "-l", options->link, NULL);
    char **files = as_names(sources), **folders = as_names(options->include);
    heddle_status status =
        defines && libraries && files && folders ? HEDDLE_OK : heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to build");
    if (status == HEDDLE_OK) {
        sim_build_options how = {
            .files = (const char *const *)files,
            .include = (const char *const *)folders,
            .compile = (const char *const *)defines,
            .link = (const char *const *)libraries,
            .output = program,
            .compiler = options->compiler,
            .folder = folder->path,
            .seconds = options->build_seconds > 0 ? options->build_seconds : fmax(usual_seconds, options->seconds),
            .memory = options->memory ? options->memory : heddle_child_usual_memory(),
            .separate = options->separate,
            .all_cuda = options->all_cuda,
            .torch = options->kernel || options->driver,
            .unwatched = options->unwatched,
            .branches = counting,
            .uninitialised = !options->unwatched && !counting,
            .maybe_uninitialised = options->doubts,
        };
        *outcome = build_in_spite_of_broken_pipes(&how, built);
    }
    free_list(defines);
    free_list(libraries);
    free_list(files);
    free_list(folders);
    return status;
}

static heddle_status note_flags(const heddle_check_options *options, heddle_check_result *result)
{
    if (options->standard && sim_build_raises_standard(options->standard))
        HEDDLE_TRY(heddle_check_result_note(result, "-std=%s: checked as C++17", options->standard));
    return options->ignored
               ? heddle_check_result_note(result, "flags that change nothing in a check: %s", options->ignored)
               : HEDDLE_OK;
}

heddle_status heddle_check_build(const heddle_check_options *options, const char *const *sources,
                                 const heddle_check_folder *folder, const char *program, heddle_check_result *result)
{
    sim_build_result built = {0};
    sim_build_status outcome;
    HEDDLE_TRY(note_flags(options, result));
    heddle_status status = build(options, sources, folder, program, false, &outcome, &built);
    use_names_of_cuda(&built);
    if (status == HEDDLE_OK)
        status = judge(outcome, &built, result);
    sim_build_result_free(&built);
    return status;
}

heddle_status heddle_check_build_counting(const heddle_check_options *options, const char *const *sources,
                                          const heddle_check_folder *folder, const char *program,
                                          heddle_check_result *result, bool *fine)
{
    sim_build_result built = {0};
    sim_build_status outcome;
    heddle_status status = build(options, sources, folder, program, true, &outcome, &built);
    *fine = status == HEDDLE_OK && outcome == SIM_BUILD_FINE;
    if (status == HEDDLE_OK && !*fine) {
        fail_with(HEDDLE_IO, &built, "the compiler failed and did not say why");
        status = heddle_check_result_note(result, "divergent branches were not counted: %s", heddle_last_error());
    }
    sim_build_result_free(&built);
    return status;
}

heddle_status heddle_check_build_filled(const heddle_check_options *options, const char *const *sources,
                                        const heddle_check_folder *folder, const char *program, const char *value,
                                        bool *fine)
{
    heddle_check_options how = *options;
    sim_build_result built = {0};
    sim_build_status outcome = SIM_BUILD_FAILED;
    size_t count = length_of(options->compile);
    const char **compile = calloc(count + 2, sizeof *compile);
    char filled[64];
    *fine = false;
    if (!compile)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to build");
    for (size_t i = 0; i < count; i++)
        compile[i] = options->compile[i];
    snprintf(filled, sizeof filled, "-ftrivial-auto-var-init=%s", value);
    compile[count] = filled;
    how.compile = compile;
    heddle_status status = build(&how, sources, folder, program, false, &outcome, &built);
    *fine = status == HEDDLE_OK && outcome == SIM_BUILD_FINE;
    sim_build_result_free(&built);
    free(compile);
    return status;
}
