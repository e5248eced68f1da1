// The built-in models, as the same JSON a model file has.

#include <stddef.h>
#include <string.h>

#include "nn/model.h"

static const struct {
    const char *name, *text;
} builtin[] = {
    // The course's CNN.
    {"cnn", "{\"name\": \"cnn\", \"layers\": ["
            "{\"type\": \"conv2d\", \"channels\": 32, \"kernel\": 3, \"padding\": 1},"
            "{\"type\": \"batchnorm2d\"}, {\"type\": \"relu\"}, {\"type\": \"maxpool2d\", \"window\": 2},"
            "{\"type\": \"conv2d\", \"channels\": 64, \"kernel\": 3, \"padding\": 1},"
            "{\"type\": \"batchnorm2d\"}, {\"type\": \"relu\"}, {\"type\": \"maxpool2d\", \"window\": 2},"
            "{\"type\": \"flatten\"},"
            "{\"type\": \"linear\", \"features\": 128}, {\"type\": \"relu\"},"
            "{\"type\": \"linear\", \"features\": \"classes\"}]}"},
    {"mlp", "{\"name\": \"mlp\", \"layers\": ["
            "{\"type\": \"flatten\"},"
            "{\"type\": \"linear\", \"features\": 256}, {\"type\": \"relu\"},"
            "{\"type\": \"linear\", \"features\": \"classes\"}]}"},
};

const char *heddle_model_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        if (strcmp(builtin[i].name, name) == 0)
            return builtin[i].text;
    return NULL;
}

const char *const *heddle_model_names(void)
{
    static const char *const names[] = {"cnn", "mlp", NULL};
    return names;
}
