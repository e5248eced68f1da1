// On a GPU, host and device have a code of their own for each function. The simulator has one, and so a pointer that
// host code takes works here, while a kernel that calls it on a GPU fails. Claims nothing where a name may mean
// something else.

#include "check/device_address.h"

#include "sim/source/scope.h"

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

static bool is_any(const sim_source *source, int token, const char *const *texts)
{
    return sim_token_is_any(source, sim_token_at(&source->code, token), texts);
}

static bool is_in_host_function(const sim_source *source, int token)
{
    const sim_scope *scope = sim_scope_of(source, &source->code.at[token]);
    return scope->kind == SIM_SCOPE_FUNCTION && !sim_scope_is_device(scope);
}

// The bracket that the token stands in; -1: none, or one of template arguments.
static int bracket_around(const sim_source *source, int token)
{
    static const char *const ends[] = {";", "<", NULL}, *const opens[] = {"(", "{", "[", NULL};
    for (int i = token - 1; i >= 0; i--) {
        int match = source->code.at[i].match;
        if (match >= 0 && match < i)
            i = match;
        else if (is_any(source, i, opens))
            return i;
        else if (is_any(source, i, ends))
            return -1;
    }
    return -1;
}

// Whether the name at this token is a value by itself: what is assigned, an argument, or in a list of values.
static bool is_value(const sim_source *source, int token)
{
    static const char *const ends[] = {";", ",", ")", "}", NULL}, *const lists[] = {"=", "]", NULL};
    if (!is_any(source, token + 1, ends))
        return false;
    int begin = is(source, token - 1, "&") ? token - 1 : token;
    static const char *const operators[] = {"=", "!", "<", ">", NULL};
    if (is(source, begin - 1, "="))
        return !is_any(source, begin - 2, operators);
    if (!is(source, begin - 1, ",") && !is(source, begin - 1, "(") && !is(source, begin - 1, "{"))
        return false;
    int open = bracket_around(source, begin);
    if (open < 0 || is(source, open, "["))
        return false;
    static const char *const no_calls[] = {"decltype", "sizeof", "if", "while", "for", "switch", "return", NULL};
    const sim_token *before = sim_token_at(&source->code, open - 1);
    bool called = (before->kind == SIM_TOKEN_NAME || is(source, open - 1, ">")) && !is_any(source, open - 1, no_calls);
    return is(source, open, "(") ? called : is_any(source, open - 1, lists);
}

// What one token with the name says: that it is a function of the device alone, or that it may be something else.
static bool judge(const sim_source *source, int token, bool *declared)
{
    bool device = false;
    const sim_token *before = sim_token_at(&source->code, token - 1);
    if (is(source, token + 1, "=") && !is(source, token + 2, "="))
        return false;
    if (sim_scope_of(source, &source->code.at[token])->kind == SIM_SCOPE_FUNCTION) {
        static const char *const words[] = {"return", "else", "case", "co_return", NULL};
        bool typed = before->kind == SIM_TOKEN_NAME && !is_any(source, token - 1, words);
        return !typed && !is(source, token - 1, "*");
    }
    if (!is(source, token + 1, "(") || sim_scope_of(source, &source->code.at[token])->kind != SIM_SCOPE_FILE)
        return bracket_around(source, token) < 0 && is(source, token - 1, "="); // __device__ op_t device_op = square;
    for (int i = sim_statement_start(source, &source->code, token); i < token; i++) {
        if (is(source, i, "__host__") || is(source, i, "__global__") || is(source, i, "template"))
            return false;
        device |= is(source, i, "__device__");
    }
    *declared |= device;
    return device;
}

static bool is_device_function(const heddle_check_own_files *files, const sim_source *source, int name)
{
    bool declared = false;
    for (int f = 0; f < files->count; f++) {
        const sim_source *file = files->at[f];
        for (int i = 0; i < file->directive_count; i++) {
            const sim_directive *line = &file->directives[i];
            if (line->kind == SIM_DIRECTIVE_DEFINE && line->first < line->last &&
                sim_tokens_equal(source, &source->code.at[name], file, &file->lines.at[line->first]))
                return false;
        }
        for (int i = 0; i < file->code.count; i++)
            if (sim_tokens_equal(source, &source->code.at[name], file, &file->code.at[i]) && !judge(file, i, &declared))
                return false;
    }
    return declared;
}

static heddle_status add(heddle_check_result *result, const sim_source *source, int token)
{
    const sim_token *at = &source->code.at[token];
    heddle_check_place place = heddle_check_own_place(source, token, result->arena);
    return heddle_check_result_add_at(result, HEDDLE_CHECK_HOST_POINTER, HEDDLE_CHECK_ERROR, &place,
                                      "host code takes the address of the device function %.*s, which a kernel cannot "
                                      "call",
                                      (int)(at->end - at->start), source->text + at->start);
}

heddle_status heddle_check_device_addresses_find(heddle_check_result *result, const heddle_check_own_files *files)
{
    for (int f = 0; f < files->count; f++) {
        const sim_source *source = files->at[f];
        for (int i = 0; i < source->code.count; i++)
            if (source->code.at[i].kind == SIM_TOKEN_NAME && is_in_host_function(source, i) && is_value(source, i) &&
                is_device_function(files, source, i))
                HEDDLE_TRY(add(result, source, i));
    }
    return HEDDLE_OK;
}
