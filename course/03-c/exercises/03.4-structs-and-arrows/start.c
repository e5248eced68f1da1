// Grey images: how to copy and how to free them.

#include <stdlib.h>
#include <string.h>

struct image {
    int width, height;
    unsigned char *pixels; // width * height bytes, from malloc
};

// A copy of an image, from malloc. The caller frees it with free_image.
struct image *copy_image(const struct image *image)
{
    struct image *copy = malloc(sizeof *copy);

    *copy = *image;
    return copy;
}

// Frees an image that came from copy_image.
void free_image(struct image *image)
{
    free(image->pixels);
    free(image);
}
