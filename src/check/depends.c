// A binary search for each element: a range of the input is changed, and the output either follows or does not.

#include "check/depends.h"

#include <math.h>
#include <string.h>

static const double most_work = 3e8; // floating-point operations and bytes for one operand

typedef struct question {
    const heddle_operand_values *drawn;
    heddle_operand_values changed;
    int output, input;
    size_t element;
    double answer, distance;
} question;

static double ask(question *about)
{
    const heddle_operand_values *drawn = about->drawn;
    heddle_operand_values_reference(&about->changed);
    double answer = about->changed.operand[about->output][about->element];
    for (int i = 0; i < drawn->op->operand_count; i++)
        memcpy(about->changed.operand[i], drawn->operand[i], drawn->elements[i] * sizeof(double));
    return answer;
}

// Whether the output follows if inputs [first, last) go up, or down. Each goes another way, for some results stay the
// same if all inputs grow by the same.
static bool follows(question *about, size_t first, size_t last)
{
    static const double golden = 0.6180339887498949;
    for (int sign = -1; sign <= 1; sign += 2) {
        double *values = about->changed.operand[about->input];
        for (size_t i = first; i < last; i++)
            values[i] += sign * about->distance * (1 + fmod((double)(i + 1) * golden, 1));
        double answer = ask(about);
        if (answer != about->answer && !(isnan(answer) && isnan(about->answer)))
            return true;
    }
    return false;
}

static size_t next(question *about, size_t first, size_t count)
{
    size_t last = count; // [first, last) has one
    if (first == count || !follows(about, first, count))
        return count;
    for (size_t low = first; last - low > 1;) { // [first, low) has none
        size_t middle = low + (last - low) / 2;
        if (follows(about, first, middle))
            last = middle;
        else
            low = middle;
    }
    return last - 1;
}

static bool is_asked(const heddle_operand_values *drawn, int input)
{
    const heddle_operand *about = &drawn->op->operands[input];
    heddle_cost cost = drawn->op->cost(drawn->shape);
    double questions = 2 * (HEDDLE_CHECK_MOST_DEPENDS + 1) * (log2((double)drawn->elements[input] + 1) + 1);
    return about->role != HEDDLE_OUTPUT && (about->dtype == HEDDLE_F32 || about->dtype == HEDDLE_F64) &&
           (cost.flops + cost.bytes_read + cost.bytes_written) * questions <= most_work;
}

heddle_status heddle_check_depends_find(const heddle_operand_values *drawn, int output, size_t element, int input,
                                        heddle_check_depends *found)
{
    question about = {.drawn = drawn, .output = output, .input = input, .element = element};
    size_t count = drawn->elements[input];
    *found = (heddle_check_depends){.count = 0};
    if (!is_asked(drawn, input))
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_operand_values_copy(&about.changed, drawn));
    about.distance = 1;
    for (size_t i = 0; i < count; i++)
        about.distance = fmax(about.distance, 4 * fabs(drawn->operand[input][i]));
    about.answer = ask(&about);
    size_t at = next(&about, 0, count);
    while (at < count && found->count < HEDDLE_CHECK_MOST_DEPENDS) {
        found->element[found->count++] = at;
        at = next(&about, at + 1, count);
    }
    found->more = at < count;
    heddle_operand_values_destroy(&about.changed);
    return HEDDLE_OK;
}
