// Names in tables, and a look at where their results go: a result is followed through the variables of its function
// that it is assigned to, not into functions that are called, and not through memory.

#include "check/fidelity.h"

#include <stdio.h>
#include <string.h>

#include "check/own.h"
#include "sim/source/scope.h"
#include "sim/source/statement.h"

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

// --- what there is ---------------------------------------------------------------------------------------------------

static const char *const fast_math[] = {"__sinf",  "__cosf",   "__tanf", "__sincosf",  "__expf",  "__exp10f", "__logf",
                                        "__log2f", "__log10f", "__powf", "__fdividef", "__tanhf", NULL};
static const char *const mathematics[] = {
    "sin",     "cos",    "tan",    "asin",     "acos",    "atan",  "atan2",   "sincos", "sinh", "cosh",  "tanh",
    "exp",     "exp2",   "exp10",  "expm1",    "log",     "log2",  "log10",   "log1p",  "pow",  "cbrt",  "rsqrt",
    "erf",     "erfc",   "tgamma", "lgamma",   "sinpi",   "cospi", "normcdf", "hypot",  "sinf", "cosf",  "tanf",
    "asinf",   "acosf",  "atanf",  "atan2f",   "sincosf", "sinhf", "coshf",   "tanhf",  "expf", "exp2f", "exp10f",
    "expm1f",  "logf",   "log2f",  "log10f",   "log1pf",  "powf",  "cbrtf",   "rsqrtf", "erff", "erfcf", "tgammaf",
    "lgammaf", "sinpif", "cospif", "normcdff", "hypotf",  NULL};
static const char *const tensor[] = {"mma_sync", NULL};
static const char *const clocks[] = {"clock", "clock64", "cudaEventElapsedTime", "__globaltimer", NULL};

// Inside the text of an asm statement.
static const struct {
    const char *text, *name;
    heddle_check_fidelity fidelity;
} instructions[] = {{"mma.sync", "mma.sync", HEDDLE_CHECK_TENSOR},
                    {"globaltimer", "%globaltimer", HEDDLE_CHECK_TIMING},
                    {"%clock", "%clock", HEDDLE_CHECK_TIMING},
                    {"smid", "%smid", HEDDLE_CHECK_PLACEMENT}};
// By how their calls begin.
static const struct {
    const char *prefix, *name;
} libraries[] = {
    {"cublas", "cuBLAS"},        {"cudnn", "cuDNN"},       {"cufft", "cuFFT"},      {"curandGenerateNormal", "cuRAND"},
    {"curand_normal", "cuRAND"}, {"cusolver", "cuSOLVER"}, {"cusparse", "cuSPARSE"}};

const char *heddle_check_fidelity_name(heddle_check_fidelity fidelity)
{
    static const char *const names[] = {"fast-math", "math", "tensor-core", "library", "timing", "placement"};
    return names[fidelity];
}

static bool begins(const sim_source *source, const sim_token *token, const char *prefix)
{
    size_t length = strlen(prefix);
    return token->end - token->start >= length && memcmp(source->text + token->start, prefix, length) == 0;
}

// --- where results go ------------------------------------------------------------------------------------------------

enum { MOST_NAMES = 16 };

// The variables of a function that hold a result, or what was computed from it.
typedef struct holders {
    const sim_token *at[MOST_NAMES];
    int count;
} holders;

static bool holds(const sim_source *source, const holders *names, int token)
{
    for (int i = 0; i < names->count; i++)
        if (sim_tokens_equal(source, names->at[i], source, &source->code.at[token]))
            return !is(source, token - 1, ".");
    return false;
}

// The variable that the expression with this token is assigned to; NULL: none.
static const sim_token *assigned(const sim_source *source, int token)
{
    static const char *const ends[] = {";", "{", "}", NULL}, *const compares[] = {"=", "!", "<", ">", NULL};
    static const char *const operators[] = {"+", "-", "*", "/", NULL};
    const sim_tokens *code = &source->code;
    for (int i = token - 1; i > 1 && !sim_token_is_any(source, &code->at[i], ends); i--) {
        const sim_token *before = &code->at[i - 1];
        if (!is(source, i, "=") || is(source, i + 1, "=") || sim_token_is_any(source, before, compares))
            continue;
        const sim_token *name = sim_token_is_any(source, before, operators) ? &code->at[i - 2] : before;
        return name->kind == SIM_TOKEN_NAME ? name : NULL;
    }
    return NULL;
}

// What a value at this token decides: it stands in the head of a branch or loop, in an index, or beside a comparison.
static const char *decided_by(const sim_source *source, int token, int open)
{
    static const char *const heads[] = {"if", "while", "switch", "for", NULL};
    const sim_tokens *code = &source->code;
    for (int i = token - 1; i > open && !is(source, i, ";") && !is(source, i, "{") && !is(source, i, "}"); i--) {
        if (code->at[i].match < token)
            continue; // closed before it
        if (is(source, i, "["))
            return "index";
        if (is(source, i, "(") && sim_token_is_any(source, sim_token_at(code, i - 1), heads))
            return "branch";
    }
    int behind = is(source, token + 1, "(") ? code->at[token + 1].match + 1 : token + 1;
    bool before = is(source, token - 1, "<") || is(source, token - 1, ">") ||
                  (is(source, token - 1, "=") && (is(source, token - 2, "=") || is(source, token - 2, "!") ||
                                                  is(source, token - 2, "<") || is(source, token - 2, ">")));
    bool after = is(source, behind, "<") || is(source, behind, ">") ||
                 ((is(source, behind, "=") || is(source, behind, "!")) && is(source, behind + 1, "="));
    return before || after ? "comparison" : NULL;
}

// Follows the result of the call at `token` to the end of its function.
static void follow(const sim_source *source, int token, heddle_check_use *use)
{
    const int open = sim_function_around(source, token), close = open >= 0 ? source->code.at[open].match : -1;
    holders names = {{NULL}, 0};
    for (int i = token; i < close && !use->decides_line; i++) {
        if (i != token && !holds(source, &names, i))
            continue;
        use->decides = decided_by(source, i, open);
        use->decides_line = use->decides ? source->code.at[i].line : 0;
        const sim_token *name = assigned(source, i);
        if (name && names.count < MOST_NAMES)
            names.at[names.count++] = name;
    }
}

// --- all of it -------------------------------------------------------------------------------------------------------

static bool known(const heddle_check_result *result, const char *name)
{
    for (int i = 0; i < result->use_count; i++)
        if (strcmp(result->uses[i].name, name) == 0)
            return true;
    return false;
}

static void add_use(heddle_check_result *result, const sim_source *source, int token, heddle_check_fidelity fidelity,
                    const char *name)
{
    const char *file = heddle_arena_copy_text(result->arena, source->path);
    const char *copy = heddle_arena_copy_text(result->arena, name);
    if (!file || !copy || known(result, name) || result->use_count == HEDDLE_CHECK_MOST_USES)
        return;
    heddle_check_use *use = &result->uses[result->use_count++];
    *use = (heddle_check_use){.fidelity = fidelity, .name = copy, .file = file, .line = source->code.at[token].line};
    if (fidelity == HEDDLE_CHECK_FAST_MATH || fidelity == HEDDLE_CHECK_MATH)
        follow(source, token, use);
}

static void look_at_name(heddle_check_result *result, const sim_source *source, int token)
{
    const sim_token *at = &source->code.at[token];
    char name[64];
    const bool device = sim_scope_is_device(sim_scope_of(source, at));
    const bool member = is(source, token - 1, ".") || (is(source, token - 1, ">") && is(source, token - 2, "-"));
    if (member || !is(source, token + 1, "(") || at->end - at->start >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(at->end - at->start), source->text + at->start);
    if (device && sim_token_is_any(source, at, fast_math))
        add_use(result, source, token, HEDDLE_CHECK_FAST_MATH, name);
    else if (device && sim_token_is_any(source, at, mathematics))
        add_use(result, source, token, HEDDLE_CHECK_MATH, name);
    else if (device && sim_token_is_any(source, at, tensor))
        add_use(result, source, token, HEDDLE_CHECK_TENSOR, name);
    else if (sim_token_is_any(source, at, clocks) && (device || begins(source, at, "cuda")))
        add_use(result, source, token, HEDDLE_CHECK_TIMING, name);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (begins(source, at, libraries[i].prefix))
            add_use(result, source, token, HEDDLE_CHECK_LIBRARY, libraries[i].name);
}

static void look_at_text(heddle_check_result *result, const sim_source *source, int token)
{
    const sim_token *at = &source->code.at[token];
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (sim_scope_is_device(sim_scope_of(source, at)) &&
            memmem(source->text + at->start, at->end - at->start, instructions[i].text, strlen(instructions[i].text)))
            add_use(result, source, token, instructions[i].fidelity, instructions[i].name);
}

// "__expf (line 12), mma_sync (line 30)" of these uses; returns how many.
static int list(const heddle_check_result *result, bool simulated, char *text, size_t size)
{
    int count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < result->use_count && used < size; i++) {
        const heddle_check_use *use = &result->uses[i];
        // Last bits alone are worth a word only where they decide something.
        const bool rounds = use->fidelity == HEDDLE_CHECK_MATH || use->fidelity == HEDDLE_CHECK_LIBRARY;
        if ((rounds && !use->decides_line) || simulated != (use->fidelity < HEDDLE_CHECK_TIMING))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (line %d)", count++ ? ", " : "", use->name, use->line);
        if (use->decides_line && used < size)
            used += (size_t)snprintf(text + used, size - used, ", which may decide the %s of line %d", use->decides,
                                     use->decides_line);
    }
    return count;
}

heddle_status heddle_check_fidelity_find(heddle_check_result *result, const char *const *sources)
{
    heddle_check_own_files files = heddle_check_own_files_read(result->sources, sources);
    for (int f = 0; f < files.count; f++)
        for (int i = 0; i < files.at[f]->code.count; i++) {
            const sim_token *token = &files.at[f]->code.at[i];
            if (token->kind == SIM_TOKEN_NAME)
                look_at_name(result, files.at[f], i);
            else if (token->kind == SIM_TOKEN_STRING)
                look_at_text(result, files.at[f], i);
        }
    char text[512];
    if (list(result, true, text, sizeof text))
        HEDDLE_TRY(heddle_check_result_note(result, "approximate: %s; a GPU gives other last bits", text));
    return list(result, false, text, sizeof text) ? heddle_check_result_note(result, "not simulated: %s", text)
                                                  : HEDDLE_OK;
}
