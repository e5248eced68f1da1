// What the pages of measurements share: their head with its style, text that is safe in HTML, and their end.
#pragma once

#include <stdio.h>

#include "heddle/status.h"

// Everything up to the first heading, which is the title. Nothing is fetched and no script runs; light or dark as the
// reader's system is set.
void heddle_html_begin(FILE *file, const char *title);
// Prints `text` with &, <, > and quotes escaped.
void heddle_html_text(FILE *file, const char *text);
heddle_status heddle_html_end(FILE *file);
