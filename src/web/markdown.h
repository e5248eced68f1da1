// Markdown as HTML: tables and all of GitHub's kind, headings with the anchors that GitHub gives them. HTML inside the
// Markdown is left out, and so are links that are not http, https or mailto.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "heddle/status.h"

enum { HEDDLE_WEB_ADDRESS_SIZE = 512 };

// Where a link or a picture leads on the page; false: nowhere, and only its text stays.
typedef bool heddle_web_resolve(void *context, const char *address, char resolved[HEDDLE_WEB_ADDRESS_SIZE]);

// The caller frees *html. HEDDLE_MISSING: this build has no reader of Markdown.
heddle_status heddle_web_markdown(const char *text, heddle_web_resolve *resolve, void *context, char **html);
// "52-which-element-is-mine" of "5.2 Which element is mine?".
void heddle_web_anchor(const char *heading, char *anchor, size_t size);
