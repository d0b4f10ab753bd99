// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "run.h"

/* Administrators' programs are not on the PATH of everybody; where we look is
 * not for the caller to say. */
static char *const environment[] = {
	"PATH=/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin", "LC_ALL=C", NULL
};

static const char *const dirs[] = {
	"/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin",
};

static char *find_program(const char *name)
{
	char *path = weir_alloc(strlen(name) + 20);
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		strcpy(path, dirs[i]);
		strcat(path, "/");
		strcat(path, name);
		if (!access(path, X_OK))
			return path;
	}
	free(path);
	return NULL;
}

static char *read_pipe(int fd)
{
	size_t size = 4096, len = 0;
	char *text = weir_alloc(size);
	ssize_t got;

	while ((got = read(fd, text + len, size - len - 1))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		len += got;
		if (len < size - 1)
			continue;
		size *= 2;
		text = realloc(text, size);
		if (!text)
			return NULL;
	}
	text[len] = '\0';
	return text;
}

static int spawn(const char *path, char *const argv[], int out, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	ret = posix_spawn(pid, path, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

char *weir_run_program(char *const argv[], bool *missing)
{
	char *path = find_program(argv[0]), *text = NULL;
	int fds[2], status = -1;
	pid_t pid;

	*missing = !path;
	if (!path)
		return NULL;
	if (!pipe2(fds, O_CLOEXEC)) {
		int ret = spawn(path, argv, fds[1], &pid);

		close(fds[1]);
		if (!ret) {
			text = read_pipe(fds[0]);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		}
		close(fds[0]);
	}
	free(path);
	if (status) {
		free(text);
		return NULL;
	}
	return text;
}
