// What is made of measured times, and in what order they are taken. Plain arithmetic: nothing here reads a clock.
#pragma once

// Sorts the values and returns the one that `share` of them are below.
double heddle_bench_quantile(double *values, int count, double share);
// Sorts the values; of an even count it is the mean of the two in the middle.
double heddle_bench_median(double *values, int count);
// Sorts the values and says how uncertain their median is, relative to it.
double heddle_bench_median_spread(double *values, int count);

// Which of `count` rungs comes at this position of this round. Every round has each of them once, and over 2 · count
// rounds each comes equally often right after every other: no rung always follows the one that heats the card.
int heddle_bench_turn(int count, int round, int position);

// Median over the rounds that have both of `above[round] / below[round]`, 0 being a round without; NAN: there is none.
// `scratch` has room for all rounds.
double heddle_bench_paired_ratio(const double *above, const double *below, int rounds, double *scratch);
