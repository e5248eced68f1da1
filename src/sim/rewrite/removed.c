// What CUDA no longer has: texture<float, 2> name, a texture reference. One error says what to use instead, and the
// compilation ends there: what follows would only be about the name that is not declared.

#include "rewrite/unit.h"

static bool declares_own(const sim_unit *unit, const char *name)
{
    static const char *const keys[] = {"class", "struct", "using", NULL};
    for (int i = 0; i < unit->file_count; i++) {
        const sim_source *source = &unit->files[i]->source;
        for (int t = 1; t < source->code.count; t++)
            if (sim_token_is(source, &source->code.at[t], name) &&
                sim_token_is_any(source, &source->code.at[t - 1], keys))
                return true;
    }
    return false;
}

// A declaration of a variable at file scope.
static bool is_reference(const sim_source *source, int index)
{
    static const char *const before[] = {";", "}", "{", "static", NULL};
    const sim_tokens *code = &source->code;
    const sim_token *previous = sim_token_at(code, index - 1);
    int behind =
        sim_token_is(source, sim_token_at(code, index + 1), "<") ? sim_behind_angles(source, code, index + 1) : -1;
    return behind > 0 && sim_token_at(code, behind)->kind == SIM_TOKEN_NAME &&
           sim_scope_of(source, &code->at[index])->kind == SIM_SCOPE_FILE &&
           (index == 0 || sim_token_is_any(source, previous, before));
}

void sim_edit_removed(const sim_unit *unit, sim_file *file)
{
    static const char name[] = "texture";
    const sim_source *source = &file->source;
    for (int i = 0; i < source->code.count; i++) {
        const sim_token *token = &source->code.at[i];
        if (!sim_token_is(source, token, name) || !is_reference(source, i) || declares_own(unit, name))
            continue;
        sim_text error = {0};
        sim_text_print(&error,
                       "\n#line %d\n#error CUDA 12 and later have no texture references: use a texture object "
                       "(cudaCreateTextureObject)\n#include \"stopped/by/the/error/above\"\n",
                       token->line);
        sim_edit_insert(file, token->start, error.at ? error.at : "");
        file->failed |= error.failed;
        sim_text_free(&error);
        return;
    }
}
