// SPDX-License-Identifier: GPL-2.0
/*
 * sample - where in the kernel the instructions go
 *
 * A software timer of perf's that stops after so many instructions of this thread, soft
 * interrupts on its back included. What runs with interrupts off is put down to where
 * they are switched on again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sample.h"

#define PERIOD		20011	/* a prime: not in step with the packets */
#define PAGES		4096	/* for the samples; two records of 16 bytes would fit in 32 */

static struct perf_event_mmap_page *area;
static int fd;

void sample_start(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_user = 1,
	};

	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		area = mmap(NULL, (1 + PAGES) * getpagesize(), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	if (fd < 0 || area == MAP_FAILED) {
		fprintf(stderr, "gen: no samples: %s\n", strerror(errno));
		exit(1);
	}
}

void sample_stop(void)
{
	const uint8_t *data = (const uint8_t *)area + getpagesize();
	struct perf_event_header header;
	uint64_t at, address;

	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	/* The area is large enough that nothing is overwritten. */
	for (at = 0; at < area->data_head; at += header.size) {
		memcpy(&header, data + at, sizeof(header));
		if (header.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&address, data + at + sizeof(header), sizeof(address));
		printf("sample %lx\n", address);
	}
	close(fd);
}
