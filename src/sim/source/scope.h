// Brackets and scopes: which bracket closes which, and whether a token stands in device code, in host code, at file
// scope or in a class. Both branches of an #if are seen, each starting from where the #if stood.
#pragma once

#include "source/lexer.h"

// Which side of CUDA a function belongs to.
enum { SIM_SIDE_HOST = 1, SIM_SIDE_DEVICE = 2, SIM_SIDE_GLOBAL = 4, SIM_SIDE_VARIABLE = 8 };

typedef enum sim_scope_kind { SIM_SCOPE_FILE, SIM_SCOPE_CLASS, SIM_SCOPE_FUNCTION, SIM_SCOPE_OTHER } sim_scope_kind;

typedef struct sim_scope {
    sim_scope_kind kind;
    unsigned side; // of a function: SIM_SIDE_*; 0: none was written
    int open;      // the token of its brace; -1: the file
    int parent;    // scope around it; -1: none
} sim_scope;

// Names of macros that stand for qualifiers: #define HD __host__ __device__
typedef struct sim_qualifiers {
    struct sim_qualifier {
        char *name;
        unsigned side;
    } * at;
    int count, room;
} sim_qualifiers;

void sim_qualifiers_learn(sim_qualifiers *known, const sim_source *source);
void sim_qualifiers_free(sim_qualifiers *known);
unsigned sim_qualifier_side(const sim_qualifiers *known, const sim_source *source, const sim_token *token);

void sim_scopes_find(sim_source *source, const sim_qualifiers *known);
const sim_scope *sim_scope_of(const sim_source *source, const sim_token *token);
// Code that a CUDA thread may run.
bool sim_scope_is_device(const sim_scope *scope);
// Code that only a CUDA thread runs.
bool sim_scope_is_device_only(const sim_scope *scope);

// Index of the first token of the statement or declaration that token `index` belongs to.
int sim_statement_start(const sim_source *source, const sim_tokens *tokens, int index);
