"""Finds the CUDA programs of a checkout, with the flags and arguments that its own build files give them.

A Makefile is asked by `make -n`, which prints its commands and runs none of them (its $(shell ...) lines do run). A
CMakeLists.txt is read here, as far as it names executables, folders, macros and libraries plainly. What neither names
is a program of its own if it has a main; a line `nvcc ...` in its comments gives its flags.
"""
import glob
import os
import re
import shlex
import subprocess

COMPILERS = {"nvcc", "gcc", "g++", "cc", "c++", "clang", "clang++", "mpicc", "mpicxx"}
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
MAKE_SECONDS = 20
# Flags whose value may be the next word.
VALUED = {"-I", "-D", "-U", "-L", "-l", "-o", "-x", "-include", "-isystem", "-std", "--std", "-arch", "-code", "-gencode",
          "-Xcompiler", "-Xptxas", "-Xlinker", "-Xnvlink", "-Xcudafe", "-ccbin", "-maxrregcount", "--maxrregcount",
          "--generate-code", "--gpu-architecture", "--compiler-options", "--ptxas-options", "-MF", "-MT", "-MQ", "-t"}
# Flags with which nvcc makes something other than a program or an object.
PARTS = {"-cuda", "--cuda", "-ptx", "--ptx", "-cubin", "--cubin", "-fatbin", "--fatbin", "-E", "-M", "-MM"}
# Of another compiler's flags, those that nvcc has too.
SHARED = ("-I", "-D", "-U", "-L", "-l", "-include")
MAIN = re.compile(rb"\bmain\s*\(")
COMMENTS = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
LIBRARIES = {"CUDA::cuda_driver": ["-lcuda"], "OpenMP::OpenMP_CXX": ["-Xcompiler", "-fopenmp"]}


class Program:
    """Paths are relative to `folder`, in which it is built and run."""

    def __init__(self, folder, name, sources, flags, arguments=()):
        self.folder, self.name = folder, name
        self.sources, self.flags, self.arguments = list(sources), list(flags), list(arguments)

    def paths(self):
        return [os.path.realpath(os.path.join(self.folder, source)) for source in self.sources]


def has_main(path):
    with open(path, "rb") as file:
        return MAIN.search(COMMENTS.sub(b"", file.read())) is not None


# --- compiler commands ------------------------------------------------------------------------------------------------

def split_flags(words):
    """(sources and objects, flags as lists of one or two words, output) of a compiler's arguments."""
    files, flags, output = [], [], None
    words = iter(words)
    for word in words:
        word = "-x" if word == "--x" else word
        if word == "-o":
            output = next(words, None)
        elif word in VALUED:
            flags.append([word, next(words, "")])
        elif word.startswith("-"):
            flags.append([word])
        else:
            files.append(word)
    return files, flags, output


def portable(flags, compiler):
    """Flags as nvcc takes them."""
    if compiler == "nvcc":
        return flags
    kept = [flag for flag in flags if flag[0].startswith(SHARED)]
    return kept + [["-Xcompiler", "-fopenmp"] for flag in flags if flag == ["-fopenmp"]]


def unique(flags):
    kept = []
    for flag in flags:
        if flag not in kept and flag not in (["-c"], ["-dc"], ["--device-c"], ["-dlink"]):
            kept.append(flag)
    return [word for flag in kept for word in flag]


def commands_of(text):
    """The simple commands of a shell text, as lists of words."""
    for line in text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        command = []
        for word in words + [";"]:
            ends = word in ("&&", "||", ";", "|") or word.endswith(";")
            command += [] if word in ("&&", "||", ";", "|") else [word.rstrip(";")]
            if ends and command:
                yield command
                command = []


class Build:
    """What the commands of a build make of which sources."""

    def __init__(self, folder):
        self.folder, self.objects, self.programs = folder, {}, []

    def take(self, command):
        compiler = os.path.basename(command[0])
        if compiler not in COMPILERS or PARTS & set(command):
            return
        files, flags, output = split_flags(command[1:])
        flags = portable(flags, compiler)
        sources = [(name, []) for name in files if name.endswith(SOURCES)]
        if any(flag in (["-c"], ["-dc"], ["--device-c"]) for flag in flags) or "-c" in command:
            for name, _ in sources:
                made = output or os.path.splitext(os.path.basename(name))[0] + ".o"
                self.objects[os.path.normpath(made)] = (name, flags)
            return
        for name in files:
            if os.path.normpath(name) in self.objects:
                sources.append(self.objects[os.path.normpath(name)])
            elif name.endswith(".o"):  # made by commands that are not known: of the source beside it
                beside = [name[:-2] + ending for ending in SOURCES]
                sources += [(source, []) for source in beside if os.path.isfile(os.path.join(self.folder, source))][:1]
        names = list(dict.fromkeys(name for name, _ in sources))
        if any(name.endswith(".cu") for name in names) or (compiler == "nvcc" and names):
            more = [flag for _, of_object in sources for flag in of_object]
            self.programs.append(Program(self.folder, output or names[0], names, unique(more + flags)))


def make(folder, *arguments):
    try:
        return subprocess.run(["make", "-nBk", "--no-print-directory", *arguments], cwd=folder, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                              timeout=MAKE_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return ""


def run_arguments(folder, makefile):
    """{program: arguments} of the commands behind `make run` and in a script called `run`."""
    text = ""
    with open(makefile, errors="replace") as file:
        if re.search(r"^run\s*:", file.read(), re.MULTILINE):
            text += make(folder, "run")
    script = os.path.join(folder, "run")
    if os.path.isfile(script):
        with open(script, errors="replace") as file:
            text += file.read()
    return {os.path.normpath(command[0]): command[1:] for command in commands_of(text)
            if command[0].startswith("./") and not {"<", ">"} & set(command)}


def of_makefile(folder, makefile):
    build = Build(folder)
    for command in commands_of(make(folder)):
        build.take(command)
    arguments = run_arguments(folder, makefile) if build.programs else {}
    found = [program for program in build.programs
             if all(os.path.isfile(os.path.join(folder, source)) for source in program.sources)]
    for program in found:
        program.arguments = arguments.get(os.path.normpath(program.name), [])
    return found


# --- CMake ------------------------------------------------------------------------------------------------------------

CALL = re.compile(r"(\w+)\s*\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\((?:[^()]|\([^()]*\))*\))*)\)")
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')


class Lists:
    """The commands of one CMakeLists.txt, in order; of conditions only those about Windows are known."""

    def __init__(self, folder):
        self.folder = folder
        self.variables = {"CMAKE_CURRENT_SOURCE_DIR": ["."], "PROJECT_SOURCE_DIR": ["."], "CMAKE_SOURCE_DIR": ["."]}
        self.flags, self.of_target, self.targets = [], {}, {}
        self.conditions = []  # of each open if: whether this branch, and whether the other one, is not read

    def words(self, text):
        expanded = []
        for quoted, plain in WORD.findall(text):
            whole = re.fullmatch(r"\$\{(\w+)\}", plain or quoted)
            if whole:
                expanded += self.variables.get(whole.group(1), [])
            else:
                expanded.append(re.sub(r"\$\{(\w+)\}", lambda m: " ".join(self.variables.get(m.group(1), [])),
                                       plain or quoted))
        return expanded

    def condition(self, name, text):
        unlike = bool(re.search(r"\bNOT (WIN32|MSVC|WINDOWS)\b", text))
        windows = not unlike and bool(re.search(r"\b(WIN32|MSVC|WINDOWS)\b", text))
        if name == "if":
            self.conditions.append((windows, unlike))
        elif self.conditions:
            _, otherwise = self.conditions.pop()
            if name != "endif":
                self.conditions.append((windows or otherwise, otherwise))

    def options(self, words):
        """Flags among the words, of $<...:...> too; -G only builds for a debugger."""
        found = []
        for word in words:
            for part in word.split(";"):
                inner = re.sub(r"^\$<.*:(.*?)>*$", r"\1", part)
                found += shlex.split(inner) if inner.startswith("-") and "$" not in inner and "'" not in inner else []
        return [flag for flag in found if flag != "-G"]

    def libraries(self, words):
        found = []
        for word in words:
            if word in LIBRARIES:
                found += LIBRARIES[word]
            elif word.startswith("CUDA::"):
                found.append("-l" + word[len("CUDA::"):].replace("_static", ""))
            elif re.fullmatch(r"-?[a-z]\w*", word):
                found.append(word if word.startswith("-") else "-l" + word)
        return found

    def folders(self, words):
        return ["-I" + word for word in words
                if word not in ("PRIVATE", "PUBLIC", "SYSTEM", "BEFORE", "INTERFACE") and "$" not in word and word
                and os.path.isdir(os.path.join(self.folder, word))]

    def take(self, name, text):
        words = self.words(text)
        target = self.of_target.setdefault(words[0], []) if words else []
        if name == "set" and words:
            self.variables[words[0]] = words[1:]
        elif name == "list" and words[:1] == ["APPEND"]:
            self.variables[words[1]] = self.variables.get(words[1], []) + words[2:]
        elif name == "aux_source_directory" and len(words) == 2:
            self.variables[words[1]] = [os.path.join(words[0], entry) for entry in sorted(os.listdir(os.path.join(
                self.folder, words[0]))) if entry.endswith(SOURCES)]
        elif name == "file" and words[:1] == ["GLOB"]:
            self.variables[words[1]] = [os.path.relpath(path, self.folder) for pattern in words[2:]
                                        for path in sorted(glob.glob(os.path.join(self.folder, pattern)))]
        elif name == "add_executable" and words:
            self.targets[words[0]] = [word for word in words[1:] if word.endswith(SOURCES)]
        elif name == "include_directories":
            self.flags += self.folders(words)
        elif name == "target_include_directories":
            target += self.folders(words[1:])
        elif name in ("add_definitions", "add_compile_definitions", "target_compile_definitions"):
            macros = words[1:] if name.startswith("target") else words
            (target if name.startswith("target") else self.flags).extend(
                word if word.startswith("-D") else "-D" + word for word in macros
                if word not in ("PRIVATE", "PUBLIC") and "$" not in word)
        elif name == "target_compile_options":
            target += self.options(words[1:])
        elif name == "target_link_libraries":
            target += self.libraries(words[1:])
        elif name == "set_target_properties" and "CUDA_SEPARABLE_COMPILATION" in words:
            target.append("-rdc=true")

    def read(self, text):
        for name, inner in CALL.findall(re.sub(r"#[^\n]*", "", text)):
            name = name.lower()
            if name in ("if", "elseif", "else", "endif"):
                self.condition(name, inner)
            elif not any(skipped for skipped, _ in self.conditions):
                self.take(name, inner)
        for word in self.variables.get("CMAKE_CUDA_FLAGS", []):
            self.flags += self.options(word.split())
        standard = self.variables.get("CMAKE_CUDA_STANDARD")
        self.flags += ["-std=c++" + standard[0]] if standard else []

    def programs(self):
        for name, sources in self.targets.items():
            if sources and all(os.path.isfile(os.path.join(self.folder, source)) for source in sources):
                yield Program(self.folder, name, sources, dict.fromkeys(self.flags + self.of_target.get(name, [])))


def of_cmake(folder, path):
    lists = Lists(folder)
    with open(path, errors="replace") as file:
        lists.read(file.read())
    return list(lists.programs())


# --- a source alone ---------------------------------------------------------------------------------------------------

def of_comment(folder, name):
    """The program of one file, with the flags of a line `nvcc ...` about it, if its comments have one."""
    with open(os.path.join(folder, name), errors="replace") as file:
        text = file.read()
    for line in re.findall(r"\bnvcc\s[^\n]*", text):
        try:
            files, flags, _ = split_flags(shlex.split(line.rstrip("*/ ")))
        except ValueError:
            continue
        if name in files or not any(word.endswith(SOURCES) for word in files):
            return Program(folder, os.path.splitext(name)[0], [name], unique(flags))
    return Program(folder, os.path.splitext(name)[0], [name], [])


def find(checkout):
    """Every program below a folder, in the order of their paths."""
    programs, covered, alone = [], set(), []
    for folder, folders, names in os.walk(checkout):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        makefile = next((name for name in MAKEFILES if name in names), None)
        found = of_makefile(folder, os.path.join(folder, makefile)) if makefile else []
        if not found and "CMakeLists.txt" in names:
            found = of_cmake(folder, os.path.join(folder, "CMakeLists.txt"))
        programs += found
        covered.update(path for program in found for path in program.paths())
        alone += [(folder, name) for name in sorted(names) if name.endswith(".cu")]
    programs += [of_comment(folder, name) for folder, name in alone
                 if os.path.realpath(os.path.join(folder, name)) not in covered and has_main(os.path.join(folder, name))]
    return sorted(programs, key=lambda program: (program.folder, program.name))
