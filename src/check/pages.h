// A page for each kind of finding: the rule, a wrong program, the right one and a drawing, as Markdown.
#pragma once

#include "check/kinds.h"

// NULL: the kind has none.
const char *heddle_check_page(heddle_check_kind kind);
