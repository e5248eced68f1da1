// The plots of a page of results, as SVG.
#pragma once

#include "bench/bench.h"

// One bar per rung of the results [first, last), in the order of the ladder; its length is the rung's speed.
void heddle_bench_plot_ladder(const heddle_bench *bench, int first, int last, FILE *file);
// Roofline and time of every rung over the values that options.sweep names; nothing without one.
void heddle_bench_plot_sweep(const heddle_bench *bench, FILE *file);
// FLOP/s over FLOP per byte, both logarithmic, under the roof of this device. Draws nothing where no result computes
// anything.
void heddle_bench_plot_roofline(const heddle_bench *bench, FILE *file);
