// Files that are called like a module of MPI and are none.

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dist/dist.h"

enum { PATH = 256 };

static void assert_missing(const char *part)
{
    char text[PATH];
    assert_int_equal(heddle_dist_describe("mpi", text, sizeof text), HEDDLE_MISSING);
    if (!strstr(heddle_last_error(), part))
        fail_msg("no '%s' in: %s", part, heddle_last_error());
}

static void what_is_not_a_module_of_this_heddle_is_refused(void **state)
{
    (void)state;
    char folder[] = "/tmp/heddle-engine-XXXXXX", module[PATH];
    assert_non_null(mkdtemp(folder));
    snprintf(module, sizeof module, "%s/libheddle-mpi.so", folder);
    setenv("HEDDLE_MODULES", folder, 1);
    FILE *text = fopen(module, "w");
    assert_non_null(text);
    assert_true(fputs("not a shared object\n", text) >= 0 && fclose(text) == 0);
    assert_missing("; install openmpi-bin");
    assert_int_equal(unlink(module), 0);
    Dl_info other; // a shared object of something else: the C library
    assert_int_not_equal(dladdr((void *)(uintptr_t)getppid, &other), 0);
    assert_int_equal(symlink(other.dli_fname, module), 0);
    assert_missing("libheddle-mpi.so is not a module of this heddle: build both together");
    assert_int_equal(unlink(module), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_not_a_module_of_this_heddle_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
