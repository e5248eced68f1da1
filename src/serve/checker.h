// Checks of CUDA programs that pages send, one at a time, each contained as `heddle check` contains it. The reports of
// the latest ones are kept.
#pragma once

#include <stdint.h>

#include "web/server.h"

typedef struct heddle_serve_checker heddle_serve_checker;

heddle_status heddle_serve_checker_create(heddle_serve_checker **checker);
// Before heddle_web_stop, which waits for requests: ends the check under way and refuses those that wait.
void heddle_serve_checker_stop(heddle_serve_checker *checker); // NULL is fine
void heddle_serve_checker_destroy(heddle_serve_checker *checker);

// "reduce.cu": letters, digits, '.', '-' and '_', ending in .cu.
bool heddle_serve_checker_names(const char *name);
// Checks the source and finishes the request.
void heddle_serve_checker_check(heddle_serve_checker *checker, heddle_web_later *later, const char *name,
                                const char *source);
// The report of a check, as a page; the caller frees *html. HEDDLE_NOT_FOUND: it is not kept.
heddle_status heddle_serve_checker_report(heddle_serve_checker *checker, int number, char **html, size_t *size);
uint64_t heddle_serve_checker_count(heddle_serve_checker *checker);
