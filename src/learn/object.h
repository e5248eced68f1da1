// The object that judges on the simulated GPU are linked with.
#pragma once

#include <stdbool.h>

#include "base/place.h"

// learn.o, made of the learn.h in this folder. False: there is none, and learn.h is compiled with the judge.
bool heddle_learn_find_object(const char *include, char path[HEDDLE_PLACE_SIZE]);
