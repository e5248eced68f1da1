// A program's own arrangements with a sanitizer are not about the simulated GPU. The attribute's other spellings are
// macros (sim/keywords.h); this one is the headers' own.

#include "rewrite/unit.h"

void sim_edit_sanitizers(sim_file *file, const sim_tokens *tokens)
{
    for (int i = 0; i < tokens->count; i++)
        if (sim_token_is(&file->source, &tokens->at[i], "__no_sanitize__"))
            sim_edit_replace(file, tokens->at[i].start, tokens->at[i].end, "no_sanitize");
}
