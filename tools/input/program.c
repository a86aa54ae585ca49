/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * program.c - looks whether a program can be run, without running it
 *
 * execvp(3) says that a file was not found also if its interpreter or its loader was
 * not found, and gives programs of another machine to the shell. So these are looked at
 * first. What is not understood passes: then the program is run, and fails by itself.
 */
#include "config.h"

#include "tools/input/program.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

#define SCRIPT_HEAD  256 /* bytes that the kernel reads of a script */
#define SCRIPT_DEPTH 5   /* interpreters that are scripts, before it gives up */
#define MAX_SEGMENTS 64

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif

/* Whether a file can be executed; its interpreter is not looked at. */
static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

/*
 * Reads the interpreter that a script names in its first line, as execve(2) does: up to
 * SCRIPT_HEAD bytes. Leaves out empty if the file is no script or cannot be read.
 */
static void read_interpreter(const char *path, char out[SCRIPT_HEAD])
{
	char head[SCRIPT_HEAD] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	const char *name = head + 2;

	*out = '\0';
	if (fd >= 0)
		close(fd);
	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return;
	name += strspn(name, " \t");
	snprintf(out, SCRIPT_HEAD, "%.*s", (int)strcspn(name, " \t\n"), name);
}

/* Machines whose programs run here. */
static const uint16_t machines[] = {
#if defined(__x86_64__)
	EM_X86_64,
	EM_386,
#elif defined(__aarch64__)
	EM_AARCH64,
	EM_ARM,
#endif
};

/* Whether the kernel was told of programs that it runs by an interpreter. */
static bool has_binfmts(void)
{
	DIR *dir = opendir("/proc/sys/fs/binfmt_misc");
	const struct dirent *e;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (e = readdir(dir)))
		found = *e->d_name != '.' && strcmp(e->d_name, "register") != 0 &&
			strcmp(e->d_name, "status") != 0;
	closedir(dir);
	return found;
}

static bool is_of_here(uint16_t machine)
{
	const size_t nr = sizeof(machines) / sizeof(machines[0]);

	for (size_t i = 0; i < nr; i++) {
		if (machines[i] == machine)
			return true;
	}
	return !nr || has_binfmts();
}

/* The loader that a 64-bit program names; empty if it names none or is not read. */
static void read_loader(int fd, const Elf64_Ehdr *h, char out[PATH_MAX])
{
	Elf64_Phdr p;

	*out = '\0';
	for (int i = 0; i < h->e_phnum && i < MAX_SEGMENTS; i++) {
		const off_t at = (off_t)(h->e_phoff + (uint64_t)i * sizeof(p));

		if (pread(fd, &p, sizeof(p), at) != sizeof(p))
			return;
		if (p.p_type != PT_INTERP || p.p_filesz < 2 || p.p_filesz >= PATH_MAX)
			continue;
		if (pread(fd, out, p.p_filesz, (off_t)p.p_offset) ==
		    (ssize_t)p.p_filesz)
			out[p.p_filesz] = '\0';
		else
			*out = '\0';
		return;
	}
}

/* Whether an ELF file's machine and loader are there; other files pass. */
static int check_elf(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char loader[PATH_MAX] = "";
	Elf64_Ehdr h = { 0 };
	int err = 0;

	if (fd < 0)
		return 0; /* a program may be run although it cannot be read */
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) &&
	    !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_ident[EI_DATA] == NATIVE_DATA) {
		if (!is_of_here(h.e_machine))
			err = -ENOEXEC;
		else if (h.e_ident[EI_CLASS] == ELFCLASS64 &&
			 h.e_phentsize == sizeof(Elf64_Phdr))
			read_loader(fd, &h, loader);
	}
	close(fd);
	if (!err && *loader)
		err = check_file(loader);
	if (err)
		log_err("%s: %s%s: %s", path, *loader ? "loader " : "",
			*loader ? loader : "a program for another machine",
			err_str(err));
	return err;
}

/* The same for a file and its interpreters; an interpreter that is missing is logged.
 */
static int check_with_interpreters(const char *path)
{
	char name[SCRIPT_HEAD], script[SCRIPT_HEAD] = "";
	int err = check_file(path);

	if (!err)
		err = check_elf(path);
	read_interpreter(path, name);
	for (int depth = 0; !err && *name && depth < SCRIPT_DEPTH; depth++) {
		err = check_file(name);
		if (err)
			log_err("%s: interpreter %s: %s", *script ? script : path, name,
				err_str(err));
		memcpy(script, name, sizeof(script));
		read_interpreter(script, name);
	}
	return err;
}

/* Whether the first len bytes of dir, if there are any, have the program. */
static int check_in_folder(const char *dir, size_t len, const char *name)
{
	char *path;
	int err;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "", name) < 0)
		return -ENOMEM;
	err = check_with_interpreters(path);
	free(path);
	return err;
}

int program_check(const char *name)
{
	const char *dir = getenv("PATH");
	int err = -ENOENT, found;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return check_in_folder("", 0, name);
	for (dir = dir ? dir : "/bin:/usr/bin";; dir++) {
		const size_t len = strcspn(dir, ":");

		found = check_in_folder(dir, len, name);
		if (!found || found == -ENOMEM || found == -ENOEXEC)
			return found;
		if (found == -EACCES)
			err = found;
		dir += len;
		if (!*dir)
			return err;
	}
}
