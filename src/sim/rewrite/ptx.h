// Inline PTX as C++: an asm statement's template is read instruction by instruction and each becomes an expression over
// the operands, with helpers of sim/ptx.h. What is not known here makes the whole statement unsupported.
#pragma once

#include "rewrite/text.h"

enum { SIM_PTX_OPERANDS = 64, SIM_PTX_PARTS = 16, SIM_PTX_NAME = 64, SIM_PTX_REGISTERS = 128 };

// An operand of the asm statement: "=r"(expression), perhaps with a [name] before it.
typedef struct sim_ptx_operand {
    char *expression;
    char name[SIM_PTX_NAME]; // "": none
} sim_ptx_operand;

typedef struct sim_ptx_statement {
    char *text; // the template, its literals joined and unescaped
    sim_ptx_operand operand[SIM_PTX_OPERANDS];
    int count;
} sim_ptx_statement;

// One instruction, split.
typedef struct sim_ptx_instruction {
    char part[SIM_PTX_PARTS][SIM_PTX_NAME]; // ld, global, v4, f32
    int parts;
    char *operand[SIM_PTX_PARTS]; // as C++: an expression, or, for {a, b}, several
    int operands;
    bool is_address[SIM_PTX_PARTS]; // [a + 4]: the expression is the address
    bool is_vector[SIM_PTX_PARTS];  // {a, b}: the expressions, with commas
} sim_ptx_instruction;

// Writes an expression that does what the statement does. False: something in it is not known.
bool sim_ptx_translate(const sim_ptx_statement *statement, sim_text *expression);
// Writes one instruction as an expression.
bool sim_ptx_instruction_text(const sim_ptx_instruction *instruction, sim_text *out);
// The expression for a special register (without its %); NULL: not known.
const char *sim_ptx_special(const char *name);
// The C++ type of a PTX type; NULL: not one.
const char *sim_ptx_type(const char *part);
