// Claims nothing where a name may mean something else: a kernel's name that is also a function's, a variable's or a
// macro's is passed over.

#include "check/slips.h"

#include <string.h>

#include "check/device_address.h"
#include "check/own.h"
#include "sim/source/scope.h"

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

// Whether a statement begins at this token.
static bool begins_statement(const sim_source *source, int token)
{
    static const char *const before[] = {";", "{", "}", ")", "else", "do", NULL};
    return sim_token_is_any(source, sim_token_at(&source->code, token - 1), before);
}

// --- a kernel that is called like a function -------------------------------------------------------------------------

static const char kernel_word[] = "kernel ", called_plainly[] = " is called like a function";

bool heddle_check_is_plain_call(const heddle_check_finding *finding, const char *function)
{
    const char *end = finding->kind == HEDDLE_CHECK_NOT_LEGAL ? strstr(finding->message, called_plainly) : NULL;
    const char *name = finding->message + sizeof kernel_word - 1;
    size_t length = end ? (size_t)(end - name) : 0;
    return end && strncmp(function, name, length) == 0 && !sim_is_name(function[length]);
}

static bool is_kernel_here(const sim_source *source, int token)
{
    for (int i = sim_statement_start(source, &source->code, token); i < token; i++)
        if (is(source, i, "__global__"))
            return true;
    return false;
}

// The token behind a name and its template arguments; -1: it is launched.
static int behind_name(const sim_source *source, int token)
{
    if (is(source, token + 1, "<") && is(source, token + 2, "<"))
        return -1;
    return is(source, token + 1, "<") ? sim_behind_angles(source, &source->code, token + 1) : token + 1;
}

// Whether what the name at `token` of `source` is in one file is not a kernel, or may be something else.
static bool means_something_else(const sim_source *source, const sim_token *name, const sim_source *file)
{
    for (int i = 0; i < file->directive_count; i++) {
        const sim_directive *line = &file->directives[i];
        if (line->kind == SIM_DIRECTIVE_DEFINE && line->first < line->last &&
            sim_tokens_equal(source, name, file, &file->lines.at[line->first]))
            return true;
    }
    for (int i = 0; i < file->code.count; i++) {
        const sim_token *token = &file->code.at[i];
        if (!sim_tokens_equal(source, name, file, token))
            continue;
        sim_scope_kind scope = sim_scope_of(file, token)->kind;
        bool declares = scope == SIM_SCOPE_CLASS || (scope == SIM_SCOPE_FILE && is(file, i + 1, "("));
        bool is_variable = is(file, i + 1, "=") || is(file, i + 1, "{") || is(file, i + 1, "[");
        if (is_variable || (declares && !is_kernel_here(file, i)))
            return true;
    }
    return false;
}

static bool is_kernel(const heddle_check_own_files *files, const sim_source *source, const sim_token *name)
{
    bool found = false;
    for (int f = 0; f < files->count; f++) {
        const sim_source *file = files->at[f];
        if (means_something_else(source, name, file))
            return false;
        for (int i = 0; i < file->code.count && !found; i++)
            found = sim_tokens_equal(source, name, file, &file->code.at[i]) && is(file, i + 1, "(") &&
                    sim_scope_of(file, &file->code.at[i])->kind == SIM_SCOPE_FILE && is_kernel_here(file, i);
    }
    return found;
}

static bool is_plain_call(const heddle_check_own_files *files, const sim_source *source, int token)
{
    const sim_token *name = &source->code.at[token];
    const sim_scope *scope = sim_scope_of(source, name);
    int open = name->kind == SIM_TOKEN_NAME && begins_statement(source, token) ? behind_name(source, token) : -1;
    return open >= 0 && is(source, open, "(") && scope->kind == SIM_SCOPE_FUNCTION && !sim_scope_is_device(scope) &&
           is_kernel(files, source, name);
}

static heddle_status add_plain_call(const sim_source *source, int token, heddle_check_result *result)
{
    const sim_token *name = &source->code.at[token];
    int length = (int)(name->end - name->start);
    const char *text = source->text + name->start;
    heddle_check_place place = heddle_check_own_place(source, token, result->arena);
    return heddle_check_result_add_at(result, HEDDLE_CHECK_NOT_LEGAL, HEDDLE_CHECK_ERROR, &place,
                                      "%s%.*s%s, without <<<blocks, threads>>>: nvcc rejects that, and no GPU "
                                      "thread would run it",
                                      kernel_word, length, text, called_plainly);
}

// --- a barrier that is named and not called --------------------------------------------------------------------------

static bool is_uncalled(const sim_source *source, int token)
{
    static const char *const names[] = {"__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block", NULL};
    return sim_token_is_any(source, &source->code.at[token], names) && begins_statement(source, token) &&
           is(source, token + 1, ";");
}

static heddle_status note_uncalled(const sim_source *source, int token, heddle_check_result *result)
{
    const sim_token *name = &source->code.at[token];
    int length = (int)(name->end - name->start);
    const char *text = source->text + name->start;
    return heddle_check_result_note(result,
                                    "%s:%d: `%.*s;` does nothing: without parentheses it is not called; write "
                                    "`%.*s();`",
                                    heddle_check_file_name(source->path), name->line, length, text, length, text);
}

int heddle_check_uncalled_barrier(const sim_source *source, int first_line, int last_line)
{
    int token, behind;
    for (sim_tokens_on_line(&source->code, first_line, &token, &behind);
         token < source->code.count && source->code.at[token].line <= last_line; token++)
        if (is_uncalled(source, token))
            return source->code.at[token].line;
    return 0;
}

// --- all of it -------------------------------------------------------------------------------------------------------

heddle_status heddle_check_slips_find(heddle_check_result *result, const char *const *sources)
{
    heddle_check_own_files files = heddle_check_own_files_read(result->sources, sources);
    for (int f = 0; f < files.count; f++) {
        const sim_source *source = files.at[f];
        for (int i = 0; i < source->code.count; i++) {
            if (is_plain_call(&files, source, i))
                HEDDLE_TRY(add_plain_call(source, i, result));
            if (is_uncalled(source, i))
                HEDDLE_TRY(note_uncalled(source, i, result));
        }
    }
    return heddle_check_device_addresses_find(result, &files);
}
