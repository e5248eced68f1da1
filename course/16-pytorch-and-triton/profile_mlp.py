# needs: torch
"""An MLP of ten layers of 2048 under PyTorch's own profiler: python3 profile_mlp.py"""
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

device = "cuda" if torch.cuda.is_available() else "cpu"
layers = [layer for _ in range(10) for layer in (nn.Linear(2048, 2048), nn.ReLU())]
network = nn.Sequential(*layers).to(device)
batch = torch.randn(64, 2048, device=device)

for _ in range(3):  # warm up: the first calls load libraries and choose algorithms
    network(batch).sum().backward()
activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
with profile(activities=activities) as profiler:
    for _ in range(10):
        network(batch).sum().backward()
print(profiler.key_averages().table(sort_by="self_%s_time_total" % device, row_limit=12))
profiler.export_chrome_trace("mlp.json")
