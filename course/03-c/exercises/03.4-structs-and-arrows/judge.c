#include "learn_c.h"

#include "03.4-structs-and-arrows.c"

static struct image *make(int width, int height)
{
    struct image *image = malloc(sizeof *image);
    image->width = width;
    image->height = height;
    image->pixels = malloc((size_t)width * height);
    for (int i = 0; i < width * height; i++)
        image->pixels[i] = (unsigned char)(i * 7);
    return image;
}

static void judge(int width, int height)
{
    struct image *image = make(width, height);
    learn_case("an image of %d x %d pixels", width, height);
    struct image *copy = copy_image(image);
    struct image *again = copy_image(copy);
    free_image(image); // the copies must live on without it
    free_image(copy);
    learn_expect_int("width of the copy", again->width, width);
    learn_expect_int("height of the copy", again->height, height);
    for (int i = 0; i < width * height; i++)
        learn_require(again->pixels[i] == (unsigned char)(i * 7), "pixel %d of the copy is %d, expected %d", i,
                      again->pixels[i], (unsigned char)(i * 7));
    free_image(again);
}

int main(void)
{
    judge(4, 3);
    judge(1, 1);
    judge(100, 7);
    return learn_passed();
}
