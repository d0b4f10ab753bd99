// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "readfile.h"

/* More than any real config; it keeps `apply /dev/zero` from eating memory. */
#define FILE_MAX	(256u * 1024 * 1024)

static int read_all(int fd, char **text, size_t *len)
{
	size_t size = 65536;
	ssize_t got;

	*len = 0;
	*text = weir_alloc(size);
	while ((got = read(fd, *text + *len, size - *len))) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		*len += got;
		if (*len < size)
			continue;
		if (size >= FILE_MAX) {
			errno = EFBIG;
			return -1;
		}
		size *= 2;
		*text = realloc(*text, size);
		if (!*text)
			return -1;
	}
	return 0;
}

int weir_read_file(const char *name, char **text, size_t *len)
{
	bool is_stdin = !strcmp(name, "-");
	int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	int ret = -1, num;

	*text = NULL;
	if (fd >= 0)
		ret = read_all(fd, text, len);
	num = errno;
	if (fd >= 0 && !is_stdin)
		close(fd);
	errno = num;
	return ret;
}
