// Calls of CUDA's functions whose status the program checks where it makes them: in a condition, a comparison, a
// variable that is used later, a return. sim_handled("cudaX") before such a call says so, because a call that is
// expected to fail and is handled is not a mistake. A call whose status goes to a checker alone, CHECK(cudaX(...));,
// is not one of them: what fails there was not expected.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/unit.h"

enum { LONGEST_NAME = 96 };

static bool is_any(const sim_source *source, const sim_tokens *code, int index, const char *const *words)
{
    return sim_token_is_any(source, sim_token_at(code, index), words);
}

// cudaMalloc, cublasSgemm, curandGenerateUniform: not cudaStream_t, nor the functions that only ask for an error.
static bool is_api_name(const sim_source *source, const sim_token *token)
{
    static const char *const prefixes[] = {"cuda", "cublas", "curand", "cufft"};
    static const char *const others[] = {"cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorString",
                                         "cudaGetErrorName", "cudaMemcpyKind",      NULL};
    const char *name = source->text + token->start;
    size_t length = token->end - token->start;
    if (token->kind != SIM_TOKEN_NAME || length >= LONGEST_NAME ||
        (length > 2 && memcmp(name + length - 2, "_t", 2) == 0))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t bytes = strlen(prefixes[i]);
        if (length > bytes && memcmp(name, prefixes[i], bytes) == 0 && isupper((unsigned char)name[bytes]))
            return !sim_token_is_any(source, token, others);
    }
    return false;
}

// The first token of what is called at `index`: of std::check, of object.check.
static int call_start(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const joins[] = {"::", ".", NULL};
    for (;;) {
        int step = is_any(source, code, index - 1, joins) ? 1 : 0;
        if (sim_token_is(source, sim_token_at(code, index - 1), ">") &&
            sim_token_is(source, sim_token_at(code, index - 2), "-"))
            step = 2;
        if (step == 0)
            return index;
        index -= step;
        if (sim_token_at(code, index - 1)->kind == SIM_TOKEN_NAME)
            index--;
    }
}

// The innermost parenthesis around token `index`; -1: none in this statement.
static int paren_around(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const ends[] = {"{", "}", NULL};
    for (int i = index - 1; i >= 0; i--) {
        const sim_token *token = &code->at[i];
        if (sim_token_is(source, token, "(") && token->match > index)
            return i;
        if (sim_token_is(source, token, ")") && token->match >= 0 && token->match < i)
            i = token->match;
        else if (sim_token_is_any(source, token, ends))
            return -1;
    }
    return -1;
}

// The brace of the block that token `index` stands in; -1: none.
static int block_of(const sim_source *source, const sim_tokens *code, int index)
{
    int i = index - 1;
    while (i >= 0 && !(code->at[i].match > index && sim_token_is(source, &code->at[i], "{")))
        i--;
    return i;
}

static int function_end(const sim_source *source, const sim_tokens *code, int index)
{
    int end = code->count;
    const sim_scope *scope = sim_scope_of(source, sim_token_at(code, index));
    while (scope->kind == SIM_SCOPE_FUNCTION && scope->open >= 0) {
        end = code->at[scope->open].match > index ? code->at[scope->open].match : end;
        if (scope->parent < 0)
            break;
        scope = &source->scopes[scope->parent];
    }
    return end;
}

// name = ...;, as opposed to name == ...
static bool is_assigned(const sim_source *source, const sim_tokens *code, int index)
{
    const sim_token *next = sim_token_at(code, index + 1), *after = sim_token_at(code, index + 2);
    bool compared = sim_token_is(source, after, "=") && after->start == next->end;
    return sim_token_is(source, next, "=") && !compared;
}

// Whether the name that is assigned to before `index` is read behind that before its function ends. A statement of the
// same block that assigns to it anew ends the search, unless there is another way on between the two.
static bool is_read_behind(const sim_source *source, const sim_tokens *code, int index)
{
    static const char *const jumps[] = {"break", "continue", "goto", "else", "case", "default", "?", NULL};
    static const char *const starts[] = {";", "{", "}", NULL};
    const sim_token *name = sim_token_at(code, index - 2);
    int end = function_end(source, code, index - 2);
    bool jumped = false, replaced = false;
    for (int i = index; i < end; i++) {
        const sim_token *token = &code->at[i];
        jumped |= token->kind == SIM_TOKEN_BREAK || sim_token_is_any(source, token, jumps);
        if (replaced && sim_token_is(source, token, ";")) // what it is assigned did not read it
            return false;
        if (!sim_tokens_equal(source, token, source, name))
            continue;
        if (!is_assigned(source, code, i))
            return true;
        replaced = !jumped && is_any(source, code, i - 1, starts) &&
                   block_of(source, code, i) == block_of(source, code, index);
    }
    return false;
}

// Whether the first use of a name between two tokens reads it.
static bool is_read_first(const sim_source *source, const sim_tokens *code, int first, int end, const sim_token *name)
{
    for (int i = first; i < end; i++)
        if (sim_tokens_equal(source, &code->at[i], source, name))
            return !is_assigned(source, code, i);
    return false;
}

// Where the next round of a loop begins, given the parenthesis that closes its head: at the condition, behind what a
// `for` does once; -1: no loop's.
static int round_start(const sim_source *source, const sim_tokens *code, int close)
{
    int open = sim_token_is(source, sim_token_at(code, close), ")") ? code->at[close].match : -1;
    if (open < 0 || sim_token_is(source, sim_token_at(code, open - 1), "while"))
        return open;
    if (!sim_token_is(source, sim_token_at(code, open - 1), "for"))
        return -1;
    while (open < close && !sim_token_is(source, &code->at[open], ";"))
        open++;
    return open;
}

// Whether the next round of a loop around the assignment before `index` reads the name, in its head or behind that.
static bool is_read_next_round(const sim_source *source, const sim_tokens *code, int index)
{
    const sim_token *name = sim_token_at(code, index - 2);
    int end = function_end(source, code, index - 2), close = index - 3, inner = index - 2;
    int head = paren_around(source, code, index - 2); // for (; e; e = cudaX())
    int condition = head >= 0 ? round_start(source, code, code->at[head].match) : -1;
    if (condition >= 0 && is_read_first(source, code, condition, inner, name))
        return true;
    for (;;) { // while (e) if (x) e = cudaX();
        int start = round_start(source, code, close);
        if (start >= 0 && is_read_first(source, code, start, inner, name))
            return true;
        if (!sim_token_is(source, sim_token_at(code, close), ")") || code->at[close].match < 2)
            break;
        close = code->at[close].match - 2;
    }
    for (int open; (open = block_of(source, code, inner)) >= 0 && code->at[open].match < end; inner = open) {
        for (int i = index; i < code->at[open].match; i++)
            if (sim_tokens_equal(source, &code->at[i], source, name) && is_assigned(source, code, i) &&
                block_of(source, code, i) == open)
                return false;
        bool once = sim_token_is(source, sim_token_at(code, open - 1), "do");
        int start = once ? open : round_start(source, code, open - 1);
        if (start >= 0 && is_read_first(source, code, start, index - 2, name))
            return true;
    }
    return false;
}

static bool is_read_later(const sim_source *source, const sim_tokens *code, int index)
{
    return sim_token_at(code, index - 2)->kind != SIM_TOKEN_NAME || // an element, a member: used elsewhere
           is_read_behind(source, code, index) || is_read_next_round(source, code, index);
}

static bool is_macro(const sim_unit *unit, const sim_source *source, const sim_token *name)
{
    for (int f = 0; f < unit->file_count; f++)
        for (int i = 0; i < unit->files[f]->source.directive_count; i++) {
            const sim_source *other = &unit->files[f]->source;
            const sim_directive *directive = &other->directives[i];
            if (directive->kind == SIM_DIRECTIVE_DEFINE &&
                sim_tokens_equal(source, name, other, sim_token_at(&other->lines, directive->first)))
                return true;
        }
    return false;
}

// A call, or what it is an argument of: code tokens from its name to its last parenthesis.
typedef struct span {
    int start, end;
} span;

// At a ? or : of a choice: whether what is chosen is kept.
static bool is_choice_kept(const sim_source *source, const sim_tokens *code, int index)
{
    int start = sim_statement_start(source, code, index);
    bool kept = sim_token_is(source, sim_token_at(code, start), "return");
    for (int i = start; i < index; i++)
        kept |= sim_token_is(source, sim_token_at(code, i), "=");
    return kept;
}

static bool is_choice(const sim_source *source, const sim_tokens *code, int index)
{
    bool asks = sim_token_is(source, sim_token_at(code, index), "?");
    for (int i = sim_statement_start(source, code, index);
         i < index && !asks && sim_token_is(source, sim_token_at(code, index), ":"); i++)
        asks = sim_token_is(source, sim_token_at(code, i), "?");
    return asks;
}

// Behind a =: whether what is assigned is itself a value that something is made of, in a condition, in the parentheses
// of *outer, which become the value, in a return or in another assignment: if (e = cudaX()), !(e = cudaX()).
static bool is_assignment_used(const sim_source *source, const sim_tokens *code, span call, span *outer)
{
    static const char *const asks[] = {"if", "while", "switch", NULL};
    int open = paren_around(source, code, call.start);
    const sim_token *before = sim_token_at(code, open - 1);
    bool whole = open >= 0 && code->at[open].match == call.end + 1;
    int start = sim_statement_start(source, code, call.start);
    if (whole && before->kind != SIM_TOKEN_NAME)
        *outer = (span){open, call.end + 1};
    else if (!whole && sim_token_is(source, sim_token_at(code, call.start - 3), "="))
        *outer = (span){call.start - 2, call.end}; // a = e = cudaX()
    return (whole && sim_token_is_any(source, before, asks)) ||
           sim_token_is(source, sim_token_at(code, start), "return") ||
           (whole && sim_token_is(source, before, "return"));
}

// Whether the value of a call is made something of, by more than a checker. *marked becomes the macro that the call is
// an argument of, if it is: what a macro is given it may show to the person (#call), so that stays as it is.
static bool is_used(const sim_unit *unit, const sim_source *source, const sim_tokens *code, span call, span *marked)
{
    static const char *const starts[] = {";", "{", "}", "else", "do", ":", ")", NULL};
    static const char *const asks[] = {"if", "while", "for", "switch", "return", "constexpr", NULL};
    static const char *const operators[] = {"=", "!", "?", "&", "|", NULL};
    static const char *const within_braces[] = {",", "}", NULL};
    for (;;) {
        int start = call.start, end = call.end;
        if (is_choice(source, code, start - 1))
            return is_choice_kept(source, code, start - 1);
        if (is_any(source, code, start - 1, starts)) // cudaX() == cudaSuccess || fail(); or {cudaX(), cudaY()}
            return is_any(source, code, end + 1, operators) ||
                   (sim_token_is(source, sim_token_at(code, start - 1), "{") &&
                    is_any(source, code, end + 1, within_braces));
        if (sim_token_is(source, sim_token_at(code, start - 1), "=")) {
            span outer = call;
            if (is_assignment_used(source, code, call, &outer) || is_read_later(source, code, start))
                return true;
            if (outer.start == call.start)
                return false;
            call = outer;
            continue;
        }
        int open = paren_around(source, code, start);
        if (open < 0)
            return true;
        const sim_token *before = sim_token_at(code, open - 1);
        bool alone = open + 1 == start && code->at[open].match == end + 1;
        if (sim_token_is_any(source, before, asks) || (before->kind != SIM_TOKEN_NAME && !alone))
            return true;
        call = (span){before->kind == SIM_TOKEN_NAME ? call_start(source, code, open - 1) : open, code->at[open].match};
        if (before->kind == SIM_TOKEN_NAME && is_macro(unit, source, before))
            *marked = call;
    }
}

// Whether the token is part of what a macro is given, however deep, in a lambda too.
static bool is_in_macro(const sim_unit *unit, const sim_source *source, const sim_tokens *code, int index)
{
    for (int i = index - 1; i > 0; i--) {
        if (code->at[i].match > index && sim_token_is(source, &code->at[i], "(") &&
            code->at[i - 1].kind == SIM_TOKEN_NAME && is_macro(unit, source, &code->at[i - 1]))
            return true;
    }
    return false;
}

// The parenthesis of a call whose name is token `index`, behind its template arguments if it has any; -1: no call.
static int call_paren(const sim_source *source, const sim_tokens *code, int index)
{
    int i = index + 1;
    if (sim_token_is(source, sim_token_at(code, i), "<"))
        i = sim_behind_angles(source, code, i);
    const sim_token *open = sim_token_at(code, i);
    return sim_token_is(source, open, "(") && open->match > i ? i : -1;
}

void sim_edit_handled(const sim_unit *unit, sim_file *file)
{
    const sim_source *source = &file->source;
    static const char *const words[] = {"return", "else", "do", NULL};
    const sim_tokens *code = &source->code;
    for (int i = 0; i + 1 < code->count; i++) {
        const sim_token *token = &code->at[i];
        int open = is_api_name(source, token) ? call_paren(source, code, i) : -1;
        if (open < 0)
            continue;
        const sim_scope *scope = sim_scope_of(source, token);
        span call = {sim_token_is(source, sim_token_at(code, i - 1), "::") ? i - 1 : i, code->at[open].match};
        const sim_token *before = sim_token_at(code, call.start - 1);
        bool declared = before->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, before, words);
        bool member =
            sim_token_is(source, before, ".") || sim_token_is(source, before, "~") ||
            (sim_token_is(source, before, ">") && sim_token_is(source, sim_token_at(code, call.start - 2), "-"));
        span marked = call;
        if (scope->kind != SIM_SCOPE_FUNCTION || sim_scope_is_device_only(scope) || declared || member ||
            !is_used(unit, source, code, call, &marked) || is_in_macro(unit, source, code, marked.start))
            continue;
        char mark[LONGEST_NAME + 32];
        snprintf(mark, sizeof mark, "(sim_handled(\"%.*s\"), ", (int)(token->end - token->start),
                 source->text + token->start);
        sim_edit_insert(file, code->at[marked.start].start, mark);
        sim_edit_insert(file, code->at[marked.end].end, ")");
    }
}
