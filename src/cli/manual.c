// The manual page, in troff, from the tables of the commands.

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "heddle/heddle.h"

// troff reads backslashes, and dots and apostrophes at the start of a line, as its own; a plain dash becomes a hyphen.
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
        fputs(" (default ", file);
        print_escaped(file, option->initial);
        fputc(')', file);
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
          ".TP\n.B 0\nfine\n"
          ".TP\n.B 1\nthe work failed: a check did not hold, training diverged, a file is damaged, is not what it "
          "should be, or cannot be read or written\n"
          ".TP\n.B 2\nwrong usage: an option, or a name or file that does not exist\n"
          ".TP\n.B 3\nsomething is missing on this machine; the message says what, and how to get it\n"
          ".TP\n.B 129, 130, 143\n.B heddle bench\nwas stopped by SIGHUP, SIGINT (Ctrl\\-C) or SIGTERM; what it had "
          "measured is shown and written\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B HEDDLE_DATA\nfolder in which named datasets are looked for\n"
          ".TP\n.B HEDDLE_LOG\nhow much is said on stderr: error, warn, info or debug\n"
          ".TP\n.B HEDDLE_MODULES\nfolder of libheddle\\-cuda.so and libheddle\\-sim.so; beside heddle unless set\n"
          ".TP\n.B HEDDLE_SIMD\nwhich vector kernels the CPU uses: generic, neon, avx2 or avx512; the best unless set\n"
          ".TP\n.B NO_COLOR\nwhen set and not empty,\n.B heddle data show\ndraws without colours\n"
          ".TP\n.B XDG_DATA_HOME\n.I $XDG_DATA_HOME/heddle\nis where\n.B heddle data get\nputs datasets;"
          "\n.I ~/.local/share/heddle\nunless set\n"
          ".SH FILES\n"
          ".TP\n.I share/doc/heddle/docs\nbelow where heddle is installed, as in /usr/local: the pages that are called "
          "docs/NAME.md here\n",
          file);
}

void heddle_cli_print_manual(FILE *file)
{
    fprintf(file, ".TH HEDDLE 1 \"\" \"heddle %s\" \"User Commands\"\n", heddle_version());
    fputs(".SH NAME\nheddle \\- learn, write, prove, measure and train with CUDA kernels, with or without a GPU\n"
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
