// Between paths and file: addresses.

#include "lsp/uri.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

bool heddle_lsp_path_of(const char *uri, char *path, size_t size)
{
    static const char *const starts[] = {"file://localhost/", "file:///", "file:/"};
    const char *from = NULL;
    for (size_t i = 0; i < sizeof starts / sizeof *starts && !from; i++)
        if (strncmp(uri, starts[i], strlen(starts[i])) == 0)
            from = uri + strlen(starts[i]) - 1;
    if (!from || from[1] == '/') // file://host/path: another machine's
        return false;
    size_t used = 0;
    for (; *from && *from != '#' && *from != '?'; from++) {
        const int high = *from == '%' ? hexadecimal(from[1]) : -1, low = high >= 0 ? hexadecimal(from[2]) : -1;
        const char c = low >= 0 ? (char)(16 * high + low) : *from;
        if (c == '\0' || used + 1 >= size)
            return false;
        path[used++] = c;
        from += low >= 0 ? 2 : 0;
    }
    path[used] = '\0';
    return true;
}

const char *heddle_lsp_uri_of(const char *path, char *uri, size_t size)
{
    size_t used = (size_t)snprintf(uri, size, "file://");
    for (const char *c = path; *c; c++) {
        if (used + 4 > size) {
            uri[0] = '\0';
            return uri;
        }
        if (isalnum((unsigned char)*c) || strchr("/-._~", *c))
            uri[used++] = *c;
        else
            used += (size_t)snprintf(uri + used, size - used, "%%%02X", (unsigned char)*c);
    }
    uri[used] = '\0';
    return uri;
}
