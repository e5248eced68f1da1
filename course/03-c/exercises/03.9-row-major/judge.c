#include "learn_c.h"

#include "03.9-row-major.c"

static void judge(int width, int height, int top, int left, int crop_width, int crop_height)
{
    unsigned char *in = malloc((size_t)width * height), *out = malloc((size_t)crop_width * crop_height);
    learn_case("%d x %d pixels from row %d, column %d of an image of %d x %d", crop_width, crop_height, top, left,
               width, height);
    for (int i = 0; i < width * height; i++)
        in[i] = (unsigned char)(i * 7 % 251);
    memset(out, 255, (size_t)crop_width * crop_height);
    crop(in, width, top, left, out, crop_width, crop_height);
    for (int row = 0; row < crop_height; row++)
        for (int column = 0; column < crop_width; column++) {
            int found = out[row * crop_width + column];
            int expected = (left + column + width * (row + top)) * 7 % 251;
            if (found != expected) {
                free(in);
                free(out);
            }
            learn_require(found == expected, "row %d, column %d of the rectangle is %d, expected %d", row, column,
                          found, expected);
        }
    free(in);
    free(out);
}

int main(void)
{
    judge(8, 6, 0, 0, 3, 2);
    judge(8, 6, 2, 3, 4, 3);
    judge(8, 6, 0, 0, 8, 6);
    judge(1, 1, 0, 0, 1, 1);
    judge(31, 17, 5, 30, 1, 12);
    judge(31, 17, 16, 0, 31, 1);
    return learn_passed();
}
