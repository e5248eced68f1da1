// How people write the digits: for each, a few forms as points that a pen goes through. synth_draw.c moves the points
// about and draws them.

#include "data/synth_draw.h"

// Formatted by hand: one form per line reads best.
// clang-format off
#define POINT(x, y) {x, y, 0}
#define CORNER(x, y) {x, y, 1}
#define STROKE(...) {sizeof((heddle_synth_point[]){__VA_ARGS__}) / sizeof(heddle_synth_point), {__VA_ARGS__}}

static const heddle_synth_form zero[] = {
    {1, {STROKE(POINT(54, 0), POINT(24, 14), POINT(10, 50), POINT(24, 87), POINT(50, 100), POINT(77, 87),
                POINT(90, 50), POINT(76, 13), POINT(50, 0), POINT(40, 4))}},
    {1, {STROKE(POINT(66, 6), POINT(40, 4), POINT(20, 26), POINT(16, 62), POINT(34, 96), POINT(64, 96),
                POINT(84, 66), POINT(82, 28), POINT(62, 4))}},
};

static const heddle_synth_form one[] = {
    {1, {STROKE(POINT(53, 0), POINT(50, 50), POINT(48, 100))}},
    {1, {STROKE(POINT(28, 26), CORNER(54, 0), POINT(52, 50), POINT(51, 100))}},
    {2, {STROKE(POINT(30, 22), CORNER(53, 0), POINT(52, 50), POINT(52, 100)),
         STROKE(POINT(26, 100), POINT(52, 100), POINT(80, 99))}},
};

static const heddle_synth_form two[] = {
    {1, {STROKE(POINT(14, 26), POINT(24, 7), POINT(50, 0), POINT(78, 10), POINT(82, 34), POINT(60, 64),
                CORNER(12, 100), POINT(50, 98), POINT(92, 99))}},
    {1, {STROKE(POINT(16, 22), POINT(34, 3), POINT(64, 2), POINT(82, 24), POINT(70, 54), POINT(42, 84),
                POINT(20, 97), POINT(9, 88), POINT(22, 79), POINT(48, 90), POINT(70, 100), POINT(92, 90))}},
    {1, {STROKE(POINT(20, 10), POINT(52, 0), POINT(76, 16), POINT(66, 48), POINT(40, 78), CORNER(14, 96),
                POINT(50, 94), POINT(88, 100))}},
};

static const heddle_synth_form three[] = {
    {1, {STROKE(POINT(14, 14), POINT(40, 0), POINT(74, 8), POINT(78, 30), POINT(62, 44), CORNER(40, 48),
                POINT(68, 52), POINT(86, 72), POINT(72, 94), POINT(42, 100), POINT(10, 87))}},
    {1, {STROKE(POINT(16, 2), CORNER(80, 0), CORNER(44, 40), POINT(74, 46), POINT(88, 68), POINT(74, 94),
                POINT(42, 100), POINT(12, 88))}},
    {1, {STROKE(POINT(20, 8), POINT(52, 0), POINT(80, 18), POINT(64, 42), CORNER(50, 47), POINT(78, 58),
                POINT(82, 84), POINT(50, 100), POINT(18, 96))}},
};

static const heddle_synth_form four[] = {
    {2, {STROKE(POINT(26, 0), POINT(20, 30), CORNER(12, 56), POINT(50, 56), POINT(90, 52)),
         STROKE(POINT(72, 14), POINT(68, 56), POINT(62, 100))}},
    {2, {STROKE(POINT(66, 0), POINT(36, 34), CORNER(8, 66), POINT(50, 66), POINT(94, 64)),
         STROKE(POINT(66, 0), POINT(66, 50), POINT(65, 100))}},
    {2, {STROKE(POINT(22, 4), POINT(14, 34), POINT(30, 54), POINT(60, 50), POINT(76, 40)),
         STROKE(POINT(80, 0), POINT(76, 40), POINT(68, 100))}},
};

static const heddle_synth_form five[] = {
    {1, {STROKE(POINT(84, 2), CORNER(28, 2), CORNER(20, 44), POINT(50, 37), POINT(80, 50), POINT(85, 76),
                POINT(60, 98), POINT(14, 92))}},
    {2, {STROKE(POINT(28, 4), CORNER(22, 47), POINT(54, 40), POINT(86, 62), POINT(72, 94), POINT(38, 100),
                POINT(12, 90)),
         STROKE(POINT(28, 4), POINT(58, 3), POINT(88, 0))}},
    {1, {STROKE(POINT(86, 0), POINT(54, 2), CORNER(34, 8), POINT(24, 40), POINT(52, 44), POINT(74, 58),
                POINT(72, 84), POINT(44, 100), POINT(10, 98))}},
};

static const heddle_synth_form six[] = {
    {1, {STROKE(POINT(72, 2), POINT(40, 22), POINT(18, 58), POINT(22, 90), POINT(50, 100), POINT(80, 86),
                POINT(80, 62), POINT(54, 50), POINT(28, 62), POINT(18, 76))}},
    {1, {STROKE(POINT(58, 0), POINT(30, 34), POINT(15, 70), POINT(34, 98), POINT(66, 96), POINT(80, 74),
                POINT(60, 56), POINT(34, 64), POINT(22, 84))}},
    {1, {STROKE(POINT(34, 0), POINT(24, 36), POINT(20, 74), POINT(38, 100), POINT(70, 96), POINT(84, 74),
                POINT(64, 58), POINT(36, 66), POINT(24, 82))}},
};

static const heddle_synth_form seven[] = {
    {1, {STROKE(POINT(10, 5), POINT(50, 3), CORNER(88, 2), POINT(64, 46), POINT(42, 100))}},
    {2, {STROKE(POINT(12, 4), POINT(50, 3), CORNER(86, 2), POINT(62, 48), POINT(42, 100)),
         STROKE(POINT(30, 52), POINT(54, 50), POINT(80, 47))}},
    {1, {STROKE(POINT(12, 16), CORNER(18, 3), POINT(52, 4), CORNER(88, 2), POINT(62, 40), POINT(52, 100))}},
};

static const heddle_synth_form eight[] = {
    {1, {STROKE(POINT(78, 16), POINT(50, 0), POINT(22, 16), POINT(36, 42), POINT(64, 56), POINT(82, 78),
                POINT(52, 100), POINT(18, 80), POINT(36, 56), POINT(66, 40), POINT(80, 16), POINT(66, 3))}},
    {2, {STROKE(POINT(52, 47), POINT(24, 34), POINT(26, 8), POINT(50, 0), POINT(75, 10), POINT(74, 36),
                POINT(48, 47)),
         STROKE(POINT(48, 47), POINT(20, 60), POINT(18, 88), POINT(50, 100), POINT(82, 88), POINT(80, 60),
                POINT(52, 47))}},
    {1, {STROKE(POINT(84, 4), POINT(50, 2), POINT(28, 18), POINT(40, 42), POINT(70, 62), POINT(74, 88),
                POINT(48, 100), POINT(24, 86), POINT(34, 60), POINT(62, 38), POINT(88, 6))}},
};

static const heddle_synth_form nine[] = {
    {1, {STROKE(POINT(80, 22), POINT(54, 2), POINT(22, 14), POINT(18, 38), POINT(44, 50), POINT(70, 40),
                CORNER(82, 16), POINT(80, 56), POINT(72, 100))}},
    {1, {STROKE(POINT(82, 18), POINT(52, 0), POINT(22, 16), POINT(24, 40), POINT(50, 50), POINT(76, 36),
                POINT(84, 14), POINT(86, 56), POINT(66, 92), POINT(30, 100))}},
    {2, {STROKE(POINT(72, 10), POINT(44, 2), POINT(20, 22), POINT(34, 48), POINT(62, 42), POINT(76, 20)),
         STROKE(POINT(78, 2), POINT(72, 50), POINT(60, 100))}},
};

#define FORMS(array) {sizeof(array) / sizeof *(array), array}
// clang-format on

static const struct {
    int count;
    const heddle_synth_form *forms;
} digits[HEDDLE_SYNTH_CLASSES] = {
    FORMS(zero), FORMS(one), FORMS(two),   FORMS(three), FORMS(four),
    FORMS(five), FORMS(six), FORMS(seven), FORMS(eight), FORMS(nine),
};

int heddle_synth_forms(int digit, const heddle_synth_form **forms)
{
    *forms = digits[digit].forms;
    return digits[digit].count;
}
