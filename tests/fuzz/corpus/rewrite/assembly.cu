__device__ unsigned f(unsigned x, const float *p) {
    unsigned r; float a, b;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    asm("{\n\t.reg .pred p; .reg .u32 t<3>;\n\tsetp.lt.u32 p, %1, 5;\n\t@!p add.u32 t0, %1, 1;\n\tselp.u32 %0, t0, 0x10, p;\n}"
        : "=r"(r)
        : "r"(x));
    asm("ld.global.v2.f32 {%0, %[b]}, [%2 + 8]; // pair" : "=f"(a), [b] "=f"(b) : "l"(p) : "memory");
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" :: "l"(p), "r"(1));
    asm volatile("wgmma.fence.sync.aligned;");
    return r;
}
