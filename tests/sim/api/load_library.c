// Calls a function of a shared object and ends with what it gives. Arguments: the file, the function's name.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments)
{
    void *library = count == 3 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    int (*function)(void) = NULL;
    if (library)
        *(void **)&function = dlsym(library, arguments[2]);
    if (!function) {
        fprintf(stderr, "%s\n", count == 3 ? dlerror() : "usage: load_library FILE FUNCTION");
        return 1;
    }
    return function();
}
