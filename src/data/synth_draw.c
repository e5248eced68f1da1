// Drawing a digit: its form's points are moved about, taken through a random slant, turn, scale and shift, joined by
// curves, and inked by each pixel's distance to the nearest piece of them.
//
// All in integers (and one square root, which IEEE 754 rounds exactly), so that every machine and compiler draws the
// same bytes from a seed. Lengths on the picture are in 1/256 pixel, ratios in 1/65536.

#include "data/synth_draw.h"

#include <math.h>
#include <stddef.h>

enum {
    PIXEL = 256,     // a pixel's side
    ONE = 65536,     // the ratio 1
    BOX = 100,       // the side of the skeletons' box
    DESIGN = 28,     // the picture size that the lengths below are meant for
    CURVE_STEPS = 5, // straight pieces between two points: corners stay below a quarter pixel
    MOST_LINES = HEDDLE_SYNTH_MAX_STROKES * HEDDLE_SYNTH_MAX_POINTS * CURVE_STEPS,
    FAR = INT32_MAX,
};

typedef struct heddle_synth_vector {
    int32_t x, y;
} heddle_synth_vector;

// A way of writing: drawn once an image.
typedef struct heddle_synth_hand {
    int32_t xx, xy, yx, yy; // box to picture: 1/256 pixels a box, in ratio terms
    heddle_synth_vector shift;
    int32_t wobble; // how far points stray, in hundredths of a box unit
    int32_t radius; // half the width of the stroke
    int32_t edge;   // over which the ink fades
    int32_t ink;    // 0 .. 255
    int32_t noise;  // 0 .. 255
} heddle_synth_hand;

// Roughly normal, within ±spread: the mean of three uniform numbers.
static int32_t around(heddle_random *random, int32_t spread)
{
    uint32_t range = (uint32_t)(2 * spread + 1);
    int32_t sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (int32_t)heddle_random_below(random, range) - spread;
    return sum / 3;
}

static int32_t between(heddle_random *random, int32_t least, int32_t most)
{
    return least + (int32_t)heddle_random_below(random, (uint32_t)(most - least + 1));
}

static int32_t times(int64_t a, int64_t b)
{
    return (int32_t)(a * b / ONE);
}

static heddle_synth_hand choose_hand(heddle_random *random, int size)
{
    // As in MNIST the digit's box is about 20 of 28 pixels high; lengths grow with the picture.
    int32_t unit = PIXEL * size / DESIGN;
    int32_t height = unit * between(random, 155, 225) / 10;
    int32_t width = times(height, between(random, ONE * 55 / 100, ONE * 100 / 100));
    int32_t slant = around(random, ONE * 55 / 100) + ONE * 8 / 100; // most people lean to the right
    int32_t turn = around(random, ONE * 32 / 100);                  // radians
    int32_t sine = turn - times(times(turn, turn), turn) / 6;
    int32_t cosine = ONE - times(turn, turn) / 2;

    // turn · slant · scale; y points down, so a slant to the right moves the lower part to the left
    heddle_synth_hand hand;
    hand.xx = times(cosine, width);
    hand.xy = -times(times(cosine, slant) + sine, height);
    hand.yx = times(sine, width);
    hand.yy = times(cosine - times(sine, slant), height);
    hand.shift.x = size * PIXEL / 2 + around(random, 4 * unit);
    hand.shift.y = size * PIXEL / 2 + around(random, 4 * unit);
    hand.wobble = between(random, 200, 1300);
    hand.radius = unit * between(random, 60, 190) / 100;
    hand.edge = unit * between(random, 80, 170) / 100;
    hand.ink = between(random, 150, 255);
    hand.noise = between(random, 0, 70);
    return hand;
}

static heddle_synth_vector to_picture(const heddle_synth_hand *hand, heddle_random *random,
                                      const heddle_synth_point *point)
{
    enum { HUNDREDTHS = 100 };
    int64_t x = (point->x - BOX / 2) * HUNDREDTHS + around(random, hand->wobble);
    int64_t y = (point->y - BOX / 2) * HUNDREDTHS + around(random, hand->wobble);
    return (heddle_synth_vector){
        hand->shift.x + (int32_t)((x * hand->xx + y * hand->xy) / (BOX * HUNDREDTHS)),
        hand->shift.y + (int32_t)((x * hand->yx + y * hand->yy) / (BOX * HUNDREDTHS)),
    };
}

// The Catmull-Rom curve through b and c, at t of CURVE_STEPS; a and d are their neighbours.
static int32_t on_curve(int64_t a, int64_t b, int64_t c, int64_t d, int64_t t)
{
    enum { S = CURVE_STEPS };
    int64_t cubic = (3 * b - a - 3 * c + d) * t * t * t;
    int64_t square = (2 * a - 5 * b + 4 * c - d) * t * t * S;
    int64_t linear = (c - a) * t * S * S;
    return (int32_t)(b + (cubic + square + linear) / (2 * S * S * S));
}

// Straight pieces along a stroke; returns where they end in `line`.
static int trace_stroke(const heddle_synth_hand *hand, heddle_random *random, const heddle_synth_stroke *stroke,
                        heddle_synth_vector *line)
{
    heddle_synth_vector at[HEDDLE_SYNTH_MAX_POINTS] = {{0, 0}};
    for (int i = 0; i < stroke->count; i++)
        at[i] = to_picture(hand, random, &stroke->points[i]);

    int count = 0;
    line[count++] = at[0];
    for (int i = 0; i + 1 < stroke->count; i++) {
        // At an end or a corner, a point is its own neighbour: the curve does not bend around it.
        heddle_synth_vector b = at[i], c = at[i + 1];
        heddle_synth_vector a = i == 0 || stroke->points[i].corner ? b : at[i - 1];
        heddle_synth_vector d = i + 2 == stroke->count || stroke->points[i + 1].corner ? c : at[i + 2];
        for (int t = 1; t <= CURVE_STEPS; t++)
            line[count++] = (heddle_synth_vector){on_curve(a.x, b.x, c.x, d.x, t), on_curve(a.y, b.y, c.y, d.y, t)};
    }
    return count;
}

static int64_t distance_squared(heddle_synth_vector from, heddle_synth_vector to, int64_t x, int64_t y)
{
    int64_t dx = to.x - from.x, dy = to.y - from.y;
    int64_t px = x - from.x, py = y - from.y;
    int64_t length = dx * dx + dy * dy, along = px * dx + py * dy;
    if (along >= length && length > 0) {
        px = x - to.x;
        py = y - to.y;
    } else if (along > 0) {
        px -= along * dx / length;
        py -= along * dy / length;
    }
    return px * px + py * py;
}

static int first_pixel(int32_t least)
{
    return least < 0 ? 0 : least / PIXEL;
}

static int last_pixel(int32_t most, int size)
{
    int pixel = most < 0 ? -1 : most / PIXEL;
    return pixel < size ? pixel : size - 1;
}

// Notes for every pixel within `reach` of the piece how near it is.
static void mark_piece(heddle_synth_vector from, heddle_synth_vector to, int32_t reach, int size, int32_t *distances)
{
    int32_t left = from.x < to.x ? from.x : to.x, right = from.x < to.x ? to.x : from.x;
    int32_t top = from.y < to.y ? from.y : to.y, bottom = from.y < to.y ? to.y : from.y;
    int x_first = first_pixel(left - reach), x_last = last_pixel(right + reach, size);
    int y_first = first_pixel(top - reach), y_last = last_pixel(bottom + reach, size);
    for (int y = y_first; y <= y_last; y++)
        for (int x = x_first; x <= x_last; x++) {
            int64_t near = distance_squared(from, to, x * PIXEL + PIXEL / 2, y * PIXEL + PIXEL / 2);
            if (near < distances[y * size + x])
                distances[y * size + x] = (int32_t)near;
        }
}

static void ink_pixels(const heddle_synth_hand *hand, const int32_t *distances, int pixels, uint8_t *to)
{
    for (int i = 0; i < pixels; i++) {
        if (distances[i] == FAR) {
            to[i] = 0;
            continue;
        }
        int32_t inside = hand->radius + hand->edge / 2 - (int32_t)sqrt((double)distances[i]);
        inside = inside < 0 ? 0 : inside > hand->edge ? hand->edge : inside;
        to[i] = (uint8_t)(hand->ink * inside / hand->edge);
    }
}

static uint8_t clamp_byte(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Four words per call of Philox, one byte per pixel: noise needs most of an image's random numbers.
static void add_noise(heddle_random *random, int32_t strength, int pixels, uint8_t *to)
{
    uint32_t key[2];
    key[0] = heddle_random_u32(random); // not in an initialiser, whose order C leaves open
    key[1] = heddle_random_u32(random);
    for (int start = 0; start < pixels; start += 16) {
        uint32_t words[4], counter[4] = {(uint32_t)start, 0, 0, 0};
        heddle_philox(counter, key, words);
        for (int i = 0; i < 16 && start + i < pixels; i++) {
            int32_t byte = (int32_t)(words[i / 4] >> (8 * (i % 4)) & 255);
            to[start + i] = clamp_byte(to[start + i] + (byte - 128) * strength / 128);
        }
    }
}

void heddle_synth_draw(heddle_random *random, int digit, int size, int32_t *distances, uint8_t *pixels)
{
    const heddle_synth_form *forms;
    int form_count = heddle_synth_forms(digit, &forms);
    const heddle_synth_form *form = &forms[heddle_random_below(random, (uint32_t)form_count)];
    heddle_synth_hand hand = choose_hand(random, size);

    for (int i = 0; i < size * size; i++)
        distances[i] = FAR;
    for (int s = 0; s < form->count; s++) {
        heddle_synth_vector line[MOST_LINES + 1];
        int count = trace_stroke(&hand, random, &form->strokes[s], line);
        for (int i = 0; i + 1 < count; i++)
            mark_piece(line[i], line[i + 1], hand.radius + hand.edge, size, distances);
    }
    ink_pixels(&hand, distances, size * size, pixels);
    add_noise(random, hand.noise, size * size, pixels);
}
