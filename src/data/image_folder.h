// A folder with one subfolder of PNG or JPEG files per class, read into a dataset.
#pragma once

#include "heddle/data.h"

heddle_status heddle_image_folder_open(const char *folder, heddle_split split, const heddle_dataset_options *options,
                                       heddle_dataset **dataset);
