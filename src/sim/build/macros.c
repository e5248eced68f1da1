// One-letter macros, and the headers that are to be read before them.

#include "build/macros.h"

#include <ctype.h>
#include <string.h>

// Stand-in headers with templates. Others have no parameters that a letter could replace.
static const char *const with_templates[] = {"cooperative_groups",
                                             "cuda/",
                                             "cuda_pipeline",
                                             "cub/",
                                             "mma.h",
                                             "thrust/",
                                             "cublas",
                                             "cuComplex.h",
                                             "helper_",
                                             NULL};

bool sim_macro_is_letter(const char *option)
{
    return strncmp(option, "-D", 2) == 0 && isalpha((unsigned char)option[2]) &&
           (option[3] == '\0' || option[3] == '=');
}

static bool is_read_before(const char *name)
{
    for (const char *const *start = with_templates; *start; start++)
        if (strncmp(name, *start, strlen(*start)) == 0)
            return true;
    return false;
}

// Of `#include <name>` or `#include "name"` at the begin of a line: writes it again.
static bool write_include(FILE *file, const char *line)
{
    line += strspn(line, " \t");
    if (*line != '#')
        return true;
    line += 1 + strspn(line + 1, " \t");
    if (strncmp(line, "include", 7) != 0)
        return true;
    line += 7 + strspn(line + 7, " \t");
    size_t length = *line == '<' || *line == '"' ? strcspn(line + 1, ">\"\n") : 0;
    if (length == 0 || line[1 + length] == '\n' || !is_read_before(line + 1))
        return true;
    return fprintf(file, "#if __has_include(<%.*s>)\n#include <%.*s>\n#endif\n", (int)length, line + 1, (int)length,
                   line + 1) > 0;
}

bool sim_macros_write(FILE *file, const char *const *options, const char *text)
{
    bool any = false, fine = true;
    for (const char *const *option = options; option && *option; option++)
        any |= sim_macro_is_letter(*option);
    if (!any)
        return true;
    fine = fprintf(file, "#include \"sim/ptx.h\"\n") > 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        fine = write_include(file, line) && fine;
    for (const char *const *option = options; *option; option++) {
        const char *value = (*option)[2] && (*option)[3] == '=' ? *option + 4 : "1";
        if (sim_macro_is_letter(*option)) // the comment ends what the value may have begun: a comment, a longer line
            fine = fprintf(file, "#define %c %.*s/**/\n", (*option)[2], (int)strcspn(value, "\n"), value) > 0 && fine;
    }
    return fine;
}
