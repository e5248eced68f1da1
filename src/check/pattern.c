// Guesses sets of elements that contain every wrong one, and takes the smallest that is unlikely to do so by chance: a
// box with strides, everything outside a box, or all that threads of some place wrote.

#include "check/pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heddle/op.h"

enum { PLACE_SIZE = 320, LEAST_WRONG = 2 };
static const double small_chance = 1e-6; // that so many elements fall into a set by chance
static const double most_of = 0.9;       // of a set is wrong: then it needs no statistics

// A set that contains all wrong elements, in words.
typedef struct set {
    double elements; // 0: there is none
    char place[PLACE_SIZE];
} set;

// Coordinates first, first + step, ..., last of one dimension or of a number of the writing thread.
typedef struct range {
    int first, last, step;
} range;

static int largest_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// The smallest range with both.
static void widen(range *over, int value, bool begun)
{
    if (!begun) {
        *over = (range){value, value, 0};
        return;
    }
    over->step = largest_divisor(over->step, value > over->first ? value - over->first : over->first - value);
    over->first = value < over->first ? value : over->first;
    over->last = value > over->last ? value : over->last;
}

static bool contains(const range *over, int value)
{
    return value >= over->first && value <= over->last && (over->step == 0 || (value - over->first) % over->step == 0);
}

static void place_of(const heddle_check_values *values, size_t element, int place[HEDDLE_MAX_DIMS])
{
    for (int d = values->rank - 1; d >= 0; d--) {
        place[d] = (int)(element % (size_t)values->dims[d]);
        element /= (size_t)values->dims[d];
    }
}

static void append(char *text, size_t size, const char *more)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

// --- places ----------------------------------------------------------------------------------------------------------

// "row", "column" or "dimension 2"
static const char *name_dimension(const heddle_check_values *values, int dimension, char *text, size_t size)
{
    if (values->rank > 2)
        snprintf(text, size, "dimension %d", dimension);
    else
        snprintf(text, size, "%s", values->rank == 1 ? "element" : dimension == 0 ? "row" : "column");
    return text;
}

static const char *ordinal_end(int number)
{
    int last = number % 10, two = number % 100;
    if (two >= 11 && two <= 13)
        return "th";
    return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

// Where one dimension's coordinates are restricted: "the last column", "rows from 16 on", "every 32nd column from 31".
static void say_range(const heddle_check_values *values, int dimension, const range *over, char *text, size_t size)
{
    char name[32];
    int length = values->dims[dimension];
    const char *plural = values->rank > 2 ? "" : "s", *of = values->rank > 2 ? " at " : " ";
    name_dimension(values, dimension, name, sizeof name);
    if (over->step > 1 && over->last > over->first + over->step)
        snprintf(text, size, "every %d%s %s%s from %d to %d", over->step, ordinal_end(over->step),
                 values->rank > 2 ? "index of " : "", name, over->first, over->last);
    else if (over->first == over->last && over->last == length - 1 && values->rank <= 2)
        snprintf(text, size, "the last %s", name);
    else if (over->first == over->last)
        snprintf(text, size, "%s%s%d", name, of, over->first);
    else if (over->last == length - 1)
        snprintf(text, size, "%s%s from %d on", name, plural, over->first);
    else
        snprintf(text, size, "%s%s %d to %d", name, plural, over->first, over->last);
}

static bool is_whole(const range *over, int length)
{
    return over->first == 0 && over->last == length - 1 && over->step <= 1;
}

// The smallest box, with a stride in each dimension.
static void find_box(const heddle_check_values *values, set *found)
{
    range box[HEDDLE_MAX_DIMS];
    bool begun = false;
    for (size_t i = 0; i < values->count; i++) {
        int place[HEDDLE_MAX_DIMS];
        if (!values->wrong[i])
            continue;
        place_of(values, i, place);
        for (int d = 0; d < values->rank; d++)
            widen(&box[d], place[d], begun);
        begun = true;
    }
    found->elements = 1;
    found->place[0] = '\0';
    for (int d = 0; begun && d < values->rank; d++) {
        char one[96];
        int step = box[d].step > 0 ? box[d].step : 1;
        if (box[d].last == box[d].first + box[d].step) // two values: their distance says nothing
            step = 1;
        box[d].step = step;
        found->elements *= (box[d].last - box[d].first) / step + 1;
        if (is_whole(&box[d], values->dims[d]))
            continue;
        say_range(values, d, &box[d], one, sizeof one);
        append(found->place, sizeof found->place, found->place[0] ? ", " : values->rank == 1 ? "" : "in ");
        append(found->place, sizeof found->place, one);
    }
}

// Everything outside the box from the origin to where the elements on the axes become wrong: what a grid that is too
// small leaves out.
static void find_outside(const heddle_check_values *values, set *found)
{
    int limit[HEDDLE_MAX_DIMS] = {0}, bounded = 0;
    double inside = 1;
    for (int d = 0; d < values->rank; d++) {
        size_t stride = 1;
        for (int after = d + 1; after < values->rank; after++)
            stride *= (size_t)values->dims[after];
        limit[d] = 0;
        while (limit[d] < values->dims[d] && !values->wrong[stride * (size_t)limit[d]])
            limit[d]++;
        bounded += limit[d] < values->dims[d];
        inside *= limit[d];
    }
    found->elements = 0;
    for (size_t i = 0; i < values->count; i++) {
        int place[HEDDLE_MAX_DIMS];
        bool out = !values->wrong[i];
        place_of(values, i, place);
        for (int d = 0; d < values->rank && !out; d++)
            out = place[d] >= limit[d];
        if (!out)
            return;
    }
    if (bounded < 2 || inside == 0)
        return;
    found->elements = (double)values->count - inside;
    snprintf(found->place, sizeof found->place, "%s", "past the first ");
    for (int d = 0; d < values->rank; d++) {
        char one[32];
        snprintf(one, sizeof one, "%s%d", d ? " × " : "", limit[d]);
        append(found->place, sizeof found->place, one);
    }
}

// All that threads with these coordinates wrote.
static void find_writers(const heddle_check_values *values, set *found)
{
    static const char *const names[] = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                        "threadIdx.x", "threadIdx.y", "threadIdx.z"};
    range over[6], all[6];
    bool begun = false, any = false;
    found->elements = 0;
    for (size_t i = 0; values->writers && i < values->count; i++) {
        const heddle_check_writer *writer = &values->writers[i];
        if (!writer->known)
            return;
        for (int c = 0; c < 6; c++) {
            widen(&all[c], writer->at[c], any);
            if (values->wrong[i])
                widen(&over[c], writer->at[c], begun);
        }
        any = true;
        begun |= values->wrong[i];
    }
    found->place[0] = '\0';
    for (int c = 0; begun && c < 6; c++) {
        char one[64];
        if (over[c].first != over[c].last || all[c].first == all[c].last) { // only single values are told
            over[c] = all[c];
            continue;
        }
        snprintf(one, sizeof one, "%s%s %d", found->place[0] ? ", " : "written by threads with ", names[c],
                 over[c].first);
        append(found->place, sizeof found->place, one);
    }
    for (size_t i = 0; found->place[0] && i < values->count; i++) {
        bool in = true;
        for (int c = 0; c < 6; c++)
            in &= contains(&over[c], values->writers[i].at[c]);
        found->elements += in;
    }
}

static bool is_telling(const set *found, double wrong, double count)
{
    if (found->elements <= 0 || found->elements >= count || !found->place[0])
        return false;
    return wrong >= most_of * found->elements || wrong * log(found->elements / count) < log(small_chance);
}

static void say_place(const heddle_check_values *values, double wrong, char *text, size_t size)
{
    set sets[3] = {0}, *best = NULL;
    find_box(values, &sets[0]);
    find_outside(values, &sets[1]);
    find_writers(values, &sets[2]);
    for (int i = 0; i < 3; i++)
        if (is_telling(&sets[i], wrong, (double)values->count) && (!best || sets[i].elements < best->elements))
            best = &sets[i];
    const bool all = best && best->elements == wrong, every = all && strncmp(best->place, "every ", 6) == 0;
    if (all && values->rank == 1 && (every || strncmp(best->place, "elements ", 9) == 0))
        snprintf(text, size, "They are %s%s.", every ? "" : "all ", best->place);
    else if (all)
        snprintf(text, size, "They are %s; every element there is wrong.", best->place);
    else if (best)
        snprintf(text, size, "They are %s: %.0f of the %.0f elements there.", best->place, wrong, best->elements);
}

// What a kernel did not write has no other fault.
static bool is_unwritten(const heddle_check_values *values)
{
    bool all = values->writers != NULL;
    for (size_t i = 0; all && i < values->count; i++)
        all = !values->wrong[i] || values->writers[i].nobody;
    return all;
}

// --- values ----------------------------------------------------------------------------------------------------------

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b));
}

// What all wrong values are, or by how much all of them are off.
static void say_values(const heddle_check_values *values, char *text, size_t size)
{
    bool same = true, nan = true, scaled = true, moved = true, begun = false;
    double value = 0, factor = 0, distance = 0;
    for (size_t i = 0; i < values->count; i++) {
        double got = values->got[i], expected = values->expected[i];
        if (!values->wrong[i])
            continue;
        if (!begun) {
            value = got;
            factor = got / expected;
            distance = got - expected;
        }
        begun = true;
        nan &= isnan(got);
        same &= got == value;
        scaled &= isfinite(factor) && is_near(got, factor * expected);
        moved &= isfinite(distance) && is_near(got - expected, distance);
    }
    size_t used = strlen(text);
    const char *before = used ? " " : "";
    if (nan)
        snprintf(text + used, size - used, "%sEach is NaN.", before);
    else if (same)
        snprintf(text + used, size - used, "%sEach is %.6g.", before, value);
    else if (scaled)
        snprintf(text + used, size - used, "%sEach is %.6g times what it should be.", before, factor);
    else if (moved)
        snprintf(text + used, size - used, "%sEach is %.6g too %s.", before, fabs(distance),
                 distance > 0 ? "large" : "small");
}

const char *heddle_check_pattern(const heddle_check_values *values, char *text, size_t size)
{
    double wrong = 0;
    for (size_t i = 0; i < values->count; i++)
        wrong += values->wrong[i];
    text[0] = '\0';
    if (wrong >= LEAST_WRONG && values->rank > 0)
        say_place(values, wrong, text, size);
    if (is_unwritten(values))
        append(text, size, text[0] ? " No kernel wrote them." : "No kernel wrote it.");
    else if (wrong >= LEAST_WRONG && values->got)
        say_values(values, text, size);
    return text;
}
