// Finds a model's parameters by name: for the model, which refuses two of one name, and for what is below it.

#include <stdio.h>
#include <string.h>

#include "nn/model.h"

int heddle_model_find_parameter(const heddle_model *model, const char *name)
{
    for (int i = 0; i < model->parameter_count; i++)
        if (strcmp(model->parameters[i].name, name) == 0)
            return i;
    return -1;
}

int heddle_model_parameter_index(const heddle_model *model, const char *layer, const char *parameter)
{
    char name[HEDDLE_PARAMETER_NAME];
    snprintf(name, sizeof name, "%s.%s", layer, parameter);
    return heddle_model_find_parameter(model, name);
}
