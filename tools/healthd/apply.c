// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply.h"

extern char **environ;

/* The tool that was installed with us, else the one on the PATH. */
static const char *find_tool(char path[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - sizeof("weir"));
	char *slash;

	if (len <= 0)
		return "weir";
	path[len] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "weir");
	return access(path, X_OK) ? "weir" : path;
}

/* Our signals are blocked and read from a descriptor; the tool's are not. */
static int spawn(struct weir_apply *apply, const char *file)
{
	char path[PATH_MAX];
	char *const argv[] = { "weir", "apply", (char *)file, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int ret;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, apply->output, 1);
	posix_spawn_file_actions_adddup2(&actions, apply->output, 2);
	ret = posix_spawnp(&apply->pid, find_tool(path), &actions, &attr, argv,
			   environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return ret;
}

int weir_apply_start(struct weir_apply *apply, const char *file,
		     struct weir_err *err)
{
	int ret = 0;

	memset(apply, 0, sizeof(*apply));
	apply->output = memfd_create("weir-apply", MFD_CLOEXEC);
	if (apply->output >= 0)
		ret = spawn(apply, file);
	if (apply->output >= 0 && !ret)
		return 0;
	apply->pid = 0;
	if (apply->output >= 0)
		close(apply->output);
	return weir_err_set(err, WEIR_ERR_VALUE, "cannot start weir apply: %s",
			    strerror(ret ? ret : errno));
}

bool weir_apply_end(struct weir_apply *apply, bool wait, bool *ok, char *text,
		    size_t size)
{
	int status;
	ssize_t got;
	pid_t pid;

	if (!apply->pid)
		return false;
	do {
		pid = waitpid(apply->pid, &status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	*ok = pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status);
	got = pread(apply->output, text, size - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	while (*text && text[strlen(text) - 1] == '\n')
		text[strlen(text) - 1] = '\0';
	close(apply->output);
	apply->pid = 0;
	return true;
}
