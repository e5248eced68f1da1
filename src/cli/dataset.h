// Opens datasets for commands, and shows the progress of reading many image files.
#pragma once

#include <stdbool.h>

#include "heddle/heddle.h"

#define HEDDLE_CLI_FOLDER_HELP "folder to search first for mnist and fashion"

// As heddle_dataset_open_with, with a bar on standard error if that takes long and `quiet` is not set.
heddle_status heddle_cli_dataset_open(const char *name, heddle_split split, const heddle_dataset_options *options,
                                      bool quiet, heddle_dataset **dataset);

// Reads --image-size, "WxH" or one number for both; NULL leaves 0.
heddle_status heddle_cli_image_size(const char *text, int *width, int *height);
