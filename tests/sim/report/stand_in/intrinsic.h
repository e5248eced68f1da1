// A function of a stand-in header that is inlined into the user's line.
__attribute__((always_inline)) static inline void *intrinsic(void)
{
    void *pc = here();
    asm volatile("" : "+r"(pc));
    return pc;
}
