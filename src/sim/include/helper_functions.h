// The samples' helper_functions.h, written anew: the host-side helpers together.
#pragma once
#define COMMON_HELPER_FUNCTIONS_H_

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <exception.h>
#include <helper_image.h>
#include <helper_string.h>
#include <helper_timer.h>
