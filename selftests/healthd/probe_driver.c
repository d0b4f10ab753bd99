// SPDX-License-Identifier: GPL-2.0
/*
 * Runs probes and says what came of them.
 *
 *	probe_driver cases [N]		lines "ID BACKEND VIP LINE" on stdin, all at
 *					once, each N times; VIP - is none
 *	probe_driver cancel N US	the same lines; each N times, cancelled
 *					0, US, 2 US... microseconds after its start
 *	probe_driver alone N		the same lines, one after the other, each N times
 *	probe_driver bench N M BACKEND LINE	N probes, M at a time
 *
 * Prints "ID passed|failed STATE WEIGHT MILLISECONDS TEXT" for each result, with
 * "local" in the place of "failed" where this machine is to blame; at the end the
 * processor's time, the memory, and how many descriptors there are more than before.
 * alone prints "ID MICROSECONDS MICROSECONDS SLEEPS" for each line instead: the longest
 * turn of the loop, all of them, and how often it slept in one; each the least of N.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>

#include <linux/weir.h>

#include "err.h"
#include "probe.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct one {
	char id[40];
	struct weir_healthcheck line;
	struct weir_probe_job job;
};

struct run {
	struct one *one;
	struct weir_probe *probe;
	struct weir_timer cancel;
	uint64_t begin;
};

/* Nanoseconds of the processor that this thread took from one wait for events to the
 * next, and how often it slept between them: so long all other probes wait. */
static struct {
	uint64_t began, longest, all;
	long slept_before, sleeps;
} turns;

static struct weir_loop loop;
static struct weir_prober *prober;
static struct one *ones;
static unsigned int n_ones, pending, to_start, failures;

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void die(const char *what, const char *text)
{
	fprintf(stderr, "probe_driver: %s: %s\n", what, text);
	exit(2);
}

static void set_one(struct one *one, const char *id, const char *backend,
		    const char *vip, const char *line)
{
	struct weir_err err;

	snprintf(one->id, sizeof(one->id), "%s", id);
	if (weir_parse_addr(backend, &one->job.backend))
		die("backend", backend);
	if (strcmp(vip, "-") && weir_parse_addr(vip, &one->job.vip))
		die("VIP", vip);
	if (weir_healthcheck_read(&one->line, line, &err))
		die(line, err.text);
}

static uint64_t cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The module's part of `via vip`: says yes, but for one backend. */
static int pin(void *arg, const struct weir_probe_job *job, uint16_t port,
	       struct weir_err *err)
{
	static const struct weir_addr refused = { .len = 4, .b = { 127, 6, 6, 6 } };

	(void)arg;
	if (!port || !weir_addr_cmp(&job->backend, &refused))
		return weir_err_set(err, WEIR_ERR_VALUE, "port %sgiven, and refused",
				    port ? "" : "not ");
	return 0;
}

static long sleeps_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void begin_turn(void)
{
	turns.began = cpu_now();
	turns.slept_before = sleeps_now();
}

static void end_turn(void)
{
	uint64_t took = cpu_now() - turns.began;

	turns.sleeps += sleeps_now() - turns.slept_before;
	turns.all += took;
	if (took > turns.longest)
		turns.longest = took;
}

/* The linker leads the loop's calls here (--wrap). */
int __real_epoll_wait(int epoll, struct epoll_event *events, int max, int wait);
int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int wait);

int __wrap_epoll_wait(int epoll, struct epoll_event *events, int max, int wait)
{
	int n;

	end_turn();
	n = __real_epoll_wait(epoll, events, max, wait);
	begin_turn();
	return n;
}

static void read_ones(void)
{
	char id[40], backend[60], vip[60], line[4000];

	while (scanf("%39s %59s %59s %3999[^\n]", id, backend, vip, line) == 4) {
		ones = weir_grow(ones, n_ones, sizeof(*ones));
		memset(&ones[n_ones], 0, sizeof(*ones));
		set_one(&ones[n_ones++], id, backend, vip, line);
	}
}

static void finished(void)
{
	if (!--pending)
		weir_loop_stop(&loop);
}

static void on_done(const struct weir_probe_result *result, void *arg)
{
	static const char *const states[] = {
		"none", "valid", "missing", "invalid", "unavailable"
	};
	struct run *run = arg;

	printf("%s %s %s %u %u %s\n", run->one->id,
	       result->passed ? "passed" : result->local ? "local" : "failed",
	       result->weight_state < COUNT(states) ?
			states[result->weight_state] : "?",
	       result->weight,
	       (unsigned int)((weir_loop_now() - run->begin) / 1000000),
	       result->text);
	run->probe = NULL;
	finished();
}

static void on_cancel(struct weir_timer *timer)
{
	struct run *run = weir_holder(timer, struct run, cancel);

	if (!run->probe)
		return;
	weir_probe_cancel(run->probe);
	run->probe = NULL;
	finished();
}

static void run_all(unsigned int times, uint64_t us)
{
	unsigned int i, total;
	struct rusage usage;
	struct run *runs;

	read_ones();
	total = times * n_ones;
	runs = weir_alloc(total * sizeof(*runs));
	pending = total;
	begin_turn();
	for (i = 0; i < total; i++) {
		struct run *run = &runs[i];

		run->one = &ones[i % n_ones];
		run->one->job.line = &run->one->line;
		run->begin = weir_loop_now();
		run->probe = weir_probe_start(prober, &run->one->job, on_done, run);
		run->cancel.fire = on_cancel;
		if (us)
			weir_loop_arm(&loop, &run->cancel,
				      run->begin + i / n_ones * us * 1000);
	}
	if (pending)
		weir_loop_run(&loop);
	end_turn();
	getrusage(RUSAGE_SELF, &usage);
	printf("longest %u us\nwork %u us\nmemory %ld KiB\n",
	       (unsigned int)(turns.longest / 1000),
	       (unsigned int)(turns.all / 1000), usage.ru_maxrss);
	for (i = 0; i < total; i++)
		weir_loop_disarm(&loop, &runs[i].cancel);
	free(runs);
}

static void on_alone(const struct weir_probe_result *result, void *arg)
{
	(void)result;
	(void)arg;
	weir_loop_stop(&loop);
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static void run_alone(unsigned int times)
{
	uint64_t longest, all, sleeps;
	unsigned int i, n;

	read_ones();
	for (i = 0; i < n_ones; i++) {
		longest = all = sleeps = UINT64_MAX;
		ones[i].job.line = &ones[i].line;
		for (n = 0; n < times; n++) {
			memset(&turns, 0, sizeof(turns));
			begin_turn();
			weir_probe_start(prober, &ones[i].job, on_alone, NULL);
			weir_loop_run(&loop);
			end_turn();
			longest = least(longest, turns.longest);
			all = least(all, turns.all);
			sleeps = least(sleeps, turns.sleeps);
		}
		printf("%s %u %u %u\n", ones[i].id, (unsigned int)(longest / 1000),
		       (unsigned int)(all / 1000), (unsigned int)sleeps);
	}
}

static void on_bench(const struct weir_probe_result *result, void *arg)
{
	struct one *one = arg;

	if (!result->passed && !failures++)
		printf("first failure: %s\n", result->text);
	if (to_start) {
		to_start--;
		weir_probe_start(prober, &one->job, on_bench, one);
	} else {
		finished();
	}
}

static double seconds(struct timeval tv)
{
	return tv.tv_sec + tv.tv_usec / 1e6;
}

static void bench(unsigned int n, unsigned int at_once, const char *backend,
		  const char *line)
{
	struct rusage before, after;
	uint64_t begin = weir_loop_now();
	unsigned int i;

	ones = weir_alloc(sizeof(*ones));
	n_ones = 1;
	set_one(ones, "bench", backend, "-", line);
	ones->job.line = &ones->line;
	pending = at_once;
	to_start = n - at_once;
	getrusage(RUSAGE_SELF, &before);
	for (i = 0; i < at_once; i++)
		weir_probe_start(prober, &ones->job, on_bench, ones);
	weir_loop_run(&loop);
	getrusage(RUSAGE_SELF, &after);
	printf("%u probes, %u failed, %.0f us user + %.0f us system each, %.0f a second, %ld KiB\n",
	       n, failures,
	       (seconds(after.ru_utime) - seconds(before.ru_utime)) * 1e6 / n,
	       (seconds(after.ru_stime) - seconds(before.ru_stime)) * 1e6 / n,
	       n * 1e9 / (weir_loop_now() - begin), after.ru_maxrss);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	unsigned int i;
	int before;

	if (weir_loop_init(&loop))
		die("loop", "cannot be made");
	prober = weir_prober_new(&loop);
	if (!prober)
		die("prober", "cannot be made");
	weir_prober_set_pin(prober, pin, NULL);
	before = count_descriptors();
	if (!strcmp(mode, "cases"))
		run_all(argc > 2 ? atoi(argv[2]) : 1, 0);
	else if (!strcmp(mode, "cancel") && argc == 4)
		run_all(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(mode, "alone") && argc == 3)
		run_alone(atoi(argv[2]));
	else if (!strcmp(mode, "bench") && argc == 6)
		bench(atoi(argv[2]), atoi(argv[3]), argv[4], argv[5]);
	else
		die("usage", "cases [N] | cancel N US | alone N | bench N M BACKEND LINE");
	printf("descriptors %d\n", count_descriptors() - before);
	for (i = 0; i < n_ones; i++)
		weir_healthcheck_free(&ones[i].line);
	free(ones);
	weir_prober_free(prober);
	weir_loop_free(&loop);
	return 0;
}
