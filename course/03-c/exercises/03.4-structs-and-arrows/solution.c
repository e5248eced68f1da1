// Grey images: how to copy and how to free them.
//
// The assignment copies the members, and one of them is an address. The copy gets memory of its own, and the pixels are
// copied there. free_image was right all along: it frees what the image owns first, then the image.

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
    size_t bytes = (size_t)image->width * image->height;

    *copy = *image;
    copy->pixels = malloc(bytes);
    memcpy(copy->pixels, image->pixels, bytes);
    return copy;
}

// Frees an image that came from copy_image.
void free_image(struct image *image)
{
    free(image->pixels);
    free(image);
}
