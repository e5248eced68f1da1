// Opens the model that --model names.
#pragma once

#include <stdbool.h>

#include "heddle/model.h"

// As heddle_model_open, but a file that a person wrote with a mistake is wrong usage, as the same mistake on the
// command line is; and what is no model file, such as the folder of a run, is told with the option or command that
// takes it. `has_init`: the command has --init.
heddle_status heddle_cli_model_open(const char *name, const heddle_input_shape *input, bool has_init,
                                    heddle_model **model);
