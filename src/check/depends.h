// Which elements of an operator's inputs one element of its output depends on, found by changing inputs and asking the
// reference again: no operator has to say it.
#pragma once

#include "ops/values.h"

enum { HEDDLE_CHECK_MOST_DEPENDS = 3 }; // elements of one operand that are named

typedef struct heddle_check_depends {
    size_t element[HEDDLE_CHECK_MOST_DEPENDS];
    int count;
    bool more; // than those
} heddle_check_depends;

// Of operand `input`. `drawn`: before the reference ran. Integer operands and operators whose reference would take
// long are not asked: nothing is found.
heddle_status heddle_check_depends_find(const heddle_operand_values *drawn, int output, size_t element, int input,
                                        heddle_check_depends *found);
