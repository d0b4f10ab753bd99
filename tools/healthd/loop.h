/* SPDX-License-Identifier: GPL-2.0 */
/* One epoll loop with timers, for one thread. */
#ifndef WEIR_LOOP_H
#define WEIR_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#define WEIR_MS			1000000ull	/* ns */
#define WEIR_SECOND		1000000000ull

#define WEIR_LOOP_BATCH		32	/* events of one wait */

/* The object that holds a member of which a pointer is known. */
#define weir_holder(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* A descriptor that is waited for; zeroed = not watched. */
struct weir_watch {
	int fd;
	void (*ready)(struct weir_watch *watch, uint32_t events);
	bool watched;			/* private */
};

/* Zeroed = idle. */
struct weir_timer {
	uint64_t when;			/* ns of CLOCK_MONOTONIC */
	void (*fire)(struct weir_timer *timer);
	uint32_t place;			/* private: index in the heap + 1 */
};

struct weir_loop {			/* all private */
	int epoll;
	bool stopped;
	struct weir_timer **heap;
	uint32_t n, room;
	struct epoll_event batch[WEIR_LOOP_BATCH];
	int next, count;		/* of the batch */
};

int weir_loop_init(struct weir_loop *loop);
void weir_loop_free(struct weir_loop *loop);
uint64_t weir_loop_now(void);

/* Adds it or changes what it waits for; -1 and errno. An idle watch whose fd is
 * closed has to be unwatched before. */
int weir_loop_watch(struct weir_loop *loop, struct weir_watch *watch,
		    uint32_t events);
/* Safe in any callback: an event that came already is forgotten, so the watch
 * may be freed at once. */
void weir_loop_unwatch(struct weir_loop *loop, struct weir_watch *watch);

/* Arms it, or moves it if it was armed. It is idle when it fires. */
void weir_loop_arm(struct weir_loop *loop, struct weir_timer *timer,
		   uint64_t when);
void weir_loop_disarm(struct weir_loop *loop, struct weir_timer *timer);

/* Until weir_loop_stop(): 0; or -1 and errno. */
int weir_loop_run(struct weir_loop *loop);
void weir_loop_stop(struct weir_loop *loop);

#endif
