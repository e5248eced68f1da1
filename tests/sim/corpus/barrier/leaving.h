// How threads leave a kernel in a header's macros: barrier/ways_to_leave.cu.
#define header_leaves_if(condition)                                                                                    \
    if (condition)                                                                                                     \
    return
