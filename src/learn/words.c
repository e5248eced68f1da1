// What a learner's source must and must not hold: words of judge.json, kernels called like functions, shared arrays
// that nvcc takes for something else, the judge's names.

#include <string.h>

#include "learn/judging.h"

// Adds the line of these tokens, with a mark under them.
static void point_to(const heddle_learn_judging *judging, heddle_learn_reason *reason, const heddle_learn_code *code,
                     int first, int count)
{
    const sim_token *begin = &code->tokens.at[first], *end = begin;
    while (end + 1 < begin + count && end[1].line == begin->line)
        end++;
    heddle_check_place place = {.frame = {{.file = judging->source, .line = begin->line, .function = ""}},
                                .frames = 1,
                                .column = (int)(begin->start - sim_line_start(&code->source, begin)) + 1,
                                .width = (int)(end->end - begin->start)};
    heddle_learn_quote(judging, reason, &place, "");
}

// --- words of judge.json ---------------------------------------------------------------------------------------------

static heddle_status apply_word(const heddle_learn_judging *judging, const heddle_learn_code *code,
                                const heddle_learn_word *word, bool wanted)
{
    heddle_learn_code words;
    int count;
    HEDDLE_TRY(heddle_learn_code_read(word->text, &words));
    int found = heddle_learn_code_find(code, &words, &count);
    heddle_learn_code_free(&words);
    if (wanted == (found >= 0))
        return HEDDLE_OK;
    heddle_learn_reason *reason = heddle_learn_add_reason(
        judging->verdict, "source", HEDDLE_LEARN_RANK_SOURCE,
        wanted ? "this exercise is about `%s`: use it" : "solve this exercise without `%s`", word->text);
    if (!wanted)
        point_to(judging, reason, code, found, count);
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT, "%s", word->why);
    return HEDDLE_OK;
}

heddle_status heddle_learn_apply_words(const heddle_learn_judging *judging, const heddle_learn_code *code)
{
    for (const heddle_learn_word *word = judging->rules->must_use; word && word->text; word++)
        HEDDLE_TRY(apply_word(judging, code, word, true));
    for (const heddle_learn_word *word = judging->rules->must_not_use; word && word->text; word++)
        HEDDLE_TRY(apply_word(judging, code, word, false));
    return HEDDLE_OK;
}

// --- kernels that are called like functions --------------------------------------------------------------------------

static bool is_any(const heddle_learn_code *code, int index, const char *const *texts)
{
    return sim_token_is_any(&code->source, sim_token_at(&code->tokens, index), texts);
}

static int behind_parentheses(const heddle_learn_code *code, int open)
{
    int depth = 0;
    for (int i = open; i < code->tokens.count; i++) {
        depth += heddle_learn_code_is(code, i, "(") - heddle_learn_code_is(code, i, ")");
        if (depth == 0)
            return i + 1;
    }
    return code->tokens.count;
}

// The name of the kernel whose __global__ is token `at`; -1: none follows.
static int kernel_name(const heddle_learn_code *code, int at)
{
    static const char *const attributes[] = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__attribute__",
                                             NULL};
    static const char *const ends[] = {";", "{", "}", NULL};
    for (int i = at + 1; i < code->tokens.count && !is_any(code, i, ends); i++) {
        if (!heddle_learn_code_is(code, i, "("))
            continue;
        if (!is_any(code, i - 1, attributes))
            return code->tokens.at[i - 1].kind == SIM_TOKEN_NAME ? i - 1 : -1;
        i = behind_parentheses(code, i) - 1;
    }
    return -1;
}

static bool is_kernels_own(const heddle_learn_code *code, int name)
{
    for (int i = 0; i < name; i++)
        if (heddle_learn_code_is(code, i, "__global__") && kernel_name(code, i) == name)
            return true;
    return false;
}

// A name of something else: of a namespace, a class or an object.
static bool is_member(const heddle_learn_code *code, int name)
{
    return heddle_learn_code_is(code, name - 1, "::") || heddle_learn_code_is(code, name - 1, ".") ||
           (heddle_learn_code_is(code, name - 1, ">") && heddle_learn_code_is(code, name - 2, "-"));
}

// "void one", "int *one", "vector<int> one": a type stands before the name.
static bool is_declared(const heddle_learn_code *code, int name)
{
    static const char *const statements[] = {"return",    "else", "do", "case", "throw",
                                             "co_return", "and",  "or", "not",  NULL};
    static const char *const signs[] = {"*", "&", ">", NULL};
    int before = name - 1;
    while (is_any(code, before, signs))
        before--;
    bool word = sim_token_at(&code->tokens, before)->kind == SIM_TOKEN_NAME && !is_any(code, before, statements);
    return (word || heddle_learn_code_is(code, name - 1, ">")) && !is_member(code, name);
}

// Where the kernel is called. Not known, and so -1, where the name also means something else in this file.
static int find_call(const heddle_learn_code *code, int kernel)
{
    const sim_token *token = &code->tokens.at[kernel];
    int call = -1;
    for (int i = 0; i < code->tokens.count; i++) {
        if (code->tokens.at[i].kind != SIM_TOKEN_NAME ||
            !sim_tokens_equal(&code->source, &code->tokens.at[i], &code->source, token) || is_kernels_own(code, i))
            continue;
        if (is_declared(code, i))
            return -1;
        if (call < 0 && heddle_learn_code_is(code, i + 1, "(") && !is_member(code, i))
            call = i;
    }
    return call;
}

void heddle_learn_refuse_calls(const heddle_learn_judging *judging, const heddle_learn_code *code)
{
    for (int i = 0; i < code->tokens.count; i++) {
        int name = heddle_learn_code_is(code, i, "__global__") ? kernel_name(code, i) : -1;
        int call = name >= 0 ? find_call(code, name) : -1;
        if (call < 0)
            continue;
        const sim_token *token = &code->tokens.at[name];
        const char *text = code->source.text + token->start;
        int length = (int)(token->end - token->start);
        heddle_learn_reason *reason = heddle_learn_add_reason(
            judging->verdict, "compile", HEDDLE_LEARN_RANK_COMPILE,
            "it does not compile: %.*s is a kernel and is called like a function", length, text);
        point_to(judging, reason, code, call, 1);
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                              "A kernel is launched, not called: say how many threads run it, as in "
                              "`%.*s<<<blocks, threads per block>>>(…)`.",
                              length, text);
    }
}

// --- shared arrays with a value, or with a size beside `extern`
// ---------------------------------------------------------

// The token at which the declaration of a __shared__ variable gives it a value; -1: it does not.
static int find_initialiser(const heddle_learn_code *code, int shared)
{
    int depth = 0;
    for (int i = shared + 1; i < code->tokens.count && !heddle_learn_code_is(code, i, ";"); i++) {
        bool brace = heddle_learn_code_is(code, i, "{") && heddle_learn_code_is(code, i - 1, "]");
        if (depth == 0 && (brace || heddle_learn_code_is(code, i, "=")))
            return i;
        depth += heddle_learn_code_is(code, i, "{") - heddle_learn_code_is(code, i, "}");
    }
    return -1;
}

// The size of an `extern __shared__` array; -1: it has none, as it should. `shared`: either of the two words.
static int find_size(const heddle_learn_code *code, int shared)
{
    bool external =
        heddle_learn_code_is(code, shared - 1, "extern") || heddle_learn_code_is(code, shared + 1, "extern");
    for (int i = shared + 1; external && i < code->tokens.count && !heddle_learn_code_is(code, i, ";"); i++)
        if (heddle_learn_code_is(code, i, "[") && !heddle_learn_code_is(code, i + 1, "]"))
            return i + 1;
    return -1;
}

void heddle_learn_refuse_sizes(const heddle_learn_judging *judging, const heddle_learn_code *code)
{
    for (int i = 0; i < code->tokens.count; i++) {
        int size = heddle_learn_code_is(code, i, "__shared__") ? find_size(code, i) : -1;
        if (size < 0)
            continue;
        heddle_learn_reason *reason = heddle_learn_add_reason(judging->verdict, "source", HEDDLE_LEARN_RANK_SOURCE,
                                                              "an `extern __shared__` array has no size of its own");
        point_to(judging, reason, code, size, 1);
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                              "The launch decides its size, so leave the brackets empty. With a size, nvcc ignores "
                              "`extern`: the array gets a fixed size, besides the bytes of the launch.");
    }
}

void heddle_learn_refuse_initialisers(const heddle_learn_judging *judging, const heddle_learn_code *code)
{
    for (int i = 0; i < code->tokens.count; i++) {
        int value = heddle_learn_code_is(code, i, "__shared__") ? find_initialiser(code, i) : -1;
        if (value < 0)
            continue;
        heddle_learn_reason *reason =
            heddle_learn_add_reason(judging->verdict, "compile", HEDDLE_LEARN_RANK_COMPILE,
                                    "it does not compile: a `__shared__` variable cannot have an initialiser");
        point_to(judging, reason, code, value, 1);
        heddle_learn_add_item(
            judging->verdict, reason, HEDDLE_LEARN_ADVICE,
            "nvcc refuses it: shared memory begins anew with each block, and nothing fills it. Let the "
            "threads write the values, then put __syncthreads().");
    }
}

// --- the judge's names -----------------------------------------------------------------------------------------------

// The judge includes the learner's file behind learn.h: such a macro would change the judge, such a call would be its.
static bool is_judges(const heddle_learn_code *code, int index)
{
    static const char *const directives[] = {"define", "undef", NULL};
    const sim_token *token = &code->tokens.at[index];
    const char *text = code->source.text + token->start;
    if (token->kind != SIM_TOKEN_NAME)
        return false;
    if (strncmp(text, "LEARN_", strlen("LEARN_")) == 0)
        return true;
    return strncmp(text, "learn_", strlen("learn_")) == 0 &&
           (heddle_learn_code_is(code, index + 1, "(") ||
            (is_any(code, index - 1, directives) && heddle_learn_code_is(code, index - 2, "#")));
}

bool heddle_learn_refuse_names(const heddle_learn_judging *judging, const heddle_learn_code *code)
{
    for (int i = 0; i < code->tokens.count; i++) {
        if (!is_judges(code, i))
            continue;
        const sim_token *token = &code->tokens.at[i];
        heddle_learn_reason *reason = heddle_learn_add_reason(
            judging->verdict, "source", HEDDLE_LEARN_RANK_COMPILE, "%.*s is a name of the judge",
            (int)(token->end - token->start), code->source.text + token->start);
        point_to(judging, reason, code, i, 1);
        heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                              "Names that begin with learn_ belong to the judge: choose another name.");
        return true;
    }
    return false;
}
