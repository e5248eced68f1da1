// Reads image files; png.c and jpeg.c decode.

#include "io/image_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "io/jpeg.h"
#include "io/png.h"

typedef struct heddle_image_format {
    const char *start; // of every file
    heddle_status (*parse)(const char *what, const void *content, size_t size, int channels, heddle_picture *picture);
    heddle_status (*measure)(const char *what, const void *content, size_t size, heddle_picture_info *info);
} heddle_image_format;

static const heddle_image_format formats[] = {
    {"\x89PNG", heddle_png_parse, heddle_png_measure},
    {"\xff\xd8\xff", heddle_jpeg_parse, heddle_jpeg_measure},
};

bool heddle_image_file_is_named(const char *path)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

// NULL: none of them.
static const heddle_image_format *find_format(const char *content, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t length = strlen(formats[i].start);
        if (size >= length && memcmp(content, formats[i].start, length) == 0)
            return &formats[i];
    }
    return NULL;
}

static heddle_status not_an_image(const char *path, size_t size)
{
    return heddle_fail(HEDDLE_CORRUPT, size == 0 ? "%s is empty" : "%s is neither a PNG nor a JPEG file", path);
}

heddle_status heddle_image_file_read(const char *path, int channels, heddle_picture *picture)
{
    *picture = (heddle_picture){0};
    char *content;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_PICTURE_MAX_BYTES, &content, &size));
    const heddle_image_format *format = find_format(content, size);
    heddle_status status = format ? format->parse(path, content, size, channels, picture) : not_an_image(path, size);
    free(content);
    return status;
}

heddle_status heddle_image_file_measure(const char *path, heddle_picture_info *info)
{
    *info = (heddle_picture_info){0};
    char *content;
    size_t size;
    HEDDLE_TRY(heddle_file_read(path, HEDDLE_PICTURE_MAX_BYTES, &content, &size));
    const heddle_image_format *format = find_format(content, size);
    heddle_status status = format ? format->measure(path, content, size, info) : not_an_image(path, size);
    free(content);
    return status;
}
