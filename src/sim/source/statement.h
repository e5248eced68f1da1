// The statements of one function: which branches and loops a token stands in, and where they begin and end. Of the
// branches of an #if, those whose braces close are read; what is left open is passed over.
#pragma once

#include "source/lexer.h"

typedef enum sim_statement_kind {
    SIM_STATEMENT_SIMPLE, // up to its semicolon
    SIM_STATEMENT_BLOCK,  // braces
    SIM_STATEMENT_IF,     // with its else
    SIM_STATEMENT_ELSE,   // inside an if
    SIM_STATEMENT_SWITCH,
    SIM_STATEMENT_FOR,
    SIM_STATEMENT_WHILE,
    SIM_STATEMENT_DO,
} sim_statement_kind;

typedef struct sim_statement {
    sim_statement_kind kind;
    bool is_constant; // if constexpr
    int first, last;  // tokens, both included
    int parent;       // the statement around it; -1: none
} sim_statement;

typedef struct sim_statements {
    sim_statement *at; // a statement comes before those inside it; the first is the function's body
    int count, room;
} sim_statements;

// The brace of the outermost function around a token; -1: it stands in none. Needs the scopes.
int sim_function_around(const sim_source *source, int token);

// Of the function whose brace is token `open`. False: out of memory.
bool sim_statements_read(const sim_source *source, int open, sim_statements *statements);
void sim_statements_free(sim_statements *statements);

// The innermost statement around a token; -1: none.
int sim_statement_around(const sim_statements *statements, int token);
// The statement around it, itself included, that is a loop; -1: none.
int sim_statement_loop(const sim_statements *statements, int statement);
bool sim_statement_is_branch(const sim_statement *statement); // if, else, switch
bool sim_statement_is_loop(const sim_statement *statement);
