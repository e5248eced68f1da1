// The built-in models: files of examples/models that the build puts into the library (cmake/HeddleEmbed.cmake).

#include <stddef.h>
#include <string.h>

#include "built_in_models.h"
#include "nn/model.h"

#define MODEL(name, text) {name, text},
#define NAME(name, text)  name,

static const struct {
    const char *name, *text;
} models[] = {HEDDLE_BUILT_IN_MODELS(MODEL)};

const char *heddle_model_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return models[i].text;
    return NULL;
}

const char *const *heddle_model_names(void)
{
    static const char *const names[] = {HEDDLE_BUILT_IN_MODELS(NAME) NULL};
    return names;
}
