// The table of own_rungs.h.

#include "own_rungs.h"

#include <math.h>
#include <string.h>

#include "heddle/ops.h"

int own_elements(const heddle_call *call)
{
    return ((const heddle_elements_shape *)call->shape)->n;
}

static void add(const heddle_call *call, int first, int last)
{
    const float *a = call->input[0], *b = call->input[1];
    for (int i = first; i < last; i++)
        ((float *)call->output[0])[i] = a[i] + b[i];
}

heddle_status own_add(const heddle_call *call)
{
    add(call, 0, own_elements(call));
    return HEDDLE_OK;
}

static heddle_status right_and_slow(const heddle_call *call)
{
    for (int i = 0; i < 4; i++)
        add(call, 0, own_elements(call));
    return HEDDLE_OK;
}

// The one to spoil: there may be fewer.
static int wrong_element(const heddle_call *call)
{
    int n = own_elements(call);
    return n > OWN_WRONG_ELEMENT ? OWN_WRONG_ELEMENT : n / 2;
}

static heddle_status one_wrong(const heddle_call *call)
{
    add(call, 0, own_elements(call));
    ((float *)call->output[0])[wrong_element(call)] *= 1.0001f;
    return HEDDLE_OK;
}

static heddle_status zeros(const heddle_call *call)
{
    memset(call->output[0], 0, (size_t)own_elements(call) * sizeof(float));
    return HEDDLE_OK;
}

static heddle_status not_a_number(const heddle_call *call)
{
    for (int i = 0; i < own_elements(call); i++)
        ((float *)call->output[0])[i] = NAN;
    return HEDDLE_OK;
}

static heddle_status skips_the_last(const heddle_call *call)
{
    add(call, 0, own_elements(call) - 1);
    return HEDDLE_OK;
}

static heddle_status writes_nothing(const heddle_call *call)
{
    (void)call;
    return HEDDLE_OK;
}

// Computes the first time it sees an address, and gives that result again ever after.
static heddle_status keeps_the_result(const heddle_call *call)
{
    static float kept[OWN_MOST_ELEMENTS];
    static bool computed;
    if (!computed) {
        add(call, 0, own_elements(call));
        memcpy(kept, call->output[0], (size_t)own_elements(call) * sizeof(float));
        computed = true;
    }
    memcpy(call->output[0], kept, (size_t)own_elements(call) * sizeof(float));
    return HEDDLE_OK;
}

static heddle_status changes_an_input(const heddle_call *call)
{
    add(call, 0, own_elements(call));
    ((float *)call->input[1])[wrong_element(call)] += 1;
    return HEDDLE_OK;
}

static heddle_status writes_beyond_the_end(const heddle_call *call)
{
    add(call, 0, own_elements(call));
    ((float *)call->output[0])[own_elements(call)] = 0;
    return HEDDLE_OK;
}

static heddle_status fails(const heddle_call *call)
{
    (void)call;
    return heddle_fail(HEDDLE_DEVICE, "the card is on fire");
}

static bool never(const void *any)
{
    (void)any;
    return false;
}

static size_t more_than_there_is(const void *one_shape, int threads)
{
    (void)one_shape;
    (void)threads;
    return (size_t)1 << 60;
}

const heddle_rung own_rungs[] = {
    {"right_and_slow", HEDDLE_CPU, HEDDLE_NAIVE, right_and_slow, "four times", NULL, NULL},
    {"right", HEDDLE_CPU, HEDDLE_TUNED, own_add, "once", NULL, NULL},
    {"one_wrong", HEDDLE_CPU, HEDDLE_TUNED, one_wrong, "", NULL, NULL},
    {"zeros", HEDDLE_CPU, HEDDLE_TUNED, zeros, "", NULL, NULL},
    {"not_a_number", HEDDLE_CPU, HEDDLE_TUNED, not_a_number, "", NULL, NULL},
    {"skips_the_last", HEDDLE_CPU, HEDDLE_TUNED, skips_the_last, "", NULL, NULL},
    {"writes_nothing", HEDDLE_CPU, HEDDLE_TUNED, writes_nothing, "", NULL, NULL},
    {"keeps_the_result", HEDDLE_CPU, HEDDLE_TUNED, keeps_the_result, "", NULL, NULL},
    {"changes_an_input", HEDDLE_CPU, HEDDLE_TUNED, changes_an_input, "", NULL, NULL},
    {"writes_beyond_the_end", HEDDLE_CPU, HEDDLE_TUNED, writes_beyond_the_end, "", NULL, NULL},
    {"fails", HEDDLE_CPU, HEDDLE_TUNED, fails, "", NULL, NULL},
    {"unsupported", HEDDLE_CPU, HEDDLE_TUNED, fails, "", never, NULL},
    {"too_large", HEDDLE_CPU, HEDDLE_TUNED, own_add, "", NULL, more_than_there_is},
    {"theirs", HEDDLE_CPU, HEDDLE_VENDOR, right_and_slow, "a vendor's", NULL, NULL},
    {"theirs_wrong", HEDDLE_CPU, HEDDLE_VENDOR, zeros, "a vendor's in few bits", NULL, NULL, HEDDLE_BFLOAT},
    {"rounded", HEDDLE_CPU, HEDDLE_TUNED, one_wrong, "in few bits", NULL, NULL, HEDDLE_TF32},
    {"in_parts", HEDDLE_CPU, HEDDLE_TUNED, own_add, "of fp32 class", NULL, NULL, HEDDLE_TF32X3},
};

const int own_rung_count = sizeof own_rungs / sizeof *own_rungs;
