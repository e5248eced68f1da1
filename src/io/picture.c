// What the readers of all image formats share.

#include "io/picture.h"

#include <stdlib.h>

void heddle_picture_free(heddle_picture *picture)
{
    free(picture->pixels);
    picture->pixels = NULL;
}

heddle_status heddle_picture_check_channels(const char *what, int channels)
{
    if (channels != 1 && channels != 3)
        return heddle_fail(HEDDLE_INVALID, "%s: an image is read with 1 or 3 channels, not %d", what, channels);
    return HEDDLE_OK;
}

heddle_status heddle_picture_check_size(const char *what, uint64_t width, uint64_t height)
{
    if (width != 0 && height > HEDDLE_PICTURE_MAX_PIXELS / width)
        return heddle_fail(HEDDLE_UNSUPPORTED, "%s: %llu×%llu pixels; heddle reads at most %d million", what,
                           (unsigned long long)width, (unsigned long long)height, HEDDLE_PICTURE_MAX_PIXELS >> 20);
    return HEDDLE_OK;
}
