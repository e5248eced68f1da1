// What all reports share: their head with its style, text that is safe in HTML, source in colours, and their end.
#pragma once

#include <stdio.h>

#include "heddle/status.h"

// Everything up to the first heading, which is the title. Nothing is fetched; light or dark as the reader's system is
// set. `style`: more of it, which may be "".
void heddle_html_begin(FILE *file, const char *title, const char *style);
// Prints `text` with &, <, > and quotes escaped: also safe inside a quoted attribute. Control characters, which cannot
// be shown, are left out.
void heddle_html_text(FILE *file, const char *text);
// The same for a sentence: what stands between two backticks is code.
void heddle_html_sentence(FILE *file, const char *text);
// A script that colours the code in tables of the class "source", which have a <pre> per line.
void heddle_html_colour_source(FILE *file);
heddle_status heddle_html_end(FILE *file);
