// Finding function definitions by their shape: NAME ( ... ) {  at file scope or in a namespace.

#include "check/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/sources.h"
#include "sim/source/scope.h"

enum { LARGEST_SOURCE = 16 << 20, DEEPEST_INCLUDE = 8 };

static bool is_called(const sim_source *source, int index, const char *name)
{
    return sim_token_is(source, &source->code.at[index], name) &&
           sim_token_is(source, sim_token_at(&source->code, index + 1), "(");
}

// After a parameter list: does the body follow? const, noexcept and the like may stand between.
static bool has_body(const sim_source *source, int open)
{
    int at = source->code.at[open].match + 1;
    while (at > 0 && sim_token_at(&source->code, at)->kind == SIM_TOKEN_NAME)
        at++;
    return sim_token_is(source, sim_token_at(&source->code, at), "{");
}

static bool is_kernel(const sim_source *source, int index)
{
    for (int i = sim_statement_start(source, &source->code, index); i < index; i++)
        if (sim_token_is(source, &source->code.at[i], "__global__"))
            return true;
    return false;
}

// Whether the text ends inside a bracket that is never closed. The branches of an #if may each open one that is closed
// once, behind them.
static bool ends_open(const sim_source *source)
{
    const sim_tokens *code = &source->code;
    const sim_token *last = sim_token_at(code, code->count - 1);
    bool closes = sim_token_is(source, last, "}") && last->match >= 0;
    bool open =
        sim_scope_of(source, closes ? &code->at[last->match] : last)->open >= 0 || sim_token_is(source, last, "{");
    for (int i = 0; i < code->count; i++)
        open |= sim_token_is(source, &code->at[i], "(") && code->at[i].match < 0;
    return open;
}

// Whether the text calls or defines `name` anywhere. Where a bracket is open, what a function is cannot be known, and
// the compiler is to say what is wrong.
static bool may_define(const sim_source *source, const char *name)
{
    for (int i = 0; i < source->code.count; i++)
        if (is_called(source, i, name))
            return ends_open(source);
    return false;
}

static heddle_check_defines defines_in(const sim_source *source, const char *name)
{
    for (int i = 0; i < source->code.count; i++)
        if (is_called(source, i, name) && sim_scope_of(source, &source->code.at[i])->kind == SIM_SCOPE_FILE &&
            has_body(source, i + 1))
            return is_kernel(source, i) ? HEDDLE_CHECK_IS_KERNEL : HEDDLE_CHECK_FUNCTION;
    return may_define(source, name) ? HEDDLE_CHECK_FUNCTION : HEDDLE_CHECK_ABSENT;
}

typedef struct wanted_function {
    heddle_check_sources *sources;
    const char *const *folders; // of -I; NULL: none
    const char *name;
} wanted_function;

static heddle_check_defines defines_below(const wanted_function *wanted, const sim_source *source, int depth)
{
    heddle_check_defines defines = defines_in(source, wanted->name);
    for (int i = 0; i < source->directive_count && depth < DEEPEST_INCLUDE && defines == HEDDLE_CHECK_ABSENT; i++) {
        const sim_source *included =
            heddle_check_sources_found(wanted->sources, source, &source->directives[i], wanted->folders);
        if (included)
            defines = defines_below(wanted, included, depth + 1);
    }
    return defines;
}

// Why the file has no tokens.
static heddle_status refuse_unread(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &text, &size));
    free(text);
    return heddle_fail(HEDDLE_OUT_OF_MEMORY, "%s: not enough memory to read it", path);
}

heddle_status heddle_check_file_defines(const char *path, const char *const *folders, const char *name,
                                        heddle_check_defines *defines)
{
    *defines = HEDDLE_CHECK_ABSENT;
    wanted_function wanted = {heddle_check_sources_create(), folders, name};
    const sim_source *source = wanted.sources ? heddle_check_sources_code(wanted.sources, path) : NULL;
    if (source)
        *defines = defines_below(&wanted, source, 0);
    heddle_check_sources_free(wanted.sources);
    return source ? HEDDLE_OK : refuse_unread(path);
}

// Why there is nothing to run in a file, where that is not only a main that is missing; "": that is all.
static const char *what_is_wrong(const char *text, size_t size, bool alone)
{
    size_t blanks = strspn(text, " \t\r\n\f\v");
    if (blanks == size)
        return "the file is empty";
    if (memchr(text, '\0', size))
        return "this is not text: heddle check reads CUDA source, a .cu file";
    if (alone && !strstr(text, "__global__") && !strchr(text, '{') && !strstr(text, "#include"))
        return "this is not CUDA source: it has neither functions nor kernels";
    return "";
}

heddle_status heddle_check_file_refuse(const char *path, bool alone)
{
    char *text = NULL;
    size_t size = 0;
    HEDDLE_TRY(heddle_file_read(path, LARGEST_SOURCE, &text, &size));
    const char *wrong = what_is_wrong(text, size, alone);
    free(text);
    return wrong[0] ? heddle_fail(HEDDLE_INVALID,
                                  "%s: %s; give it a .cu file that has a main, or kernels and the operator they "
                                  "compute by --op",
                                  path, wrong)
                    : HEDDLE_OK;
}
