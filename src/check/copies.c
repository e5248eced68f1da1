// Holding copies to the host of two runs against each other.

#include "check/copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Whether the numbers are the same but for rounding, read as float or as double.
static bool same_but_rounded(const heddle_check_copy *a, const heddle_check_copy *b)
{
    // Far above what another order of a long float sum changes, far below what one wrong element in a thousand does.
    static const double tolerance[] = {1e-4, 1e-9};
    for (int type = 0; type < 2; type++)
        if (a->sums[type].magnitude >= 0 && b->sums[type].magnitude >= 0 &&
            fabs(a->sums[type].sum - b->sums[type].sum) <=
                tolerance[type] * fmax(a->sums[type].magnitude, b->sums[type].magnitude))
            return true;
    return false;
}

static bool same_content(const heddle_check_copy *a, const heddle_check_copy *b)
{
    return strcmp(a->hash, b->hash) == 0 || same_but_rounded(a, b);
}

// --- copies of several threads of the host ---------------------------------------------------------------------------

static int compare_by_hash(const void *left, const void *right)
{
    const heddle_check_copy *a = *(const heddle_check_copy *const *)left, *b = *(const heddle_check_copy *const *)right;
    return a->site != b->site ? (a->site > b->site) - (a->site < b->site) : strcmp(a->hash, b->hash);
}

static int compare_by_sum(const void *left, const void *right)
{
    const heddle_check_copy *a = *(const heddle_check_copy *const *)left, *b = *(const heddle_check_copy *const *)right;
    if (a->site != b->site)
        return (a->site > b->site) - (a->site < b->site);
    for (int type = 0; type < 2; type++)
        if (a->sums[type].sum != b->sums[type].sum)
            return (a->sums[type].sum > b->sums[type].sum) - (a->sums[type].sum < b->sums[type].sum);
    return strcmp(a->hash, b->hash);
}

static const heddle_check_copy **sorted_copies(const heddle_check_report *report)
{
    const heddle_check_copy **list = calloc((size_t)report->copy_count + 1, sizeof *list);
    for (int i = 0; list && i < report->copy_count; i++)
        list[i] = &report->copies[i];
    if (list)
        qsort(list, (size_t)report->copy_count, sizeof *list, compare_by_hash);
    return list;
}

// Takes out of two sorted lists what is in both, and says how many stay in each.
static void drop_equal(const heddle_check_copy **a, int *a_count, const heddle_check_copy **b, int *b_count)
{
    int kept_a = 0, kept_b = 0, i = 0, j = 0;
    while (i < *a_count && j < *b_count) {
        int order = compare_by_hash(&a[i], &b[j]);
        if (order < 0) {
            a[kept_a++] = a[i++];
        } else if (order > 0) {
            b[kept_b++] = b[j++];
        } else {
            i++;
            j++;
        }
    }
    while (i < *a_count)
        a[kept_a++] = a[i++];
    while (j < *b_count)
        b[kept_b++] = b[j++];
    *a_count = kept_a;
    *b_count = kept_b;
}

// Threads of the host may copy in any order: what each call brought is held against all that it brought the other time.
static int first_in_any_order(const heddle_check_report *a, const heddle_check_report *b)
{
    const heddle_check_copy **of_a = sorted_copies(a), **of_b = sorted_copies(b);
    int a_count = a->copy_count, b_count = b->copy_count, found = -1;
    if (of_a && of_b) {
        drop_equal(of_a, &a_count, of_b, &b_count);
        // What is left may be the same but for rounding, and then its sums are in the same order.
        qsort(of_a, (size_t)a_count, sizeof *of_a, compare_by_sum);
        qsort(of_b, (size_t)b_count, sizeof *of_b, compare_by_sum);
        if (a_count != b_count)
            found = 0;
        for (int i = 0; found < 0 && i < a_count; i++)
            if (of_a[i]->site != of_b[i]->site || !same_but_rounded(of_a[i], of_b[i]))
                found = (int)(of_a[i] - a->copies);
    }
    free(of_a);
    free(of_b);
    return found;
}

// --- copies that a later one replaces --------------------------------------------------------------------------------

// All copies of one call into the same host memory. Each but the last is gone when the next has come.
typedef struct series {
    int count, last;
    bool numbers; // all but the last are single numbers that are not 0
    bool steers;  // they decide how often a loop of the host goes round
} series;

typedef struct all_series {
    int *leader;  // of each copy: the first of its series
    series *list; // by leader
} all_series;

static bool same_destination(const heddle_check_copy *a, const heddle_check_copy *b)
{
    return a->into != 0 && a->site == b->site && a->into == b->into;
}

static int compare_by_destination(const void *left, const void *right)
{
    const heddle_check_copy *a = *(const heddle_check_copy *const *)left, *b = *(const heddle_check_copy *const *)right;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->into != b->into)
        return a->into < b->into ? -1 : 1;
    return (a > b) - (a < b);
}

static void fill_series(const heddle_check_report *report, const heddle_check_copy **sorted, all_series *all)
{
    int leader = 0;
    for (int i = 0; i < report->copy_count; i++) {
        int place = (int)(sorted[i] - report->copies);
        bool begins = i == 0 || !same_destination(sorted[i - 1], sorted[i]);
        leader = begins ? place : leader;
        series *one = &all->list[leader];
        one->numbers = begins || (one->numbers && report->copies[one->last].what == HEDDLE_CHECK_COPY_NUMBER);
        one->count++;
        one->last = place;
        all->leader[place] = leader;
    }
}

static void free_series(all_series *all)
{
    free(all->leader);
    free(all->list);
}

static bool find_series(const heddle_check_report *report, all_series *all)
{
    size_t count = (size_t)report->copy_count;
    const heddle_check_copy **sorted = calloc(count + 1, sizeof *sorted);
    *all = (all_series){calloc(count + 1, sizeof *all->leader), calloc(count + 1, sizeof *all->list)};
    bool made = sorted && all->leader && all->list;
    for (size_t i = 0; made && i < count; i++)
        sorted[i] = &report->copies[i];
    if (made) {
        qsort(sorted, count, sizeof *sorted, compare_by_destination);
        fill_series(report, sorted, all);
    }
    free(sorted);
    return made;
}

static int next_leader(const heddle_check_report *report, const all_series *all, int from)
{
    while (from < report->copy_count && all->leader[from] != from)
        from++;
    return from;
}

static bool goes_on_until_zero(const heddle_check_report *report, const series *one)
{
    return one->numbers && report->copies[one->last].what == HEDDLE_CHECK_COPY_ZERO;
}

// How often a loop of the host goes round may depend on the order, and what it looks at to go on is no result: where
// the rounds differ in number, or numbers come until one is 0, only the last copy counts.
static void mark_steering(const heddle_check_report *a, all_series *of_a, const heddle_check_report *b,
                          all_series *of_b)
{
    int i = next_leader(a, of_a, 0), j = next_leader(b, of_b, 0);
    while (i < a->copy_count && j < b->copy_count && a->copies[i].site == b->copies[j].site) {
        series *one = &of_a->list[i], *other = &of_b->list[j];
        one->steers = other->steers =
            one->count != other->count || (goes_on_until_zero(a, one) && goes_on_until_zero(b, other));
        i = next_leader(a, of_a, i + 1);
        j = next_leader(b, of_b, j + 1);
    }
}

// --- one after the other ---------------------------------------------------------------------------------------------

static int next_counting(const heddle_check_report *report, const all_series *all, int place)
{
    while (place < report->copy_count && all->list[all->leader[place]].steers &&
           place != all->list[all->leader[place]].last)
        place++;
    return place;
}

static bool first_in_order(const heddle_check_report *a, const all_series *of_a, const heddle_check_report *b,
                           const all_series *of_b, const heddle_check_report *repeated, heddle_check_difference *found)
{
    int i = next_counting(a, of_a, 0), j = next_counting(b, of_b, 0);
    while (i < a->copy_count && j < b->copy_count) {
        bool repeats = !repeated || same_content(&a->copies[i], &repeated->copies[i]);
        if (repeats && !same_content(&a->copies[i], &b->copies[j]))
            break;
        i = next_counting(a, of_a, i + 1);
        j = next_counting(b, of_b, j + 1);
    }
    *found = (heddle_check_difference){i, j};
    return i < a->copy_count || j < b->copy_count;
}

// The heap may reuse memory in one run and not in the other, so that series differ where the copies do not.
static bool all_equal(const heddle_check_report *a, const heddle_check_report *b)
{
    bool equal = a->copy_count == b->copy_count;
    for (int i = 0; equal && i < a->copy_count; i++)
        equal = a->copies[i].site == b->copies[i].site && same_content(&a->copies[i], &b->copies[i]);
    return equal;
}

bool heddle_check_copies_differ(const heddle_check_report *a, const heddle_check_report *b,
                                const heddle_check_report *repeated, heddle_check_difference *found)
{
    *found = (heddle_check_difference){-1, -1};
    if (a->copies_in_any_order || b->copies_in_any_order) {
        found->first = first_in_any_order(a, b);
        return found->first >= 0;
    }
    if (all_equal(a, b))
        return false;
    all_series of_a = {0}, of_b = {0};
    bool differ = find_series(a, &of_a) && find_series(b, &of_b);
    if (differ) {
        mark_steering(a, &of_a, b, &of_b);
        differ = first_in_order(a, &of_a, b, &of_b, repeated, found);
    }
    free_series(&of_a);
    free_series(&of_b);
    return differ;
}

// --- one copy --------------------------------------------------------------------------------------------------------

bool heddle_check_copy_repeats(const heddle_check_report *a, const heddle_check_report *b, int copy)
{
    bool in_order = !a->copies_in_any_order && !b->copies_in_any_order;
    return in_order && a->copy_count == b->copy_count && copy < a->copy_count &&
           a->copies[copy].site == b->copies[copy].site && same_content(&a->copies[copy], &b->copies[copy]);
}
