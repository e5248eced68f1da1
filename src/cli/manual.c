// The manual page, in troff, from the tables of the commands.

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "heddle/heddle.h"

// troff interprets backslashes, and dots and apostrophes at the start of a line; a plain dash becomes a hyphen.
static void print_escaped(FILE *file, const char *text)
{
    bool at_line_start = true;
    for (; *text != '\0'; text++) {
        if (at_line_start && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        at_line_start = *text == '\n';
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            fputc(*text, file);
    }
}

static void print_paragraph(FILE *file, const char *text)
{
    print_escaped(file, text);
    fputc('\n', file);
}

static void print_option(FILE *file, const heddle_cli_option *option)
{
    char usage[256];
    fputs(".TP\n.B ", file);
    print_paragraph(file, heddle_cli_option_usage(option, usage, sizeof usage));
    print_escaped(file, option->help);
    if (option->initial != NULL) {
        fputs("; default: ", file);
        print_escaped(file, option->initial);
    }
    fputs(".\n", file);
}

static void print_command(FILE *file, const heddle_cli_command *command)
{
    fprintf(file, ".SS heddle %s%s%s%s\n", command->name, command->option_count > 0 ? " [OPTIONS]" : "",
            command->arguments != NULL ? " " : "", command->arguments != NULL ? command->arguments : "");
    print_escaped(file, command->summary);
    fputs(".\n", file);
    if (command->description != NULL) {
        fputs(".PP\n", file);
        print_paragraph(file, command->description);
    }
    for (int i = 0; i < command->option_count; i++)
        print_option(file, &command->options[i]);
    if (command->actions != NULL) {
        for (int i = 0; command->actions[i] != NULL; i++)
            print_command(file, command->actions[i]);
        return;
    }
    fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", file);
    print_paragraph(file, command->example);
    fputs(".RE\n.fi\n", file);
}

static void print_closing(FILE *file)
{
    fputs(".SH EXIT STATUS\n"
          ".TP\n.B 0\nsuccess\n"
          ".TP\n.B 1\nthe work failed: a check found errors, training diverged, or a file is corrupt or cannot be read "
          "or "
          "written\n"
          ".TP\n.B 2\nwrong usage: an option, or a name or file that does not exist\n"
          ".TP\n.B 3\nsomething is missing on this machine; the message says what, and how to get it\n"
          ".TP\n.B 130\ninterrupted by Ctrl\\-C, after saving; 143 by SIGTERM, 129 by a closed terminal\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B HEDDLE_DATA\nfolder to look for named datasets in\n"
          ".TP\n.B HEDDLE_LOG\nverbosity on stderr: error, warn, info or debug\n"
          ".TP\n.B HEDDLE_MODULES\nfolder of libheddle\\-cuda.so and libheddle\\-sim.so; default: beside heddle\n"
          ".TP\n.B HEDDLE_PEERS\nfolder of train_gpu.py, with which\n.B heddle bench train \\-\\-peers\nmeasures "
          "PyTorch and "
          "JAX; default: where heddle is installed\n"
          ".TP\n.B HEDDLE_SIMD\nvector instructions of the CPU's kernels: generic, neon, avx2 or avx512; default: the "
          "best "
          "available\n"
          ".TP\n.B NO_COLOR\nif set and not empty, no command prints colours\n"
          ".TP\n.B PEERS_PYTHON\nPython that has PyTorch and JAX, for\n.BR \\-\\-peers ;\ndefault: python3\n"
          ".TP\n.B XDG_DATA_HOME\n.B heddle data get\nputs datasets into\n.IR $XDG_DATA_HOME/heddle ;\ndefault:\n"
          ".I ~/.local/share/heddle\n"
          ".SH FILES\n"
          ".TP\n.I share/doc/heddle/docs\nbelow the prefix that heddle is installed in: the pages that are called "
          "docs/NAME.md here\n"
          ".TP\n.I share/doc/heddle/examples\nmodel files, CUDA programs and a C program to start from\n",
          file);
}

void heddle_cli_print_manual(FILE *file)
{
    fprintf(file, ".TH HEDDLE 1 \"\" \"heddle %s\" \"User Commands\"\n", heddle_version());
    fputs(".SH NAME\nheddle \\- check, measure and train with CUDA kernels, with or without a GPU\n"
          ".SH SYNOPSIS\n.B heddle\n[\\-\\-log LEVEL] COMMAND [OPTIONS]\n"
          ".SH COMMANDS\n",
          file);
    for (int i = 0; heddle_cli_commands()[i] != NULL; i++)
        print_command(file, heddle_cli_commands()[i]);
    fputs(".SH OPTIONS OF EVERY COMMAND\n", file);
    for (int i = 0; i < heddle_cli_common_option_count; i++)
        print_option(file, &heddle_cli_common_options[i]);
    print_closing(file);
}
