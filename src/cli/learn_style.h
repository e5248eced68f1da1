// Colours of `heddle learn` on a terminal, and how far its text is indented.
#pragma once

#include "cli/learn.h"

enum { INDENT = 2 };

static const char bold[] = "\033[1m", italic[] = "\033[3m", red[] = "\033[1;31m", green[] = "\033[1;32m",
                  cyan[] = "\033[36m", dim[] = "\033[2m", plain[] = "\033[0m";

static inline void set(const heddle_cli_learn_style *style, const char *code)
{
    if (style->colour)
        fputs(code, style->file);
}
