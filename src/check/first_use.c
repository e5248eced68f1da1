#include "check/first_use.h"

#include "sim/source/scope.h"

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

static bool is_any(const sim_source *source, int token, const char *const *texts)
{
    return sim_token_is_any(source, sim_token_at(&source->code, token), texts);
}

static bool is_name(const sim_source *source, int token)
{
    return sim_token_at(&source->code, token)->kind == SIM_TOKEN_NAME;
}

static bool is_type(const sim_source *source, int token)
{
    static const char *const types[] = {"float",    "double",   "int",      "unsigned", "long",    "short",  "char",
                                        "bool",     "half",     "__half",   "half2",    "__half2", "size_t", "uint",
                                        "int8_t",   "int16_t",  "int32_t",  "int64_t",  "uint8_t", "float2", "float4",
                                        "uint16_t", "uint32_t", "uint64_t", "T",        NULL};
    return is_any(source, token, types);
}

static int behind_brackets(const sim_source *source, int token)
{
    while (is(source, token, "[") && source->code.at[token].match > token)
        token = source->code.at[token].match + 1;
    return token;
}

// Whether the use at this token reads the variable. One that hands it over, as an argument or by its address, may set
// it.
static bool reads(const sim_source *source, int token)
{
    static const char *const before[] = {"&", ">", NULL}, *const opens[] = {"(", ",", NULL},
                             *const ends[] = {")", ",", NULL};
    int behind = behind_brackets(source, token + 1);
    bool assigned = is(source, behind, "=") && !is(source, behind + 1, "=");
    bool handed_over = is_any(source, token - 1, opens) && is_any(source, behind, ends);
    return !assigned && !handed_over && !is_any(source, token - 1, before);
}

static bool is_read_first(const sim_source *source, int name)
{
    const sim_scope *scope = sim_scope_of(source, &source->code.at[name]);
    int end = scope->open >= 0 ? source->code.at[scope->open].match : -1;
    for (int i = name + 1; i < end; i++)
        if (sim_tokens_equal(source, &source->code.at[name], source, &source->code.at[i]) && !is(source, i - 1, "."))
            return reads(source, i);
    return false;
}

// The declarators behind a type: float a, b[4], c = 0;
static bool declares_one_read_first(const sim_source *source, int name)
{
    static const char *const ends[] = {";", ",", NULL};
    while (is_name(source, name)) {
        int behind = behind_brackets(source, name + 1);
        if (!is_any(source, behind, ends))
            return false;
        if (is_read_first(source, name))
            return true;
        if (is(source, behind, ";"))
            return false;
        name = behind + 1;
    }
    return false;
}

bool heddle_check_first_use_reads(const heddle_check_own_files *files)
{
    static const char *const before[] = {";", "{", "}", ")", NULL};
    for (int f = 0; f < files->count; f++) {
        const sim_source *source = files->at[f];
        for (int i = 0; i < source->code.count; i++) {
            const sim_scope *scope =
                is_type(source, i) && is_any(source, i - 1, before) ? sim_scope_of(source, &source->code.at[i]) : NULL;
            if (!scope || scope->kind != SIM_SCOPE_FUNCTION || !sim_scope_is_device(scope))
                continue;
            while (is_type(source, i + 1)) // unsigned long long
                i++;
            if (declares_one_read_first(source, i + 1))
                return true;
        }
    }
    return false;
}
