// The random operators: word for word cuRAND's numbers, for both of its ways of counting, on every rung of the device
// under test; and the statistics of what comes out, each held up by a generator that it has to find wanting.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "heddle/ops.h"
#include "ops/random/random.h"

// --- cuRAND's numbers ------------------------------------------------------------------------------------------------

enum { KNOWN = 8 };

// Written down from cuRAND 10.4. `sequences` 1: curand_init(seed, sequence, position), then curand() eight times.
// 65536: a Philox generator of the host API with that seed and offset, by curandGenerate, curandGenerateUniform and
// curandGenerateNormal.
static const struct known {
    int sequences;
    uint64_t seed, sequence, position;
    uint32_t words[KNOWN];
    float uniform[KNOWN], normal[KNOWN];
} known[] = {
    {1,
     0,
     0,
     0,
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67},
     {0x1.989fa4p-2f, 0x1.c2d38cp-1f, 0x1.78af58p-1f, 0x1.3601b8p-1f},
     {-0.924662411f, 0.991137743f, -0.482068747f, -0.617608845f}},
    {1,
     42,
     7,
     3,
     {0x557398d3, 0xe5dde940, 0x600f6196, 0x8fcdf8f1, 0x2c8ed839, 0x24ecfc6e, 0xf000aacd, 0x571a4cf0},
     {0x1.55ce64p-2f, 0x1.cbbbd2p-1f, 0x1.803d86p-2f, 0x1.1f9bf2p-1f},
     {0}}, // its normal numbers pair from an odd place, ours do not
    {1,
     0xfedcba9876543210,
     0x10000000005,
     0x100000003,
     {0xdac476f0, 0xf4149a04, 0x91b8b13e, 0x17027776, 0x540cbba8, 0x0634f7e4, 0x9bee6968, 0xd27ccdf2},
     {0x1.b588eep-1f, 0x1.e82934p-1f, 0x1.237162p-1f, 0x1.702778p-4f},
     {0}},
    {1,
     9,
     0x8000000000000000,
     0x3fffffffa,
     {0x9a425f7b, 0x6c837e07, 0x0f1cbef5, 0x59b9c6bd, 0xe775e67a, 0x433fb603, 0xa815dbe3, 0xa667b950},
     {0x1.3484bep-1f, 0x1.b20df8p-2f, 0x1.e397dep-5f, 0x1.66e71ap-2f},
     {0.463242859f, -0.893583477f, 1.92027736f, -1.40423429f}},
    {65536,
     5,
     0,
     0,
     {0xc417681d, 0x11d85194, 0xfbd62c3b, 0xf739e278, 0x63319a34, 0x53dfd057, 0x81463c6d, 0xb5fcd5d5},
     {0x1.882edp-1f, 0x1.1d851ap-4f, 0x1.f7ac58p-1f, 0x1.ee73c4p-1f, 0x1.8cc668p-2f, 0x1.4f7f42p-2f, 0x1.028c78p-1f,
      0x1.6bf9acp-1f},
     {0.309687465f, 0.6612764f, -0.0386960842f, 0.17690818f, 1.21642709f, -0.645375788f, -1.13384724f, -0.284379095f}},
    {65536,
     42,
     0,
     6,
     {0x3b68b038, 0xb62c409c, 0x65fe70a6, 0x852e5866, 0x6bef1d5a, 0xb11de8b5, 0x0a51a6b2, 0x72148a91},
     {0x1.db4582p-3f, 0x1.6c5882p-1f, 0x1.97f9c2p-2f, 0x1.0a5cbp-1f, 0x1.afbc76p-2f, 0x1.623bd2p-1f, 0x1.4a34d6p-5f,
      0x1.c8522ap-2f},
     {-1.65975308f, -0.408270776f, -0.17205061f, -1.34570706f, -1.22755885f, -0.469482183f, 0.849060059f,
      -2.38777876f}},
    {65536, // the last words of the sequences' first blocks, then the first of their second ones
     0xfedcba9876543210,
     0,
     0x3fffd,
     {0xd56862a8, 0x2060abdf, 0x9e0610ba, 0x29fcc21d, 0x061121ec, 0x300a371d, 0xcf798377, 0x4e5529ed},
     {0x1.aad0c6p-1f, 0x1.03055ep-3f, 0x1.3c0c22p-1f, 0x1.4fe61p-3f, 0x1.84487cp-6f, 0x1.8051b8p-3f, 0x1.9ef306p-1f,
      0x1.3954a8p-2f},
     {0.40738827f, -1.36654067f, -1.50598347f, 0.282093912f, 1.88043654f, -1.69892645f, 0.67818892f, -0.0206504371f}},
    {65536,
     42,
     0,
     0x3fffffffffffd,
     {0x64bf5078, 0xf5b4b161, 0xad24bfa1, 0x42e0b8b3, 0x7dbf5de8, 0x2fe739d4, 0x6aaf03eb, 0x37aa0818},
     {0x1.92fd42p-2f, 0x1.eb6962p-1f, 0x1.5a498p-1f, 0x1.0b82e2p-2f, 0x1.f6fd78p-2f, 0x1.7f39cep-3f, 0x1.aabc1p-2f,
      0x1.bd504p-3f},
     {-0.58735317f, -0.25636518f, -0.127913222f, 0.0905355513f, -1.63597786f, 0.914760768f, -1.58593893f,
      -1.72684598f}},
};
enum { KNOWN_CASES = sizeof known / sizeof *known };

static void draw(const heddle_op *op, const heddle_rung *rung, const void *shape, const struct known *from,
                 void *output)
{
    const int64_t state[HEDDLE_RANDOM_STATE] = {(int64_t)from->seed, (int64_t)from->sequence, (int64_t)from->position};
    heddle_call call = {.shape = shape, .input = {state}, .output = {output}};
    if (harness_launch(op, rung, &call) != HEDDLE_OK)
        fail_msg("%s, rung %s: %s", op->name, rung->name, heddle_last_error());
}

// Rungs of `op` that can do the shape, on the device under test. Every test here needs one at least.
static int usable_rungs(const heddle_op *op, const void *shape, const heddle_rung **rungs)
{
    int count = 0;
    for (int r = 0; r < op->rungs; r++)
        if (harness_runs(&op->ladder[r]) && (!op->ladder[r].supports || op->ladder[r].supports(shape)))
            rungs[count++] = &op->ladder[r];
    assert_true(count > 0);
    return count;
}

static void every_rung_gives_the_bits_that_curand_gives(void **state)
{
    (void)state;
    for (int c = 0; c < KNOWN_CASES; c++) {
        const heddle_random_bits_shape shape = {KNOWN, known[c].sequences};
        const heddle_rung *rungs[HARNESS_RUNGS];
        int count = usable_rungs(&heddle_op_random_bits, &shape, rungs);
        for (int r = 0; r < count; r++) {
            uint32_t words[KNOWN] = {0};
            draw(&heddle_op_random_bits, rungs[r], &shape, &known[c], words);
            if (memcmp(words, known[c].words, sizeof words) != 0)
                fail_msg("rung %s, case %d: begins with %08x, cuRAND with %08x", rungs[r]->name, c, words[0],
                         known[c].words[0]);
        }
    }
}

static void every_rung_gives_the_uniform_numbers_that_curand_gives(void **state)
{
    (void)state;
    for (int c = 0; c < KNOWN_CASES; c++) {
        const heddle_random_uniform_shape shape = {KNOWN, known[c].sequences, 0, 1};
        const heddle_rung *rungs[HARNESS_RUNGS];
        int count = usable_rungs(&heddle_op_random_uniform, &shape, rungs);
        for (int r = 0; r < count; r++) {
            float numbers[KNOWN] = {0};
            draw(&heddle_op_random_uniform, rungs[r], &shape, &known[c], numbers);
            for (int i = 0; i < KNOWN; i++)
                if (known[c].uniform[i] != 0 && numbers[i] != known[c].uniform[i])
                    fail_msg("rung %s, case %d: number %d is %a, cuRAND's %a", rungs[r]->name, c, i, numbers[i],
                             known[c].uniform[i]);
        }
    }
}

static void every_rung_gives_curands_normal_numbers_but_for_rounding(void **state)
{
    (void)state;
    int compared = 0;
    for (int c = 0; c < KNOWN_CASES; c++) {
        const heddle_random_normal_shape shape = {KNOWN, known[c].sequences, 0, 1};
        const heddle_rung *rungs[HARNESS_RUNGS];
        int count = usable_rungs(&heddle_op_random_normal, &shape, rungs);
        for (int r = 0; r < count; r++) {
            float numbers[KNOWN] = {0};
            draw(&heddle_op_random_normal, rungs[r], &shape, &known[c], numbers);
            for (int i = 0; i < KNOWN; i++) {
                if (known[c].normal[i] == 0)
                    continue;
                // A sine looked up by hardware is off by up to 2^-20, times a radius of 3 here.
                if (!(fabs((double)numbers[i] - known[c].normal[i]) < 4e-6))
                    fail_msg("rung %s, case %d: number %d is %.9g, cuRAND's %.9g", rungs[r]->name, c, i,
                             (double)numbers[i], (double)known[c].normal[i]);
                compared++;
            }
        }
    }
    assert_true(compared > 0);
}

// What was drawn in one call is what two calls draw that share it, wherever the cut is.
static void a_call_goes_on_where_another_ended(void **state)
{
    (void)state;
    enum { ALL = 37 };
    const heddle_rung *rungs[HARNESS_RUNGS];
    const heddle_random_normal_shape whole = {ALL, 4, 0, 1};
    int count = usable_rungs(&heddle_op_random_normal, &whole, rungs);
    for (int r = 0; r < count; r++)
        for (int cut = 1; cut < 9; cut++) {
            struct known from = known[3];
            float together[ALL], parts[ALL];
            const heddle_random_normal_shape first = {cut, 4, 0, 1}, second = {ALL - cut, 4, 0, 1};
            draw(&heddle_op_random_normal, rungs[r], &whole, &from, together);
            draw(&heddle_op_random_normal, rungs[r], &first, &from, parts);
            from.position += (uint64_t)cut;
            draw(&heddle_op_random_normal, rungs[r], &second, &from, parts + cut);
            assert_memory_equal(together, parts, sizeof parts);
        }
}

static void shapes_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    heddle_random_normal_shape shape;
    assert_int_equal(heddle_shape_parse(&heddle_op_random_bits, "n=4 sequences=3", &shape), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(&heddle_op_random_bits, "n=4 sequences=0", &shape), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(&heddle_op_random_uniform, "n=4 low=1 high=1", &shape), HEDDLE_INVALID);
    const heddle_random_uniform_shape limits[] = {
        {4, 1, -INFINITY, 1}, {4, 1, 0, INFINITY}, {4, 1, NAN, 1}, {4, 1, 0, NAN}, {4, 1, -FLT_MAX, FLT_MAX}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        assert_int_equal(heddle_shape_validate(&heddle_op_random_uniform, &limits[i]), HEDDLE_INVALID);
    const heddle_random_normal_shape moments[] = {{4, 1, NAN, 1}, {4, 1, INFINITY, 1}, {4, 1, 0, INFINITY}};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        assert_int_equal(heddle_shape_validate(&heddle_op_random_normal, &moments[i]), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(&heddle_op_random_normal, "n=4 deviation=-1", &shape), HEDDLE_INVALID);
    assert_int_equal(heddle_shape_parse(&heddle_op_random_normal, "n=4 deviation=0", &shape), HEDDLE_OK);
}

// --- statistics ------------------------------------------------------------------------------------------------------

enum { SAMPLES = 1 << 17, BINS = 128 };

// Standard deviations that a statistic may be off: more than five come once in 1.7 million.
static const double most_deviations = 5;
// Kolmogorov's distribution: sqrt(n) times the largest distance is above this once in 50,000 samples.
static const double most_distance = 2.4;

typedef struct distribution {
    double mean, variance, fourth; // the fourth central moment
    double (*below)(double x);     // the share of numbers up to x
} distribution;

static double uniform_below(double x)
{
    return x;
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

static const distribution uniform = {0.5, 1 / 12.0, 1 / 80.0, uniform_below};
static const distribution normal = {0, 1, 3, normal_below};

// Which statistics are out of bounds.
typedef enum flaw { MEAN = 1, VARIANCE = 2, EVENNESS = 4, CORRELATION = 8, SHAPE = 16 } flaw;

static void look_at_moments(const float *x, const distribution *law, flaw *found)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < SAMPLES; i++) {
        sum += x[i] - law->mean;
        squares += (x[i] - law->mean) * (x[i] - law->mean);
    }
    double mean_spread = sqrt(law->variance / SAMPLES);
    double variance_spread = sqrt((law->fourth - law->variance * law->variance) / SAMPLES);
    *found |= fabs(sum / SAMPLES) > most_deviations * mean_spread ? MEAN : 0;
    *found |= fabs(squares / SAMPLES - law->variance) > most_deviations * variance_spread ? VARIANCE : 0;
}

// Chi-square over bins of equal probability. Too even is as suspicious as too uneven.
static void look_at_bins(const float *x, const distribution *law, flaw *found)
{
    int counts[BINS] = {0};
    double expected = (double)SAMPLES / BINS, sum = 0, freedom = BINS - 1;
    for (int i = 0; i < SAMPLES; i++) {
        int bin = (int)(law->below(x[i]) * BINS);
        counts[bin < BINS ? bin < 0 ? 0 : bin : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++)
        sum += (counts[b] - expected) * (counts[b] - expected) / expected;
    *found |= fabs(sum - freedom) > most_deviations * sqrt(2 * freedom) ? EVENNESS : 0;
}

// Between a number and the one behind it, and the ones 2, 3 and 4 behind: words of one Philox block, and of the next.
static void look_at_neighbours(const float *x, const distribution *law, flaw *found)
{
    double worst = 0; // in standard deviations
    for (int lag = 1; lag <= 4; lag++) {
        double sum = 0;
        for (int i = 0; i + lag < SAMPLES; i++)
            sum += (x[i] - law->mean) * (x[i + lag] - law->mean);
        worst = fmax(worst, fabs(sum / law->variance) / sqrt(SAMPLES - lag));
    }
    *found |= worst > most_deviations ? CORRELATION : 0;
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Kolmogorov and Smirnov: the largest distance between the share below x and what it should be.
static void look_at_shape(const float *x, const distribution *law, flaw *found)
{
    float *sorted = malloc(SAMPLES * sizeof *sorted);
    double distance = 0;
    memcpy(sorted, x, SAMPLES * sizeof *sorted);
    qsort(sorted, SAMPLES, sizeof *sorted, compare_floats);
    for (int i = 0; i < SAMPLES; i++) {
        double share = law->below(sorted[i]);
        double over = (i + 1.0) / SAMPLES - share, under = share - (double)i / SAMPLES;
        if (over > distance)
            distance = over;
        if (under > distance)
            distance = under;
    }
    free(sorted);
    *found |= distance * sqrt(SAMPLES) > most_distance ? SHAPE : 0;
}

static flaw flaws_of(const float *x, const distribution *law)
{
    flaw found = 0;
    look_at_moments(x, law, &found);
    look_at_bins(x, law, &found);
    look_at_neighbours(x, law, &found);
    look_at_shape(x, law, &found);
    return found;
}

// By the rung that would be taken on the device under test.
static float *sample(const heddle_op *op, int sequences)
{
    const heddle_random_normal_shape shape = {SAMPLES, sequences, 0, 1}; // also uniform's: from 0 to 1
    const heddle_rung *rungs[HARNESS_RUNGS];
    int count = usable_rungs(op, &shape, rungs);
    float *x = malloc(SAMPLES * sizeof *x);
    const struct known from = {.seed = 20240607};
    draw(op, rungs[count - 1], &shape, &from, x);
    return x;
}

static void statistics_of_uniform_and_normal_numbers_hold(void **state)
{
    (void)state;
    static const int sequences[] = {1, 65536};
    for (int s = 0; s < 2; s++) {
        float *x = sample(&heddle_op_random_uniform, sequences[s]);
        for (int i = 0; i < SAMPLES; i++)
            assert_true(x[i] > 0 && x[i] <= 1);
        assert_int_equal(flaws_of(x, &uniform), 0);
        free(x);
        x = sample(&heddle_op_random_normal, sequences[s]);
        assert_int_equal(flaws_of(x, &normal), 0);
        free(x);
    }
}

static void low_and_high_mean_and_deviation_are_met(void **state)
{
    (void)state;
    const heddle_rung *rungs[HARNESS_RUNGS];
    const struct known from = {.seed = 3};
    float *x = malloc(SAMPLES * sizeof *x);
    const heddle_random_uniform_shape between = {SAMPLES, 1, -3, 5};
    draw(&heddle_op_random_uniform, rungs[usable_rungs(&heddle_op_random_uniform, &between, rungs) - 1], &between,
         &from, x);
    for (int i = 0; i < SAMPLES; i++)
        x[i] = (x[i] + 3) / 8;
    assert_int_equal(flaws_of(x, &uniform), 0);
    const heddle_random_normal_shape around = {SAMPLES, 1, 10, 0.25f};
    draw(&heddle_op_random_normal, rungs[usable_rungs(&heddle_op_random_normal, &around, rungs) - 1], &around, &from,
         x);
    for (int i = 0; i < SAMPLES; i++)
        x[i] = (x[i] - 10) * 4;
    assert_int_equal(flaws_of(x, &normal), 0);
    free(x);
}

// Floats near a million are a sixteenth apart: some numbers round to the lower limit, some to the upper, none go
// beyond.
static void numbers_that_round_reach_both_limits_and_stay_between_them(void **state)
{
    (void)state;
    enum { COUNT = 2048 };
    const heddle_rung *rungs[HARNESS_RUNGS];
    const struct known from = {.seed = 3};
    const heddle_random_uniform_shape shape = {COUNT, 1, 1000000, 1000001};
    float x[COUNT];
    int count = usable_rungs(&heddle_op_random_uniform, &shape, rungs);
    assert_true(count > 0);
    for (int r = 0; r < count; r++) {
        float least = INFINITY, most = -INFINITY;
        draw(&heddle_op_random_uniform, rungs[r], &shape, &from, x);
        for (int i = 0; i < COUNT; i++) {
            least = fminf(least, x[i]);
            most = fmaxf(most, x[i]);
        }
        assert_true(least == shape.low && most == shape.high);
    }
}

// --- generators that must not pass -----------------------------------------------------------------------------------

static float too_small(const float *x, int i)
{
    return 0.98f * x[i];
}

static float too_narrow(const float *x, int i)
{
    return 0.5f + 0.98f * (x[i] - 0.5f);
}

static float of_five_bits(const float *x, int i)
{
    return (floorf(32 * x[i]) + 0.5f) / 32;
}

static float by_golden_ratio(const float *x, int i)
{
    (void)x;
    double turn = i * 0.61803398874989484820;
    return (float)(turn - floor(turn)); // fills the interval too evenly
}

static float each_twice(const float *x, int i)
{
    return x[i / 2];
}

static float every_fourth_like_the_one_before(const float *x, int i)
{
    return x[i % 4 == 3 ? i - 1 : i];
}

// Three uniform numbers have a sum with the right mean and variance and nearly the right shape.
static float sum_of_three(const float *x, int i)
{
    return 2 * (x[i] + x[(i + SAMPLES / 3) % SAMPLES] + x[(i + 2 * (SAMPLES / 3)) % SAMPLES] - 1.5f);
}

static void statistics_find_generators_that_are_bad(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        float (*number)(const float *x, int i);
        const distribution *law;
        flaw found;
    } bad[] = {
        {"too small", too_small, &uniform, MEAN},
        {"too narrow", too_narrow, &uniform, VARIANCE},
        {"of five bits", of_five_bits, &uniform, EVENNESS},
        {"by the golden ratio", by_golden_ratio, &uniform, EVENNESS},
        {"each twice", each_twice, &uniform, CORRELATION},
        {"every fourth like the one before", every_fourth_like_the_one_before, &uniform, CORRELATION},
        {"sum of three", sum_of_three, &normal, SHAPE},
    };
    float *x = sample(&heddle_op_random_uniform, 1), *spoilt = malloc(SAMPLES * sizeof *spoilt);
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        for (int i = 0; i < SAMPLES; i++)
            spoilt[i] = bad[b].number(x, i);
        if (!(flaws_of(spoilt, bad[b].law) & bad[b].found))
            fail_msg("a generator %s passes: flaws %d, not %d", bad[b].name, flaws_of(spoilt, bad[b].law),
                     bad[b].found);
    }
    free(spoilt);
    free(x);
}

// How many of 32 bits are set too often or too seldom, or follow on themselves so.
static int bad_bits(const uint32_t *words)
{
    int bad = 0;
    for (int bit = 0; bit < 32; bit++) {
        int set = 0, changes = 0;
        for (int i = 0; i < SAMPLES; i++) {
            set += words[i] >> bit & 1;
            changes += i > 0 ? (words[i] ^ words[i - 1]) >> bit & 1 : 0;
        }
        double spread = sqrt(SAMPLES / 4.0);
        bad += fabs(set - SAMPLES / 2.0) > most_deviations * spread ||
               fabs(changes - (SAMPLES - 1) / 2.0) > most_deviations * spread;
    }
    return bad;
}

static void every_bit_is_set_half_of_the_time_and_changes_half_of_the_time(void **state)
{
    (void)state;
    uint32_t *words = malloc(SAMPLES * sizeof *words), congruential = 1;
    const heddle_random_bits_shape shape = {SAMPLES, 1};
    const heddle_rung *rungs[HARNESS_RUNGS];
    const struct known from = {.seed = 20240607};
    draw(&heddle_op_random_bits, rungs[usable_rungs(&heddle_op_random_bits, &shape, rungs) - 1], &shape, &from, words);
    assert_int_equal(bad_bits(words), 0);
    for (int i = 0; i < SAMPLES; i++)
        words[i] = congruential = congruential * 1664525u + 1013904223u; // its low bits come in short rounds
    assert_true(bad_bits(words) > 0);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rung_gives_the_bits_that_curand_gives),
        cmocka_unit_test(every_rung_gives_the_uniform_numbers_that_curand_gives),
        cmocka_unit_test(every_rung_gives_curands_normal_numbers_but_for_rounding),
        cmocka_unit_test(a_call_goes_on_where_another_ended),
        cmocka_unit_test(shapes_that_make_no_sense_are_refused),
        cmocka_unit_test(statistics_of_uniform_and_normal_numbers_hold),
        cmocka_unit_test(low_and_high_mean_and_deviation_are_met),
        cmocka_unit_test(numbers_that_round_reach_both_limits_and_stay_between_them),
        cmocka_unit_test(statistics_find_generators_that_are_bad),
        cmocka_unit_test(every_bit_is_set_half_of_the_time_and_changes_half_of_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
