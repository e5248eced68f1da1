// A folder with one subfolder of PNG or JPEG files per class, read into a dataset.
#ifndef HEDDLE_DATA_IMAGE_FOLDER_H
#define HEDDLE_DATA_IMAGE_FOLDER_H

#include "heddle/data.h"

heddle_status heddle_image_folder_open(const char *folder, heddle_split split, const heddle_dataset_options *options,
                                       heddle_dataset **dataset);

#endif
