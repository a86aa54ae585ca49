/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.h - looks whether a program can be run, without running it
 */
#ifndef CPI_TOOLS_PROGRAM_H
#define CPI_TOOLS_PROGRAM_H

/*
 * Looks where execvp() does. Returns 0, or -errno as execvp() would set it. What is
 * missing besides the file itself (an interpreter, a loader) is logged.
 */
int program_check(const char *name);

#endif
