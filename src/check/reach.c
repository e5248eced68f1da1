// Reads the function of the barrier, and those that it was called from. A thread may leave a function by a return or a
// goto, by a macro that has one, or by PTX; of several definitions of a macro, any may be the one. Where that cannot be
// excluded, nothing is claimed.

#include "check/reach.h"

#include <ctype.h>
#include <string.h>

#include "check/own.h"
#include "sim/source/conditional.h"
#include "sim/source/statement.h"

enum { DEEPEST_MACRO = 8 }; // macros made of macros

// --- what leaves a function ------------------------------------------------------------------------------------------

static bool leaves(const heddle_check_own_files *files, const sim_source *source, const sim_tokens *tokens, int token,
                   int depth);

// Also of what changes the blocks around it: a brace without its other, a branch of another's if or switch.
static bool definition_leaves(const heddle_check_own_files *files, const sim_source *source, const sim_directive *macro,
                              int depth)
{
    static const char *const others[] = {"else", "case", "default", "asm", "__asm__", NULL};
    int braces = 0;
    for (int i = macro->first + 1; i < macro->last && braces >= 0; i++) {
        const sim_token *token = &source->lines.at[i];
        braces += sim_token_is(source, token, "{") - sim_token_is(source, token, "}");
        if (sim_token_is_any(source, token, others) || leaves(files, source, &source->lines, i, depth + 1))
            return true;
    }
    return braces != 0;
}

// LIKE_THIS( is most likely a macro's call.
static bool looks_like_macro(const sim_source *source, const sim_tokens *tokens, int token)
{
    const sim_token *name = &tokens->at[token];
    for (uint32_t at = name->start; at < name->end; at++)
        if (islower((unsigned char)source->text[at]))
            return false;
    return isalpha((unsigned char)source->text[name->start]) &&
           sim_token_is(source, sim_token_at(tokens, token + 1), "(");
}

static bool leaves(const heddle_check_own_files *files, const sim_source *source, const sim_tokens *tokens, int token,
                   int depth)
{
    static const char *const words[] = {"return", "goto", NULL};
    const sim_token *name = &tokens->at[token];
    bool defined = false;
    if (name->kind != SIM_TOKEN_NAME)
        return false;
    if (sim_token_is_any(source, name, words))
        return true;
    for (int f = 0; f < files->count; f++)
        for (int i = 0; i < files->at[f]->directive_count; i++) {
            const sim_directive *macro = &files->at[f]->directives[i];
            if (macro->kind != SIM_DIRECTIVE_DEFINE || macro->first >= macro->last ||
                !sim_tokens_equal(source, name, files->at[f], &files->at[f]->lines.at[macro->first]))
                continue;
            defined = true;
            if (depth >= DEEPEST_MACRO || definition_leaves(files, files->at[f], macro, depth))
                return true;
        }
    return !defined && looks_like_macro(source, tokens, token);
}

// asm("exit;"), which a function may do for its caller.
static bool has_exit(const heddle_check_own_files *files)
{
    static const char word[] = "exit";
    for (int f = 0; f < files->count; f++) {
        const sim_source *source = files->at[f];
        const sim_tokens *const all[] = {&source->code, &source->lines};
        for (int i = 0; i < all[0]->count + all[1]->count; i++) {
            const sim_token *token = i < all[0]->count ? &all[0]->at[i] : &all[1]->at[i - all[0]->count];
            const char *text = source->text + token->start, *end = source->text + token->end, *at = text;
            while (token->kind == SIM_TOKEN_STRING && (at = memmem(at, (size_t)(end - at), word, sizeof word - 1))) {
                bool whole = !sim_is_name(at[-1]);
                at += sizeof word - 1;
                if (whole && at[strspn(at, " \t")] == ';')
                    return true;
            }
        }
    }
    return false;
}

// --- around the barrier ----------------------------------------------------------------------------------------------

static bool is_barrier(const sim_source *source, const sim_token *token)
{
    static const char *const parts[] = {"sync", "barrier", "wait"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (token->kind == SIM_TOKEN_NAME &&
            memmem(source->text + token->start, token->end - token->start, parts[i], strlen(parts[i])))
            return true;
    return false;
}

// The barrier on the frame's line, or the call of the function `called`; else the first token there.
static int token_meant(const sim_source *source, const heddle_check_frame *frame, const char *called)
{
    int first, last;
    size_t length = 0;
    const char *name = called ? heddle_check_own_name(called, &length) : NULL;
    sim_tokens_on_line(&source->code, frame->line, &first, &last);
    for (int i = first; i < last; i++) {
        const sim_token *token = &source->code.at[i];
        bool meant = called
                         ? token->end - token->start == length && memcmp(source->text + token->start, name, length) == 0
                         : is_barrier(source, token);
        if (meant)
            return i;
    }
    return first < last ? first : -1;
}

// One function, while it is read.
typedef struct reading {
    const sim_source *source;
    const heddle_check_own_files *files;
    int open, at; // its brace; the barrier or call
    sim_statements statements;
    int outermost; // branch or loop around the barrier; -1: none
    bool in_branch, in_loop;
} reading;

static bool is_any_before(const reading *in, const char *const *words)
{
    for (int i = in->open + 1; i < in->at; i++)
        if (sim_presence_of(in->source, in->at, i) != SIM_LEFT_OUT &&
            (words ? sim_token_is_any(in->source, &in->source->code.at[i], words)
                   : leaves(in->files, in->source, &in->source->code, i, 0)))
            return true;
    return false;
}

// Whether the function does anything behind the branches and loops around the barrier, and threads cannot have left it
// within these.
static bool goes_on_behind(const reading *in)
{
    const sim_tokens *code = &in->source->code;
    const int end = code->at[in->open].match;
    for (int i = in->at + 1; i < end; i++) {
        sim_presence presence = sim_presence_of(in->source, in->at, i);
        if (code->at[i].kind != SIM_TOKEN_NAME || presence == SIM_LEFT_OUT)
            continue;
        if (leaves(in->files, in->source, code, i, 0))
            return false;
        bool label = sim_token_is(in->source, sim_token_at(code, i + 1), ":"); // threads that are done go there
        if (i > in->statements.at[in->outermost].last && !label && presence == SIM_PRESENT)
            return true;
    }
    return false;
}

typedef struct reached {
    heddle_check_reach reach;
    bool loop_alone; // that is around it, and no branch
    bool may_leave;  // before it
} reached;

static reached judge(const reading *in)
{
    static const char *const returns[] = {"return", "goto", NULL};
    bool returned = is_any_before(in, returns);
    reached found = {.may_leave = true};
    if (returned && in->in_branch)
        return found;
    found.loop_alone = in->in_loop && !in->in_branch;
    found.may_leave = returned || has_exit(in->files) || is_any_before(in, NULL);
    if (returned)
        found.reach = HEDDLE_CHECK_REACH_RETURN;
    else if (!found.may_leave && in->outermost >= 0)
        found.reach = goes_on_behind(in) ? HEDDLE_CHECK_REACH_PASSED : HEDDLE_CHECK_REACH_BRANCH;
    return found;
}

// Of one function: that of the barrier, or one that the next inner one was called from.
static reached reach_in(heddle_check_sources *sources, const heddle_check_frame *frame, const char *called)
{
    heddle_check_own_files files = {.count = 0};
    reached found = {.may_leave = true};
    reading in = {.source = heddle_check_sources_code(sources, frame->file), .files = &files, .outermost = -1};
    in.at = in.source ? token_meant(in.source, frame, called) : -1;
    in.open = in.at >= 0 ? sim_function_around(in.source, in.at) : -1;
    if (in.open < 0 || !sim_statements_read(in.source, in.open, &in.statements))
        return found;
    heddle_check_own_files_add(&files, sources, in.source);
    for (int i = sim_statement_around(&in.statements, in.at); i >= 0; i = in.statements.at[i].parent) {
        bool branch = sim_statement_is_branch(&in.statements.at[i]);
        bool loop = sim_statement_is_loop(&in.statements.at[i]);
        in.in_branch |= branch;
        in.in_loop |= loop;
        in.outermost = branch || loop ? i : in.outermost;
    }
    found = judge(&in);
    sim_statements_free(&in.statements);
    return found;
}

// --- functions that were not inlined ---------------------------------------------------------------------------------

// The name of the function whose brace is token `open`: that before its parameters. NULL: not found.
static const sim_token *name_at(const sim_source *source, int open)
{
    int close = open - 1;
    while (close > 0 && source->code.at[close].kind == SIM_TOKEN_NAME) // const, noexcept
        close--;
    const sim_token *last = sim_token_at(&source->code, close);
    const sim_token *name = sim_token_at(&source->code, last->match - 1);
    return sim_token_is(source, last, ")") && last->match > 0 && name->kind == SIM_TOKEN_NAME ? name : NULL;
}

// The token of the only call of a function in its file; -1: there are several, none, or one in a macro.
static int only_call(const sim_source *source, const char *function)
{
    size_t length = 0;
    const char *name = heddle_check_own_name(function, &length);
    const sim_tokens *const all[] = {&source->code, &source->lines};
    int call = -1;
    for (int list = 0; list < 2; list++)
        for (int i = 0; i < all[list]->count; i++) {
            const sim_token *token = &all[list]->at[i];
            if (token->end - token->start != length || memcmp(source->text + token->start, name, length) != 0)
                continue;
            if (list > 0 || (call >= 0 && sim_function_around(source, i) >= 0))
                return -1;
            call = sim_function_around(source, i) >= 0 ? i : call;
        }
    return call;
}

// The compiler knows the callers of what it inlined. The one of a function that it did not inline is read from the
// source, so that the verdict does not depend on that: where the only call of the function is in the kernel.
static heddle_check_place with_kernel(heddle_check_sources *sources, const heddle_check_place *place,
                                      const char *kernel)
{
    heddle_check_place whole = *place;
    const heddle_check_frame *last = &place->frame[place->frames - 1];
    if (!kernel || place->frames == 0 || place->frames == HEDDLE_CHECK_FRAMES ||
        heddle_check_same_function(last->function, kernel))
        return whole;
    const sim_source *source = heddle_check_sources_code(sources, last->file);
    const int call = source ? only_call(source, last->function) : -1;
    const sim_token *caller = call >= 0 ? name_at(source, sim_function_around(source, call)) : NULL;
    size_t length = 0;
    const char *name = heddle_check_own_name(kernel, &length);
    if (caller && caller->end - caller->start == length && memcmp(source->text + caller->start, name, length) == 0)
        whole.frame[whole.frames++] =
            (heddle_check_frame){.file = last->file, .line = source->code.at[call].line, .function = kernel};
    return whole;
}

// Threads pass a barrier by for certain where they cannot have left the kernel or a function before it.
heddle_check_reach heddle_check_reach_of(heddle_check_sources *sources, const heddle_check_place *barrier,
                                         const char *kernel)
{
    const heddle_check_place place = with_kernel(sources, barrier, kernel);
    reached found = {.reach = HEDDLE_CHECK_REACH_UNKNOWN};
    bool certain =
        kernel && place.frames > 0 && heddle_check_same_function(place.frame[place.frames - 1].function, kernel);
    for (int i = 0; i < place.frames; i++) {
        reached next = reach_in(sources, &place.frame[i], i > 0 ? place.frame[i - 1].function : NULL);
        certain = certain && !next.may_leave;
        if (found.reach == HEDDLE_CHECK_REACH_UNKNOWN || (found.loop_alone && next.reach == HEDDLE_CHECK_REACH_RETURN))
            found = next;
    }
    return found.reach == HEDDLE_CHECK_REACH_PASSED && !certain ? HEDDLE_CHECK_REACH_BRANCH : found.reach;
}
