// Reads from a compiler's messages which leniency a source needs, and says how to grant it.

#include "build/lenient.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LENIENT_SHARED                                                                                                 \
    "#undef SIM_SHARED\n#define SIM_SHARED thread_local\n"                                                             \
    "#undef SIM_SHARED_STATIC\n#define SIM_SHARED_STATIC thread_local\n"                                               \
    "#undef SIM_SHARED_EXTERN\n#define SIM_SHARED_EXTERN thread_local\n"
#define LENIENT_INLINE "#undef __forceinline__\n#define __forceinline__ __inline__\n"

// Whether there are errors, and every one says this.
static bool is_all(const char *said, const char *words)
{
    int errors = 0;
    for (const char *line = strstr(said, " error: "); line; line = strstr(line + 1, " error: ")) {
        const char *found = strstr(line, words);
        if (!found || found - line > (long)strcspn(line, "\n"))
            return false;
        errors++;
    }
    return errors > 0;
}

unsigned sim_lenient_asked(const char *said)
{
    unsigned asked = 0;
    if (strstr(said, "constant initializer"))
        asked |= SIM_LENIENT_SHARED;
    if (strstr(said, "inlining failed in call to"))
        asked |= SIM_LENIENT_INLINE;
    // gcc's option forgives other errors, too, that nvcc does not.
    if (is_all(said, "changes meaning of"))
        asked |= SIM_LENIENT_MEANING;
    return asked;
}

const char *sim_lenient_preamble(unsigned lenient)
{
    static const char *const texts[] = {"", LENIENT_SHARED, LENIENT_INLINE, LENIENT_SHARED LENIENT_INLINE};
    return texts[lenient & (SIM_LENIENT_SHARED | SIM_LENIENT_INLINE)];
}

const char *sim_lenient_option(unsigned lenient)
{
    return lenient & SIM_LENIENT_MEANING ? "-fpermissive" : NULL;
}
