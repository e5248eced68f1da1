# The programs of peers/ that are installed: train_gpu.py, which `heddle bench train --peers` runs, and what it imports.
set(heddle_peers clocks jobs_jax jobs_torch model_file network_jax network_torch peer_worker result_file timing train_gpu)
list(TRANSFORM heddle_peers REPLACE "(.+)" "${CMAKE_CURRENT_LIST_DIR}/../peers/\\1.py")
