"""Programs of scripts/ as modules, for tests that run their parts."""
import importlib.machinery
import importlib.util
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def module(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path).replace("-", "_").replace(".py", ""), path)
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = made
    loader.exec_module(made)
    return made


def gpu_check():
    return module(os.path.join(ROOT, "scripts", "gpu-check"))


def written_by(command):
    """The file that `--json FILE`, of our scripts, or `--json=FILE`, of heddle, names; None: none."""
    if "--json" in command:
        return command[command.index("--json") + 1]
    return next((word.split("=", 1)[1] for word in command if word.startswith("--json=")), None)
