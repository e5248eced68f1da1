// What a place means in its line of source: the access, barrier, call, launch or loop, and what the code calls the
// memory there. The compiler's column decides where it is known, else the only thing on the line that fits.
#pragma once

#include "check/report.h"
#include "sim/source/lexer.h"

enum { HEDDLE_CHECK_NAME = 128 };

typedef struct heddle_check_access {
    int column, width;            // in bytes, from 1, within the line
    char name[HEDDLE_CHECK_NAME]; // of the array or pointer: "a" of a[i], "q.data" of q.data[i]; "": none
    int indices;                  // and arrows that follow it: 2 of tile[i][j]
} heddle_check_access;

// False: several parts of the line could be meant, or none.
bool heddle_check_access_find(const sim_source *source, const heddle_check_finding *finding,
                              const heddle_check_place *place, heddle_check_access *access);
