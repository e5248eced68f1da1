// What a compiler says about the stand-in headers, in the words of the user's program.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "build/build.h"
#include "rewrite/text.h"

// Writes the message as the user should read it; unchanged if it is not about the stand-in headers. *launch: it says
// that a launch does not fit its kernel. False: the message is of no use to him.
bool sim_wording(sim_message_kind kind, const char *text, size_t bytes, sim_text *out, bool *launch);
