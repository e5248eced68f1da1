// Cuts a rectangle out of an image that is `width` pixels wide.

void crop(const unsigned char *in, int width, int top, int left, unsigned char *out, int crop_width, int crop_height)
{
    for (int row = 0; row < crop_height; row++)
        for (int column = 0; column < crop_width; column++)
            out[row * crop_width + column] = in[(top + row) * crop_width + left + column];
}
