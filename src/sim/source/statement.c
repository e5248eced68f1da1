// Statements by recursive descent over tokens whose brackets are matched.

#include "source/statement.h"

#include <stdlib.h>

#include "source/scope.h"

enum { DEEPEST = 256 }; // statements inside each other; what lies deeper is one simple statement

typedef struct statement_reader {
    const sim_source *source;
    const sim_tokens *code;
    sim_statements *statements;
    int depth;
    bool failed;
} statement_reader;

static const char *const keywords[] = {
    [SIM_STATEMENT_BLOCK] = "{",       [SIM_STATEMENT_IF] = "if",   [SIM_STATEMENT_ELSE] = "else",
    [SIM_STATEMENT_SWITCH] = "switch", [SIM_STATEMENT_FOR] = "for", [SIM_STATEMENT_WHILE] = "while",
    [SIM_STATEMENT_DO] = "do"};

int sim_function_around(const sim_source *source, int token)
{
    int open = -1;
    for (int scope = sim_token_at(&source->code, token)->scope; scope > 0 && scope < source->scope_count;
         scope = source->scopes[scope].parent)
        if (source->scopes[scope].kind == SIM_SCOPE_FUNCTION)
            open = source->scopes[scope].open;
    return open;
}

static bool is(const statement_reader *reader, int token, const char *text)
{
    return sim_token_is(reader->source, sim_token_at(reader->code, token), text);
}

static int close_of(const statement_reader *reader, int open, int end)
{
    int match = sim_token_at(reader->code, open)->match;
    return match > open && match < end ? match : -1;
}

static sim_statement_kind kind_at(const statement_reader *reader, int token, int end)
{
    if (is(reader, token, "{"))
        return close_of(reader, token, end) >= 0 ? SIM_STATEMENT_BLOCK : SIM_STATEMENT_SIMPLE;
    for (int kind = SIM_STATEMENT_IF; kind <= SIM_STATEMENT_DO; kind++)
        if (is(reader, token, keywords[kind]))
            return kind;
    return SIM_STATEMENT_SIMPLE;
}

static int read_statement(statement_reader *reader, int at, int end, int parent);

static int read_block(statement_reader *reader, int open, int self)
{
    int close = reader->code->at[open].match;
    for (int at = open + 1; at < close;)
        at = read_statement(reader, at, close, self);
    return close + 1;
}

// `case 3:`, `done:`; a colon behind a question mark ends nothing.
static bool ends_label(const statement_reader *reader, int first, int at)
{
    return is(reader, at, ":") && (at == first + 1 || is(reader, first, "case") || is(reader, first, "default"));
}

// Up to the semicolon; braces on the way, of lambdas for the most part, are blocks inside it.
static int read_simple(statement_reader *reader, int first, int end, int self)
{
    for (int at = first; at < end; at++) {
        if (is(reader, at, ";") || ends_label(reader, first, at) || (at == first && is(reader, at, "}")))
            return at + 1;
        if (at > first && kind_at(reader, at, end) > SIM_STATEMENT_BLOCK)
            return at; // a macro's call that needs no semicolon came before
        int close = close_of(reader, at, end);
        if (close >= 0 && is(reader, at, "{"))
            read_statement(reader, at, close + 1, self);
        else if (close >= 0 && is(reader, at, "(")) // a lambda may stand among arguments
            for (int inner = at + 1; inner < close; inner++)
                if (is(reader, inner, "{") && close_of(reader, inner, close) >= 0)
                    inner = read_statement(reader, inner, reader->code->at[inner].match + 1, self) - 1;
        at = close >= 0 ? close : at;
    }
    return end;
}

// Behind the keyword and the condition in parentheses.
static int behind_head(const statement_reader *reader, int keyword, int end)
{
    int open = keyword + 1 + is(reader, keyword + 1, "constexpr");
    int close = is(reader, open, "(") ? close_of(reader, open, end) : -1;
    return close >= 0 ? close + 1 : open;
}

static int read_body(statement_reader *reader, int at, int end, int self)
{
    return at < end ? read_statement(reader, at, end, self) : end;
}

static int read_inside(statement_reader *reader, sim_statement_kind kind, int at, int end, int self)
{
    int next;
    switch (kind) {
    case SIM_STATEMENT_SIMPLE: return read_simple(reader, at, end, self);
    case SIM_STATEMENT_BLOCK: return read_block(reader, at, self);
    case SIM_STATEMENT_ELSE: return read_body(reader, at + 1, end, self);
    case SIM_STATEMENT_DO:
        next = read_body(reader, at + 1, end, self);
        next = is(reader, next, "while") ? behind_head(reader, next, end) : next;
        return next < end && is(reader, next, ";") ? next + 1 : next;
    default: break;
    }
    next = read_body(reader, behind_head(reader, at, end), end, self);
    if (kind == SIM_STATEMENT_IF && next < end && is(reader, next, "else"))
        next = read_statement(reader, next, end, self);
    return next;
}

// The statement that begins at token `at`; returns the token behind it.
static int read_statement(statement_reader *reader, int at, int end, int parent)
{
    sim_statements *all = reader->statements;
    sim_statement_kind kind = reader->depth < DEEPEST ? kind_at(reader, at, end) : SIM_STATEMENT_SIMPLE;
    if (reader->failed || !sim_array_grow(&all->at, all->count, &all->room, sizeof *all->at)) {
        reader->failed = true;
        return end;
    }
    int self = all->count++;
    all->at[self] = (sim_statement){.kind = kind,
                                    .is_constant = kind == SIM_STATEMENT_IF && is(reader, at + 1, "constexpr"),
                                    .first = at,
                                    .last = at,
                                    .parent = parent};
    reader->depth++;
    int next = reader->depth <= DEEPEST ? read_inside(reader, kind, at, end, self) : end;
    reader->depth--;
    next = next > at ? next : at + 1;
    all->at[self].last = next - 1;
    return next;
}

bool sim_statements_read(const sim_source *source, int open, sim_statements *statements)
{
    statement_reader reader = {.source = source, .code = &source->code, .statements = statements};
    statements->count = 0;
    int close = close_of(&reader, open, source->code.count);
    read_statement(&reader, open, close >= 0 ? close + 1 : open + 1, -1);
    return !reader.failed;
}

void sim_statements_free(sim_statements *statements)
{
    free(statements->at);
    *statements = (sim_statements){0};
}

int sim_statement_around(const sim_statements *statements, int token)
{
    int found = -1;
    for (int i = 0; i < statements->count; i++)
        if (token >= statements->at[i].first && token <= statements->at[i].last)
            found = i;
    return found;
}

int sim_statement_loop(const sim_statements *statements, int statement)
{
    while (statement >= 0 && !sim_statement_is_loop(&statements->at[statement]))
        statement = statements->at[statement].parent;
    return statement;
}

bool sim_statement_is_branch(const sim_statement *statement)
{
    return statement->kind == SIM_STATEMENT_IF || statement->kind == SIM_STATEMENT_ELSE ||
           statement->kind == SIM_STATEMENT_SWITCH;
}

bool sim_statement_is_loop(const sim_statement *statement)
{
    return statement->kind == SIM_STATEMENT_FOR || statement->kind == SIM_STATEMENT_WHILE ||
           statement->kind == SIM_STATEMENT_DO;
}
