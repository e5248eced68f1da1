// asm("..." : outputs : inputs) in device code is PTX: it is replaced by C++ that does the same, or, where that is not
// known, by a call that reports the line when it is reached.

#include <stdlib.h>
#include <string.h>

#include "rewrite/ptx.h"
#include "rewrite/unit.h"

enum { LONGEST_QUOTE = 60 }; // characters of PTX in a report

// Adds the contents of a string literal, unescaped.
static bool add_literal(const sim_source *source, const sim_token *token, sim_text *text)
{
    const char *at = source->text + token->start, *end = source->text + token->end;
    if (end - at < 2 || *at != '"' || end[-1] != '"')
        return false; // a raw string or an open one
    for (at++; at < end - 1; at++) {
        char c = *at;
        if (c == '\\' && at + 1 < end - 1) {
            at++;
            c = *at == 'n' || *at == 't' || *at == 'r' || *at == '\n' || *at == '\r' ? '\n' : *at;
        }
        sim_text_add_bytes(text, &c, 1);
    }
    return true;
}

// One operand, tokens [first, last): [name] "constraint" (expression)
static bool read_operand(const sim_source *source, const sim_tokens *tokens, int first, int last,
                         sim_ptx_statement *statement)
{
    if (statement->count >= SIM_PTX_OPERANDS)
        return false;
    sim_ptx_operand *operand = &statement->operand[statement->count];
    if (last - first > 3 && sim_token_is(source, &tokens->at[first], "[")) {
        const sim_token *name = &tokens->at[first + 1];
        size_t length = name->end - name->start;
        if (length >= sizeof operand->name)
            return false;
        memcpy(operand->name, source->text + name->start, length);
        operand->name[length] = 0;
        first += 3;
    }
    if (last - first < 3 || tokens->at[first].kind != SIM_TOKEN_STRING ||
        !sim_token_is(source, &tokens->at[first + 1], "(") || tokens->at[first + 1].match != last - 1)
        return false;
    const sim_token *open = &tokens->at[first + 1], *close = &tokens->at[last - 1];
    // An expression over several lines becomes one of one line, so that the lines are counted once.
    sim_text expression = {0};
    for (int i = first + 2; i < last - 1; i++) {
        if (i > first + 2 && tokens->at[i].start > tokens->at[i - 1].end)
            sim_text_add(&expression, " ");
        sim_text_add_bytes(&expression, source->text + tokens->at[i].start, tokens->at[i].end - tokens->at[i].start);
    }
    operand->expression = sim_text_take(&expression);
    statement->count++;
    return operand->expression && open < close;
}

// Operands of one section, up to the next colon at this level or `end`. Returns where it stopped; -1: not understood.
static int read_section(const sim_source *source, const sim_tokens *tokens, int at, int end, bool keep,
                        sim_ptx_statement *statement)
{
    int first = at;
    for (; at <= end; at++) {
        const sim_token *token = &tokens->at[at];
        bool over = at == end || sim_token_is(source, token, ":") || sim_token_is(source, token, "::");
        if (over || sim_token_is(source, token, ",")) {
            if (keep && at > first && !read_operand(source, tokens, first, at, statement))
                return -1;
            if (over)
                return at;
            first = at + 1;
        } else if (token->match > at) {
            at = token->match;
        }
    }
    return end;
}

static bool read_statement(const sim_source *source, const sim_tokens *tokens, int open, sim_ptx_statement *statement)
{
    enum { OUTPUTS = 1, INPUTS = 2 };
    int end = tokens->at[open].match, at = open + 1;
    sim_text text = {0};
    bool fine = true;
    for (; at < end && tokens->at[at].kind == SIM_TOKEN_STRING; at++)
        fine &= add_literal(source, &tokens->at[at], &text);
    statement->text = sim_text_take(&text);
    for (int section = 0; fine && at >= 0 && at < end;) {
        const sim_token *colon = &tokens->at[at];
        if (sim_token_is(source, colon, "::"))
            section += 2;
        else if (sim_token_is(source, colon, ":"))
            section++;
        else
            return false;
        at = read_section(source, tokens, at + 1, end, section == OUTPUTS || section == INPUTS, statement);
    }
    return fine && at >= 0 && statement->text;
}

static void free_statement(sim_ptx_statement *statement)
{
    for (int i = 0; i < statement->count; i++)
        free(statement->operand[i].expression);
    free(statement->text);
    free(statement);
}

static void add_refusal(const sim_ptx_statement *statement, sim_text *out)
{
    const char *text = statement->text ? statement->text : "";
    text += strspn(text, " \t\n{");
    size_t length = strcspn(text, "\n;");
    sim_text_add(out, "sim_unsupported(\"inline PTX: ");
    sim_text_add_quoted(out, text, length < LONGEST_QUOTE ? length : LONGEST_QUOTE);
    sim_text_add(out, "\", \"use the CUDA function that does the same, where there is one\")");
}

static bool is_device_code(const sim_source *source, const sim_tokens *tokens, int index)
{
    return tokens != &source->code || sim_scope_is_device(sim_scope_of(source, &tokens->at[index]));
}

// What stands for the statement; NULL: it has no instructions and is only a hint to the compiler. `whole`: all of its
// tokens belong to it, whatever the preprocessor finds.
static char *translated(sim_file *file, const sim_tokens *tokens, int open, bool whole)
{
    const sim_source *source = &file->source;
    sim_ptx_statement *statement = calloc(1, sizeof *statement);
    if (!statement) {
        file->failed = true;
        return NULL;
    }
    bool read = read_statement(source, tokens, open, statement);
    bool empty = read && statement->text[strspn(statement->text, " \t\n;")] == 0;
    sim_text result = {0};
    if (!empty && !(whole && read && sim_ptx_translate(statement, &result))) {
        sim_text_free(&result);
        add_refusal(statement, &result);
    }
    char *text = empty ? NULL : sim_text_take(&result);
    free_statement(statement);
    return text;
}

static void edit_statement(sim_file *file, const sim_tokens *tokens, int first, int open, bool whole)
{
    char *text = translated(file, tokens, open, whole);
    if (text) {
        sim_edit_replace(file, tokens->at[first].start, tokens->at[tokens->at[open].match].end, text);
        file->uses_ptx = true;
    }
    free(text);
}

// --- #if inside a statement
// -------------------------------------------------------------------------------------------

// The directives [first, last) between two places in the text.
typedef struct inner_chain {
    int first, last;
} inner_chain;

static inner_chain directives_between(const sim_source *source, uint32_t start, uint32_t end)
{
    inner_chain found = {0, 0};
    while (found.first < source->directive_count && source->directives[found.first].start < start)
        found.first++;
    for (found.last = found.first; found.last < source->directive_count; found.last++)
        if (source->directives[found.last].start >= end)
            break;
    return found;
}

static bool has_choice(const sim_source *source, inner_chain chain)
{
    for (int i = chain.first; i < chain.last; i++)
        if (source->directives[i].kind == SIM_DIRECTIVE_IF)
            return true;
    return false;
}

// One #if with an #else, nothing else, and in every branch a line to put its statement on.
static bool is_plain_choice(const sim_source *source, inner_chain chain)
{
    const sim_directive *at = source->directives;
    if (chain.last - chain.first < 3 || at[chain.first].kind != SIM_DIRECTIVE_IF ||
        at[chain.last - 2].kind != SIM_DIRECTIVE_ELSE || at[chain.last - 1].kind != SIM_DIRECTIVE_ENDIF)
        return false;
    for (int i = chain.first; i < chain.last - 1; i++) {
        bool line = at[i + 1].start > at[i].end + 1 && source->text[at[i].end] == '\n';
        if (!line || (i > chain.first && i < chain.last - 2 && at[i].kind != SIM_DIRECTIVE_ELIF))
            return false;
    }
    return true;
}

// The statement as it is when branch `branch` is taken: copies the tokens from `open` to its match without those of the
// other branches. NULL: out of memory.
static sim_token *tokens_of_branch(const sim_source *source, int open, inner_chain chain, int branch, int *count)
{
    const sim_tokens *code = &source->code;
    const sim_directive *at = source->directives;
    int close = code->at[open].match;
    const size_t room = (size_t)close - (size_t)open + 1;
    sim_token *copy = calloc(room, sizeof *copy);
    int *place = calloc(room, sizeof *place); // of each token in the copy
    *count = 0;
    for (int i = open; copy && place && i <= close; i++) {
        place[i - open] = *count;
        bool inside = i >= at[chain.first].code && i < at[chain.last - 1].code;
        if (!inside || (i >= at[branch].code && i < at[branch + 1].code))
            copy[(*count)++] = code->at[i];
    }
    for (int i = 0; copy && place && i < *count; i++)
        if (copy[i].match >= open && copy[i].match <= close)
            copy[i].match = place[copy[i].match - open];
    if (!place) {
        free(copy);
        copy = NULL;
    }
    free(place);
    return copy;
}

// Each branch gets a statement of its own, on its first line; what was around the #if goes.
static void edit_choice(sim_file *file, int first, int open, inner_chain chain)
{
    const sim_source *source = &file->source;
    const sim_directive *at = source->directives;
    sim_edit_replace(file, source->code.at[first].start, at[chain.first].start, "");
    for (int branch = chain.first; branch < chain.last - 1; branch++) {
        sim_tokens taken = {0};
        taken.at = tokens_of_branch(source, open, chain, branch, &taken.count);
        char *text = taken.at ? translated(file, &taken, 0, true) : NULL;
        file->failed |= !taken.at;
        sim_edit_replace(file, at[branch].end + 1, at[branch + 1].start, text ? text : "(void)0");
        free(text);
        free(taken.at);
    }
    uint32_t end = source->code.at[source->code.at[open].match].end;
    sim_edit_replace(file, at[chain.last - 1].end, end, "");
    file->uses_ptx = true;
}

void sim_edit_assembly(sim_file *file, const sim_tokens *tokens)
{
    const sim_source *source = &file->source;
    static const char *const names[] = {"asm", "__asm__", "__asm", NULL};
    static const char *const qualifiers[] = {"volatile", "__volatile__", "inline", "goto", NULL};
    for (int i = 0; i < tokens->count; i++) {
        if (tokens->at[i].kind != SIM_TOKEN_NAME || !sim_token_is_any(source, &tokens->at[i], names))
            continue;
        int open = i + 1;
        while (sim_token_is_any(source, sim_token_at(tokens, open), qualifiers))
            open++;
        const sim_token *bracket = sim_token_at(tokens, open);
        if (!sim_token_is(source, bracket, "(") || bracket->match <= open || !is_device_code(source, tokens, i))
            continue;
        inner_chain chain = {0, 0};
        if (tokens == &source->code)
            chain = directives_between(source, tokens->at[i].start, tokens->at[bracket->match].end);
        if (chain.last > chain.first && is_plain_choice(source, chain))
            edit_choice(file, i, open, chain);
        else
            edit_statement(file, tokens, i, open, !has_choice(source, chain));
        i = bracket->match;
    }
}
