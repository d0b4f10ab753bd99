// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "loop.h"

#define ROUNDS_MAX	200	/* full batches before timers have their turn */


int weir_loop_init(struct weir_loop *loop)
{
	memset(loop, 0, sizeof(*loop));
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll < 0 ? -1 : 0;
}

void weir_loop_free(struct weir_loop *loop)
{
	if (loop->epoll >= 0)
		close(loop->epoll);
	free(loop->heap);
	memset(loop, 0, sizeof(*loop));
	loop->epoll = -1;
}

uint64_t weir_loop_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * WEIR_SECOND + ts.tv_nsec;
}

int weir_loop_watch(struct weir_loop *loop, struct weir_watch *watch,
		    uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };
	int op = watch->watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (epoll_ctl(loop->epoll, op, watch->fd, &event))
		return -1;
	watch->watched = true;
	return 0;
}

void weir_loop_unwatch(struct weir_loop *loop, struct weir_watch *watch)
{
	int i;

	if (!watch->watched)
		return;
	watch->watched = false;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	for (i = loop->next; i < loop->count; i++)
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
}

static void put(struct weir_loop *loop, uint32_t i, struct weir_timer *timer)
{
	loop->heap[i] = timer;
	timer->place = i + 1;
}

static void sift_up(struct weir_loop *loop, uint32_t i,
		    struct weir_timer *timer)
{
	while (i) {
		uint32_t parent = (i - 1) / 2;

		if (loop->heap[parent]->when <= timer->when)
			break;
		put(loop, i, loop->heap[parent]);
		i = parent;
	}
	put(loop, i, timer);
}

static void sift_down(struct weir_loop *loop, uint32_t i,
		      struct weir_timer *timer)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= loop->n)
			break;
		if (child + 1 < loop->n &&
		    loop->heap[child + 1]->when < loop->heap[child]->when)
			child++;
		if (timer->when <= loop->heap[child]->when)
			break;
		put(loop, i, loop->heap[child]);
		i = child;
	}
	put(loop, i, timer);
}

static void place(struct weir_loop *loop, uint32_t i, struct weir_timer *timer)
{
	if (i && loop->heap[(i - 1) / 2]->when > timer->when)
		sift_up(loop, i, timer);
	else
		sift_down(loop, i, timer);
}

void weir_loop_arm(struct weir_loop *loop, struct weir_timer *timer,
		   uint64_t when)
{
	timer->when = when;
	if (timer->place) {
		place(loop, timer->place - 1, timer);
		return;
	}
	if (loop->n == loop->room) {
		loop->heap = weir_grow(loop->heap, loop->room,
				       sizeof(*loop->heap));
		loop->room = loop->room ? loop->room * 2 : 1;
	}
	sift_up(loop, loop->n++, timer);
}

void weir_loop_disarm(struct weir_loop *loop, struct weir_timer *timer)
{
	uint32_t i = timer->place - 1;
	struct weir_timer *last;

	if (!timer->place)
		return;
	timer->place = 0;
	last = loop->heap[--loop->n];
	if (last != timer)
		place(loop, i, last);
}

/* Rounded up: one who wakes too early would only wait again, and timers of the
 * same millisecond share a wake-up. */
static int wait_ms(const struct weir_loop *loop)
{
	uint64_t now, ms;

	if (!loop->n)
		return -1;
	now = weir_loop_now();
	if (loop->heap[0]->when <= now)
		return 0;
	ms = (loop->heap[0]->when - now + WEIR_MS - 1) / WEIR_MS;
	return ms > INT_MAX ? INT_MAX : ms;
}

/* Only what is due by now: timers that arm each other cannot starve the
 * descriptors. */
static void fire_due(struct weir_loop *loop)
{
	uint64_t now = weir_loop_now();

	while (loop->n && loop->heap[0]->when <= now && !loop->stopped) {
		struct weir_timer *timer = loop->heap[0];

		weir_loop_disarm(loop, timer);
		timer->fire(timer);
	}
}

static void serve_ready(struct weir_loop *loop)
{
	while (loop->next < loop->count) {
		struct epoll_event *event = &loop->batch[loop->next++];
		struct weir_watch *watch = event->data.ptr;

		if (watch)
			watch->ready(watch, event->events);
	}
	loop->next = loop->count = 0;
}

int weir_loop_run(struct weir_loop *loop)
{
	int rounds = 0, wait;

	loop->stopped = false;
	while (!loop->stopped) {
		/* What has come is looked at before a timer says that it has not;
		 * but not for ever. */
		wait = rounds ? 0 : wait_ms(loop);
		loop->count = epoll_wait(loop->epoll, loop->batch,
					 WEIR_LOOP_BATCH, wait);
		if (loop->count < 0 && errno != EINTR)
			return -1;
		loop->next = 0;
		rounds = loop->count == WEIR_LOOP_BATCH && rounds < ROUNDS_MAX ?
			 rounds + 1 : 0;
		serve_ready(loop);
		if (!rounds)
			fire_due(loop);
	}
	return 0;
}

void weir_loop_stop(struct weir_loop *loop)
{
	loop->stopped = true;
}
