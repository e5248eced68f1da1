# needs: triton and torch, with a GPU
"""Vector add, softmax and matmul in Triton, checked against PyTorch: python3 triton_kernels.py"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(a, b, out, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # the elements of this whole block, not of one thread
    mask = places < count  # the guard
    tl.store(out + places, tl.load(a + places, mask=mask) + tl.load(b + places, mask=mask), mask=mask)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)
    start = tl.program_id(0) * columns
    row = tl.load(x + start + places, mask=places < columns, other=-float("inf"))
    row = tl.exp(row - tl.max(row, axis=0))
    tl.store(out + start + places, row / tl.sum(row, axis=0), mask=places < columns)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for first in range(0, K, DEPTH):
        depth = first + tl.arange(0, DEPTH)
        left = tl.load(a + rows[:, None] * K + depth, mask=(rows[:, None] < M) & (depth < K), other=0.0)
        right = tl.load(b + depth[:, None] * N + columns, mask=(depth[:, None] < K) & (columns < N), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * N + columns, total, mask=(rows[:, None] < M) & (columns < N))


def main():
    a, b = torch.randn(2, 10007, device="cuda")
    out = torch.empty_like(a)
    add_kernel[(triton.cdiv(a.numel(), 1024),)](a, b, out, a.numel(), BLOCK=1024)
    torch.testing.assert_close(out, a + b)

    x = torch.randn(333, 1000, device="cuda")
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    torch.testing.assert_close(out, torch.softmax(x, 1))

    a, b = torch.randn(300, 200, device="cuda"), torch.randn(200, 500, device="cuda")
    c = torch.empty(300, 500, device="cuda")
    matmul_kernel[(triton.cdiv(300, 64), triton.cdiv(500, 64))](a, b, c, 300, 500, 200, TILE=64, DEPTH=32)
    torch.testing.assert_close(c, a @ b, atol=0.1, rtol=0.01)  # tl.dot rounds float32 to tf32
    print("add, softmax and matmul agree with PyTorch")


if __name__ == "__main__":
    main()
