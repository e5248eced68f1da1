// The parts of the page that page.c puts together: text that is safe in HTML, and the plots as SVG.
#ifndef HEDDLE_BENCH_PAGE_H
#define HEDDLE_BENCH_PAGE_H

#include "bench/bench.h"

// Prints `text` with &, <, > and quotes written out.
void heddle_bench_page_text(FILE *file, const char *text);

// A bar a rung for the results [first, last), in the order of the ladder; as long as the rung is fast.
void heddle_bench_plot_ladder(const heddle_bench *bench, int first, int last, FILE *file);
// Operations a second over operations a byte, both logarithmic, under the roof of this device. Nothing where no result
// computes anything.
void heddle_bench_plot_roofline(const heddle_bench *bench, FILE *file);

#endif
