// Reads image files; png.c and jpeg.c decode.

#include "io/image_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "io/jpeg.h"
#include "io/png.h"

static const uint8_t png_start[] = {0x89, 'P', 'N', 'G'}, jpeg_start[] = {0xff, 0xd8, 0xff};

bool heddle_image_file_is_named(const char *path)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool begins(const char *content, size_t size, const uint8_t *start, size_t length)
{
    return size >= length && memcmp(content, start, length) == 0;
}

static heddle_status parse(const char *path, const char *content, size_t size, int channels, heddle_picture *picture,
                           heddle_picture_info *info)
{
    if (begins(content, size, png_start, sizeof png_start))
        return picture ? heddle_png_parse(path, content, size, channels, picture)
                       : heddle_png_measure(path, content, size, info);
    if (begins(content, size, jpeg_start, sizeof jpeg_start))
        return picture ? heddle_jpeg_parse(path, content, size, channels, picture)
                       : heddle_jpeg_measure(path, content, size, info);
    return heddle_fail(HEDDLE_CORRUPT, size == 0 ? "%s is empty" : "%s is neither a PNG nor a JPEG file", path);
}

heddle_status heddle_image_file_read(const char *path, int channels, heddle_picture *picture)
{
    *picture = (heddle_picture){0};
    char *content;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_PICTURE_MAX_BYTES, &content, &size));
    heddle_status status = parse(path, content, size, channels, picture, NULL);
    free(content);
    return status;
}

heddle_status heddle_image_file_measure(const char *path, heddle_picture_info *info)
{
    *info = (heddle_picture_info){0};
    char *content;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_PICTURE_MAX_BYTES, &content, &size));
    heddle_status status = parse(path, content, size, 0, NULL, info);
    free(content);
    return status;
}
