// Branches of #if, by the preprocessor lines around two places of a text.
#include "source/conditional.h"

enum { DEEPEST = 32 }; // levels that are told apart; what is deeper counts as in one of them

// The branches around a token, outermost first, as numbers of preprocessor lines.
typedef struct branches {
    struct branch {
        int opened; // by this #if
        int own;    // its branch: that #if, or an #elif or #else of it
    } at[DEEPEST];
    int count;
} branches;

static branches branches_of(const sim_source *source, int token)
{
    branches around = {.count = 0};
    for (int i = 0; i < source->directive_count && source->directives[i].code <= token; i++) {
        sim_directive_kind kind = source->directives[i].kind;
        if (kind == SIM_DIRECTIVE_IF && around.count < DEEPEST)
            around.at[around.count++] = (struct branch){i, i};
        else if ((kind == SIM_DIRECTIVE_ELIF || kind == SIM_DIRECTIVE_ELSE) && around.count > 0)
            around.at[around.count - 1].own = i;
        else if (kind == SIM_DIRECTIVE_ENDIF && around.count > 0)
            around.count--;
    }
    return around;
}

sim_presence sim_presence_of(const sim_source *source, int compiled, int token)
{
    const branches here = branches_of(source, compiled), there = branches_of(source, token);
    int level = 0;
    while (level < here.count && level < there.count && here.at[level].own == there.at[level].own)
        level++;
    if (level < here.count && level < there.count && here.at[level].opened == there.at[level].opened)
        return SIM_LEFT_OUT;
    return level < there.count ? SIM_POSSIBLE : SIM_PRESENT;
}
