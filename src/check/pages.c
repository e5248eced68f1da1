// The pages are files of src/check/pages that the build puts into the library (cmake/HeddleEmbed.cmake).

#include "check/pages.h"

#include <stddef.h>
#include <string.h>

#include "pages_of_check.h"

static const struct {
    const char *kind, *text;
} pages[] = {
#define PAGE(kind, text) {kind, text},
    HEDDLE_CHECK_PAGES(PAGE)
#undef PAGE
};

const char *heddle_check_page(heddle_check_kind kind)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].kind, heddle_check_kinds[kind].name) == 0)
            return pages[i].text;
    return NULL;
}
