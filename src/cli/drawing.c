// Draws small images with characters. A character cell is about twice as high as wide, so it shows two pixels, one
// above the other: as the two halves of a block, or as one shade of their mean.

#include "cli/drawing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"

enum {
    GAP = 2,           // columns between drawings
    WIDEST = 64,       // columns of one drawing
    CAPTION_MOST = 24, // columns that a caption may take beyond a small drawing
    PIPE_COLUMNS = 100,
    SHEET_LEAST = 64,     // pixels: smaller drawings are enlarged on a sheet
    SHEET_MOST = 1 << 26, // pixels of a sheet
    SHEET_GAP = 4,        // pixels around each drawing of several
    SHEET_GREY = 128,     // between drawings, different from a dark or bright background
    GREY_FIRST = 232,     // of the 24 greys in a terminal's 256 colours
    GREY_COUNT = 24,
};

int heddle_drawing_columns(FILE *file)
{
    int columns = heddle_terminal_width(file);
    return columns > 0 ? columns : PIPE_COLUMNS;
}

// Mean of the step × step pixels at (column, row), in units of `step`; 0 outside.
static int mean_at(const heddle_drawing *drawing, int step, int column, int row)
{
    int sum = 0, count = 0;
    for (int y = row * step; y < (row + 1) * step && y < drawing->height; y++)
        for (int x = column * step; x < (column + 1) * step && x < drawing->width; x++, count++)
            sum += drawing->pixels[(size_t)y * (size_t)drawing->width + (size_t)x];
    return count > 0 ? sum / count : 0;
}

static void print_line(FILE *file, const heddle_drawing *drawing, int step, int columns, int line, bool blocks)
{
    static const char ramp[] = " .:-=+*#%@";
    const int shades = (int)sizeof ramp - 1;
    for (int column = 0; column < columns; column++) {
        int upper = mean_at(drawing, step, column, 2 * line);
        int lower = mean_at(drawing, step, column, 2 * line + 1);
        if (blocks)
            fprintf(file, "\033[38;5;%d;48;5;%dm▀", GREY_FIRST + upper * GREY_COUNT / 256,
                    GREY_FIRST + lower * GREY_COUNT / 256);
        else
            fputc(ramp[(upper + lower) * shades / 512], file);
    }
    if (blocks)
        fputs("\033[0m", file);
}

// The caption cut or filled to `width` characters.
static void print_caption(FILE *file, const char *caption, int width)
{
    size_t bytes = heddle_text_prefix(caption, width);
    fwrite(caption, 1, bytes, file);
    fprintf(file, "%*s", width - (heddle_text_columns(caption) < width ? heddle_text_columns(caption) : width), "");
}

// How drawings are laid out: `step` pixels per character, `cells` characters wide, each in a column of `column`
// characters that its caption fits in, `lines` high, `across` per row.
typedef struct layout {
    int step, cells, column, lines, across;
    bool blocks;
} layout;

static layout lay_out(const heddle_drawing *drawings, int count, int columns)
{
    int width = 1, height = 1, caption = 0;
    for (int i = 0; i < count; i++) {
        int length = heddle_text_columns(drawings[i].caption);
        width = drawings[i].width > width ? drawings[i].width : width;
        height = drawings[i].height > height ? drawings[i].height : height;
        caption = length > caption ? length : caption;
    }
    int room = columns < WIDEST ? (columns > 0 ? columns : 1) : WIDEST;
    layout result = {.step = (width + room - 1) / room};
    result.cells = (width + result.step - 1) / result.step;
    if (caption > CAPTION_MOST)
        caption = CAPTION_MOST;
    result.column = caption > result.cells ? caption : result.cells;
    result.lines = ((height + result.step - 1) / result.step + 1) / 2;
    result.across = (columns + GAP) / (result.column + GAP);
    if (result.across < 1)
        result.across = 1;
    return result;
}

static void print_row(FILE *file, const heddle_drawing *drawings, int count, const layout *placing)
{
    for (int line = 0; line < placing->lines; line++) {
        for (int i = 0; i < count; i++) {
            print_line(file, &drawings[i], placing->step, placing->cells, line, placing->blocks);
            fprintf(file, "%*s", i + 1 < count ? placing->column - placing->cells + GAP : 0, "");
        }
        fputc('\n', file);
    }
    for (int i = 0; i < count; i++) {
        print_caption(file, drawings[i].caption, placing->column);
        fprintf(file, "%*s", i + 1 < count ? GAP : 0, "");
    }
    fputc('\n', file);
}

// no-color.org: set and not empty. An explicit choice takes precedence.
static bool colours_are_welcome(void)
{
    const char *no_color = getenv("NO_COLOR");
    return !no_color || !no_color[0];
}

void heddle_drawing_print(FILE *file, const heddle_drawing *drawings, int count, heddle_drawing_style style,
                          int columns)
{
    layout all = lay_out(drawings, count, columns);
    all.blocks = style == HEDDLE_DRAWING_BLOCKS || (style == HEDDLE_DRAWING_AUTO && heddle_terminal_is(file) &&
                                                    heddle_terminal_utf8() && colours_are_welcome());
    for (int i = 0; i < count; i += all.across) {
        if (i > 0)
            fputc('\n', file);
        print_row(file, drawings + i, count - i < all.across ? count - i : all.across, &all);
    }
}

static void place_on_sheet(const heddle_drawing *drawing, int scale, uint8_t *sheet, size_t sheet_width, int left,
                           int top)
{
    for (int y = 0; y < drawing->height * scale; y++)
        for (int x = 0; x < drawing->width * scale; x++)
            sheet[(size_t)(top + y) * sheet_width + (size_t)(left + x)] =
                drawing->pixels[(size_t)(y / scale) * (size_t)drawing->width + (size_t)(x / scale)];
}

heddle_status heddle_drawing_sheet(const heddle_drawing *drawings, int count, uint8_t **pixels, int *width, int *height)
{
    int across = 1;
    while (across * across < count)
        across++;
    int down = (count + across - 1) / across;
    int larger = drawings[0].width > drawings[0].height ? drawings[0].width : drawings[0].height;
    int scale = (SHEET_LEAST + larger - 1) / larger;
    // A single drawing has no frame, which `predict` would take for part of the image.
    int gap = count > 1 ? SHEET_GAP : 0;
    int cell_width = drawings[0].width * scale + gap, cell_height = drawings[0].height * scale + gap;
    if (((double)across * cell_width + gap) * ((double)down * cell_height + gap) > SHEET_MOST)
        return heddle_fail(HEDDLE_INVALID, "a sheet of %d images of %d × %d pixels is too large; show fewer", count,
                           drawings[0].width, drawings[0].height);
    *width = across * cell_width + gap;
    *height = down * cell_height + gap;
    size_t bytes = (size_t)*width * (size_t)*height;
    *pixels = malloc(bytes);
    if (*pixels == NULL)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "not enough memory for a sheet of %d × %d pixels", *width, *height);
    memset(*pixels, SHEET_GREY, bytes);
    for (int i = 0; i < count; i++)
        place_on_sheet(&drawings[i], scale, *pixels, (size_t)*width, gap + i % across * cell_width,
                       gap + i / across * cell_height);
    return HEDDLE_OK;
}
