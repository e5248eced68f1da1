"""The same product in Python, as the definition says it, and the rate: python3 loop.py [SIDE]"""
import sys
import time

side = int(sys.argv[1]) if len(sys.argv) > 1 else 64
a = [[(i * side + j) % 7 - 3 for j in range(side)] for i in range(side)]
b = [[(i * side + j) % 5 - 2 for j in range(side)] for i in range(side)]
start = time.perf_counter()
c = [[sum(a[i][k] * b[k][j] for k in range(side)) for j in range(side)] for i in range(side)]
seconds = time.perf_counter() - start
print("c[0][0] = %d, %.3f GFLOP/s" % (c[0][0], 2e-9 * side ** 3 / seconds))
