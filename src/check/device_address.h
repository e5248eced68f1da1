// Host code that takes the address of a device function.
#pragma once

#include "check/own.h"
#include "check/result.h"

heddle_status heddle_check_device_addresses_find(heddle_check_result *result, const heddle_check_own_files *files);
