// SPDX-License-Identifier: GPL-2.0
/*
 * gen - packets into a router, one send() each, and what one of them costs
 *
 *   gen NAME=VALUE...			the names are in options[] below
 *   gen NAME=VALUE... -- COMMAND...	what new flows meet while COMMAND changes it
 *
 * The lab is the one of lab.sh. Frames are built beforehand, with right checksums, and go
 * out of a packet socket that passes by the queueing discipline, so that every packet is a
 * buffer of its own that nobody else holds: pktgen keeps a reference to its one, and then
 * each path through the IP layer pays for a copy that real traffic never needs.
 *
 * A flow is opened from both sides before it is measured: backends answer, TCP shakes
 * hands, UDP lasts longer than the two seconds after which conntrack believes in it. All
 * that comes out meanwhile is looked at: which backend, which addresses, which checksums.
 * During a measurement nobody listens, which would cost; the counter of the device says
 * whether every packet came out, and a sample afterwards, whether it came out right.
 *
 * Prints a line "packet= bytes= flows= cost= least= most=" for each measurement. The cost
 * is in ticks of the time stamp counter, which under -icount are instructions, or in
 * nanoseconds with clock=1. Any doubt is an error: a message, and exit status 1.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sample.h"

#define MAX_RUNS	15
#define MAX_THREADS	8
#define FRAME_MAX	1536
#define SAMPLE		50	/* flows looked at after a measurement */
#define PORT		80
#define SERVER_ISN	0x10000000U
#define CLIENT_ISN	0x20000000U

enum { FIN = 1, SYN = 2, ACK = 16 };

/* What becomes of a packet: dropped, sent on to the backend that it names, translated,
 * or sent on as it is to a backend's hardware address.
 */
enum kind { DROP, FORWARD, NAT, DIRECT };

static const char * const kinds[] = { "drop", "forward", "nat", "direct" };

static struct {
	long family, tcp, kind, services, flows, packets, runs, first, bytes, bytes2;
	long established, answered, clock, threads, samples, only, gone;
} opt = {
	.family = 4, .services = 1, .flows = 1, .packets = 2000, .runs = 3,
	.bytes = 64, .established = 1, .threads = 1,
};

static const struct {
	const char *name;
	long *value;
} options[] = {
	{ "family", &opt.family },	/* 4 or 6 */
	{ "tcp", &opt.tcp },		/* or UDP */
	{ "services", &opt.services },	/* packets go to each in turn */
	{ "established", &opt.established },	/* or each packet a flow of its own */
	{ "flows", &opt.flows },	/* established: packets are of each in turn */
	{ "packets", &opt.packets },	/* of one run */
	{ "runs", &opt.runs },		/* after one that is not counted */
	{ "first", &opt.first },	/* number of the first new flow: none comes twice */
	{ "bytes", &opt.bytes },	/* of a frame with its checksum, or the least */
	{ "bytes2", &opt.bytes2 },	/* and then with the same flows, or 0 */
	{ "answered", &opt.answered },	/* backends answer through the router */
	{ "clock", &opt.clock },	/* nanoseconds, not ticks */
	{ "samples", &opt.samples },	/* say where it is meanwhile */
	{ "only", &opt.only },		/* with COMMAND: number of the service that it changes, */
	{ "gone", &opt.gone },		/* and the backend that it takes away: last byte */
	{ "threads", &opt.threads },	/* each on a CPU and with flows of its own */
};

struct flow {
	uint32_t client;	/* last 32 bits of the address */
	uint16_t port;
	uint8_t backend;	/* last byte of its address, once it is known */
	uint32_t service;
	uint32_t sent;		/* bytes of the stream */
};

struct frame {
	uint16_t len;
	uint8_t data[];
};

static struct flow *flows;
static uint8_t *frames;		/* opt.packets of them, frame_size apart */
static size_t frame_size;
static int client_fds[MAX_THREADS], server_fd, seen_fd = -1, back_fd = -1;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("gen: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

/* Frames ------------------------------------------------------------------------------ */

static uint32_t sum(const uint8_t *data, size_t len, uint32_t start)
{
	uint64_t total = start;
	uint16_t word;
	size_t i;

	for (i = 0; i + 1 < len; i += 2) {
		memcpy(&word, data + i, 2);
		total += word;
	}
	if (len & 1)
		total += data[len - 1];
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

static void put16(uint8_t *at, uint16_t value)
{
	value = htons(value);
	memcpy(at, &value, 2);
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, 4);
}

static uint16_t get16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static size_t l3_len(void)
{
	return opt.family == 4 ? 20 : 40;
}

static uint8_t *l4_of(uint8_t *data)
{
	return data + ETH_HLEN + l3_len();
}

/* Where the last 32 bits of source and destination are. */
static uint8_t *source_of(uint8_t *data)
{
	return data + ETH_HLEN + (opt.family == 4 ? 12 : 8 + 12);
}

static uint8_t *destination_of(uint8_t *data)
{
	return data + ETH_HLEN + (opt.family == 4 ? 16 : 24 + 12);
}

/* The sum over the part that the transport's checksum covers, 0xffff if that is right. */
static uint32_t l4_sum(uint8_t *data, size_t len)
{
	size_t addresses = opt.family == 4 ? 12 : 8;
	size_t l4 = len - ETH_HLEN - l3_len();
	uint32_t start = htons(opt.tcp ? IPPROTO_TCP : IPPROTO_UDP) + htons(l4);

	start = sum(data + ETH_HLEN + addresses, l3_len() - addresses, start);
	return sum(l4_of(data), l4, start);
}

static void put_checksums(uint8_t *data, size_t len)
{
	uint8_t *at = l4_of(data) + (opt.tcp ? 16 : 6);
	uint16_t value;

	if (opt.family == 4) {
		memset(data + ETH_HLEN + 10, 0, 2);
		value = ~sum(data + ETH_HLEN, 20, 0);
		memcpy(data + ETH_HLEN + 10, &value, 2);
	}
	memset(at, 0, 2);
	value = ~l4_sum(data, len);
	if (!value)
		value = 0xffff;
	memcpy(at, &value, 2);
}

static bool checksums_right(uint8_t *data, size_t len)
{
	return (opt.family == 6 || sum(data + ETH_HLEN, 20, 0) == 0xffff) &&
	       l4_sum(data, len) == 0xffff;
}

static void put_l3(uint8_t *data, size_t l4, uint32_t client, uint32_t target)
{
	static const uint8_t client6[12] = { 0xfd, 0, 0, 0x10 };
	static const uint8_t vip6[12] = { 0xfd, 0, 0, 0xf };
	static const uint8_t backend6[12] = { 0xfd, 0, 0, 0x9 };
	uint8_t *ip = data + ETH_HLEN;

	memset(ip, 0, l3_len());
	if (opt.family == 4) {
		ip[0] = 0x45;
		put16(ip + 2, 20 + l4);
		put16(ip + 6, 0x4000);
		ip[8] = 64;
		ip[9] = opt.tcp ? IPPROTO_TCP : IPPROTO_UDP;
		client += 10 << 24 | 16 << 16;
		target += opt.kind == FORWARD ? 10 << 24 | 9 << 16 :
						198U << 24 | 18 << 16;
	} else {
		ip[0] = 0x60;
		put16(ip + 4, l4);
		ip[6] = opt.tcp ? IPPROTO_TCP : IPPROTO_UDP;
		ip[7] = 64;
		memcpy(ip + 8, client6, 12);
		memcpy(ip + 24, opt.kind == FORWARD ? backend6 : vip6, 12);
	}
	put32(source_of(data), client);
	put32(destination_of(data), target);
}

static size_t put_tcp(uint8_t *tcp, uint8_t flags, uint32_t seq)
{
	static const uint8_t opening[20] = { 2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1,
					     0, 0, 0, 0, 1, 3, 3, 14 };
	static const uint8_t later[12] = { 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1 };
	size_t len = 20 + (flags & SYN ? sizeof(opening) : sizeof(later));

	memset(tcp + 4, 0, 16);
	put32(tcp + 4, seq);
	if (flags & ACK)
		put32(tcp + 8, SERVER_ISN + 1);
	tcp[12] = len / 4 << 4;
	tcp[13] = flags;
	put16(tcp + 14, 0xffff);
	if (flags & SYN)
		memcpy(tcp + 20, opening, sizeof(opening));
	else
		memcpy(tcp + 20, later, sizeof(later));
	return len;
}

/* Headers, and filled up to what the wire wants, less the four bytes at the end. */
static size_t build(uint8_t *data, struct flow *flow, long bytes, uint8_t flags)
{
	static const uint8_t addresses[ETH_HLEN] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 };
	size_t head = ETH_HLEN + l3_len(), len = bytes - 4;
	uint8_t *l4 = data + head;
	size_t least;

	memcpy(data, addresses, sizeof(addresses));
	put16(data + 12, opt.family == 4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);
	put16(l4, flow->port);
	put16(l4 + 2, PORT);
	least = opt.tcp ? put_tcp(l4, flags, CLIENT_ISN + !(flags & SYN) + flow->sent) : 8;
	if (len < head + least || (opt.tcp && flags & SYN))
		len = head + least;
	memset(l4 + least, 0x55, len - head - least);
	if (opt.tcp)
		flow->sent += len - head - least;
	else
		put16(l4 + 4, len - head);
	put_l3(data, len - head, flow->client,
	       opt.kind == FORWARD ? 11 : 1 + flow->service);
	put_checksums(data, len);
	return len;
}

/* Turn what a backend got into its answer. */
static void turn(uint8_t *data, size_t len)
{
	static const uint8_t addresses[12] = { 2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2 };
	size_t size = opt.family == 4 ? 4 : 16;
	uint8_t *src = source_of(data) + 4 - size, *dst = destination_of(data) + 4 - size;
	uint8_t *l4 = l4_of(data), swap[16];

	memcpy(data, addresses, sizeof(addresses));
	memcpy(swap, src, size);
	memcpy(src, dst, size);
	memcpy(dst, swap, size);
	memcpy(swap, l4, 2);
	memcpy(l4, l4 + 2, 2);
	memcpy(l4 + 2, swap, 2);
	data[ETH_HLEN + (opt.family == 4 ? 8 : 7)] = 64;
	if (opt.tcp) {
		put32(l4 + 8, get32(l4 + 4) + 1);
		put32(l4 + 4, SERVER_ISN);
		l4[13] = SYN | ACK;
	}
	put_checksums(data, len);
}

/* Sockets ----------------------------------------------------------------------------- */

static void enter(const char *netns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(netns ? path : "/proc/1/ns/net", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s: %s", netns ? netns : "of the router", strerror(errno));
	close(fd);
}

/* With protocol 0 it receives nothing, and costs nothing when others do. */
static int packet_socket(const char *netns, const char *device, bool receive)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET };
	int fd, one = 1, size = 8 << 20;

	enter(netns);
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("packet socket: %s", strerror(errno));
	at.sll_ifindex = if_nametoindex(device);
	at.sll_protocol = receive ? htons(ETH_P_ALL) : 0;
	if (!receive && setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof(one)))
		die("qdisc bypass: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("%s: %s", device, strerror(errno));
	enter(NULL);
	return fd;
}

static void listen_up(void)
{
	seen_fd = packet_socket(NULL, "d0", true);
	if (opt.answered)
		back_fd = packet_socket("cl", "c0", true);
}

static void listen_down(void)
{
	close(seen_fd);
	if (opt.answered)
		close(back_fd);
	seen_fd = back_fd = -1;
}

static void put(int fd, const uint8_t *data, size_t len)
{
	if (send(fd, data, len, 0) != (ssize_t)len)
		die("send: %s", strerror(errno));
}

/* The next frame of ours that has come there, or 0. */
static size_t get(int fd, uint8_t *data, bool outgoing)
{
	struct sockaddr_ll from;
	socklen_t size;
	ssize_t len;

	for (;;) {
		size = sizeof(from);
		len = recvfrom(fd, data, FRAME_MAX, MSG_DONTWAIT, (void *)&from, &size);
		if (len < 0)
			return 0;
		if ((from.sll_pkttype == PACKET_OUTGOING) == outgoing &&
		    (size_t)len >= ETH_HLEN + l3_len() + 8 &&
		    data[ETH_HLEN + (opt.family == 4 ? 9 : 6)] ==
		    (opt.tcp ? IPPROTO_TCP : IPPROTO_UDP))
			return len;
	}
}

/* Another process's interrupt may carry the packet on: it has until 50 ms. Returns its
 * length, 0 if it is lost.
 */
static size_t await(int fd, uint8_t *data, bool outgoing)
{
	struct pollfd seen = { .fd = fd, .events = POLLIN };
	size_t len = get(fd, data, outgoing);

	while (!len && poll(&seen, 1, 50) > 0)
		len = get(fd, data, outgoing);
	return len;
}

/* What comes out --------------------------------------------------------------------- */

static void check_way(struct flow *flow, uint8_t *data, size_t len)
{
	static const uint8_t mac[5] = { 2, 0, 0, 0, 9 };
	uint32_t target = get32(destination_of(data)) & 0xffff;
	uint8_t ttl = data[ETH_HLEN + (opt.family == 4 ? 8 : 7)];

	if (memcmp(data, mac, sizeof(mac)) || data[5] < 11)
		die("a packet went to no backend's hardware address");
	if (flow->backend && flow->backend != data[5])
		die("a flow went from backend %d to %d", flow->backend, data[5]);
	flow->backend = data[5];
	if (target != (opt.kind == DIRECT ? 1 + flow->service : data[5]))
		die("a packet to service %u came out for %x at backend %d", flow->service,
		    target, data[5]);
	if ((get32(source_of(data)) & 0xffff) != flow->client ||
	    get16(l4_of(data)) != flow->port || get16(l4_of(data) + 2) != PORT)
		die("a packet's source or port has changed");
	if (ttl != 63)
		die("a packet left with %d hops, not 63", ttl);
	if (!checksums_right(data, len))
		die("a packet left with a wrong checksum");
}

/* One packet of a flow, and what comes out is looked at, and left in data. */
static size_t follow(struct flow *flow, uint8_t flags, uint8_t *data)
{
	uint8_t more[FRAME_MAX];
	size_t len = build(data, flow, opt.bytes, flags);

	put(client_fds[0], data, len);
	if (opt.kind == DROP) {
		if (get(seen_fd, data, true))
			die("a packet came out that was to be dropped");
		return 0;
	}
	len = await(seen_fd, data, true);
	if (!len)
		die("nothing came out: service %u, client %x port %d", flow->service,
		    flow->client, flow->port);
	if (get(seen_fd, more, true))
		die("more came out than went in");
	check_way(flow, data, len);
	return len;
}

static void answer(struct flow *flow, uint8_t *data, size_t len)
{
	turn(data, len);
	put(server_fd, data, len);
	len = await(back_fd, data, false);
	if (!len)
		die("an answer of backend %d did not come back", flow->backend);
	if ((get32(destination_of(data)) & 0xffff) != flow->client ||
	    get16(l4_of(data) + 2) != flow->port || get16(l4_of(data)) != PORT ||
	    (get32(source_of(data)) & 0xffff) !=
	    (opt.kind == FORWARD ? 11 : 1 + flow->service))
		die("an answer came back from %x", get32(source_of(data)));
	if (!checksums_right(data, len))
		die("an answer came back with a wrong checksum");
}

static void open_flow(struct flow *flow)
{
	uint8_t data[FRAME_MAX];
	size_t len = follow(flow, SYN, data);

	if (opt.answered && len)
		answer(flow, data, len);
	if (opt.tcp)
		follow(flow, ACK, data);
}

/* Measuring -------------------------------------------------------------------------- */

static uint64_t transmitted(void)
{
	char text[32] = "";
	int fd = open("/sys/class/net/d0/statistics/tx_packets", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die("the counter of d0: %s", strerror(errno));
	close(fd);
	return strtoull(text, NULL, 10);
}

static uint64_t now(void)
{
	struct timespec ts;
	uint32_t low, high;

	if (opt.clock) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
	}
	__asm__ volatile("lfence; rdtsc" : "=a" (low), "=d" (high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static struct frame *frame(long i)
{
	return (struct frame *)(frames + i * frame_size);
}

static void new_flow(struct flow *flow, long number)
{
	flow->client = 0x8000 + number % 0x8000;
	flow->port = 1024 + number / 0x8000;
	flow->service = number % opt.services;
	flow->backend = 0;
	flow->sent = 0;
}

static void build_all(long bytes)
{
	struct flow fresh;
	long i;

	for (i = 0; i < opt.packets; i++) {
		if (opt.established) {
			frame(i)->len = build(frame(i)->data, &flows[i % opt.flows], bytes, ACK);
			continue;
		}
		new_flow(&fresh, opt.first++);
		frame(i)->len = build(frame(i)->data, &fresh, bytes, SYN);
	}
}

static pthread_barrier_t barrier;
static uint64_t started[MAX_THREADS], ended[MAX_THREADS];

/* Thread t has each opt.threads'th packet. */
static void *send_all(void *arg)
{
	long t = (long)arg, i;
	int fd = client_fds[t];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(t, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("CPU %ld: %s", t, strerror(errno));
	if (opt.threads > 1)
		pthread_barrier_wait(&barrier);
	started[t] = now();
	for (i = t; i < opt.packets; i += opt.threads)
		if (send(fd, frame(i)->data, frame(i)->len, 0) < 0)
			die("send: %s", strerror(errno));
	ended[t] = now();
	return NULL;
}

static uint64_t run(void)
{
	uint64_t before = transmitted(), from, to, out;
	pthread_t threads[MAX_THREADS];
	long t;

	if (opt.threads > 1)
		pthread_barrier_init(&barrier, NULL, opt.threads);
	for (t = 1; t < opt.threads; t++)
		if (pthread_create(&threads[t], NULL, send_all, (void *)t))
			die("no thread");
	send_all(NULL);
	from = started[0], to = ended[0];
	for (t = 1; t < opt.threads; t++) {
		pthread_join(threads[t], NULL);
		from = started[t] < from ? started[t] : from;
		to = ended[t] > to ? ended[t] : to;
	}
	out = transmitted() - before;
	if (out != (opt.kind == DROP ? 0 : (uint64_t)opt.packets))
		die("%ld went in, %lu came out", opt.packets, out);
	return to - from;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void look_again(void)
{
	uint8_t data[FRAME_MAX];
	struct flow fresh;
	long i;

	listen_up();
	for (i = 0; i < SAMPLE; i++) {
		if (opt.established) {
			follow(&flows[i * 97 % opt.flows], ACK, data);
			continue;
		}
		new_flow(&fresh, opt.first++);
		follow(&fresh, SYN, data);
	}
	listen_down();
}

static void measure(long bytes)
{
	uint64_t took[MAX_RUNS];
	long i;

	frame_size = (sizeof(uint16_t) + (bytes < 128 ? 128 : bytes) + 63) & ~63UL;
	frames = malloc(opt.packets * frame_size);
	if (!frames)
		die("no memory");
	for (i = -1; i < opt.runs; i++) {
		build_all(bytes);
		took[i < 0 ? 0 : i] = run();
	}
	/* A run of its own: the samples cost more than the packets. */
	if (opt.samples) {
		build_all(bytes);
		sample_start();
		run();
		sample_stop();
	}
	free(frames);
	qsort(took, opt.runs, sizeof(took[0]), compare);
	printf("packet=%s bytes=%ld flows=%ld cost=%.1f least=%.1f most=%.1f\n",
	       opt.established ? "established" : "first", bytes,
	       opt.established ? opt.flows : opt.packets,
	       (double)took[opt.runs / 2] / opt.packets, (double)took[0] / opt.packets,
	       (double)took[opt.runs - 1] / opt.packets);
	look_again();
}

static void open_flows(void)
{
	const struct timespec believed = { .tv_sec = 2, .tv_nsec = 100000000 };
	uint8_t data[FRAME_MAX];
	bool used[256] = {};
	long i, places = 0;

	flows = calloc(opt.flows, sizeof(*flows));
	if (!flows)
		die("no memory");
	listen_up();
	for (i = 0; i < opt.flows; i++) {
		flows[i].client = 256 + i % 200;
		flows[i].port = 20000 + i / 200;
		flows[i].service = i % opt.services;
		open_flow(&flows[i]);
		if (opt.kind != DROP && !used[flows[i].backend]) {
			used[flows[i].backend] = true;
			places++;
		}
	}
	if (opt.answered && !opt.tcp) {
		nanosleep(&believed, NULL);
		for (i = 0; i < opt.flows; i++)
			follow(&flows[i], 0, data);
	}
	listen_down();
	if (opt.kind > FORWARD && opt.flows >= 1000 && places != 4)
		die("the flows are at %ld backends, not at 4", places);
}

/* While a command changes a service ------------------------------------------------------ */

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	execvp(command[0], command);
	die("%s: %s", command[0], strerror(errno));
}

static double ms_since(uint64_t from)
{
	return (now() - from) / 1e6;
}

/* A new flow of one service every 200 us: from when on does none meet the backend that
 * goes, and when has the command returned?
 */
static void watch(char **command)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	long sent = 0, before = 0, old = 0, lost = 0, after = 0;
	double force = 0, returned = 0;
	uint8_t data[FRAME_MAX];
	struct flow fresh;
	uint64_t from = 0;
	pid_t pid = 0;
	int status = 0;
	size_t len;

	opt.clock = 1;
	listen_up();
	while (after < 200) {
		if (sent++ == 200) {
			from = now();
			pid = start(command);
		}
		new_flow(&fresh, opt.first++);
		fresh.service = opt.only;
		len = build(data, &fresh, opt.bytes, SYN);
		put(client_fds[0], data, len);
		len = await(seen_fd, data, true);
		if (!len)
			lost++;
		else
			check_way(&fresh, data, len);
		if (len && fresh.backend == opt.gone) {
			before += !pid;
			old++;
			force = pid ? ms_since(from) : 0;
		}
		if (pid && !returned && waitpid(pid, &status, WNOHANG) == pid)
			returned = ms_since(from);
		after += returned > 0;
		nanosleep(&pause, NULL);
	}
	listen_down();
	if (status)
		die("%s: exit status %d", command[0], WEXITSTATUS(status));
	if (before < 10)
		die("only %ld of 200 new flows met the backend that is to go", before);
	printf("sent=%ld lost=%ld old=%ld force_ms=%.3f returned_ms=%.3f\n", sent, lost, old,
	       force, returned);
}

/* Returns the command. */
static char **parse(int argc, char **argv)
{
	size_t len, k;
	char *value;
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		value = strchr(argv[i], '=');
		if (!value)
			die("%s: not NAME=VALUE", argv[i]);
		len = value++ - argv[i];
		if (!strncmp(argv[i], "kind", len)) {
			for (k = 0; k < 4 && strcmp(value, kinds[k]); k++)
				;
			opt.kind = k;
			continue;
		}
		for (k = 0; k < sizeof(options) / sizeof(options[0]); k++)
			if (strlen(options[k].name) == len &&
			    !strncmp(options[k].name, argv[i], len))
				break;
		if (k == sizeof(options) / sizeof(options[0]))
			die("%s: no such option", argv[i]);
		*options[k].value = strtol(value, NULL, 10);
	}
	if (opt.kind > DIRECT || opt.runs < 1 || opt.runs > MAX_RUNS || opt.threads < 1 ||
	    opt.threads > MAX_THREADS || opt.flows < 1 || opt.bytes > 1500)
		die("an option is out of range");
	opt.answered = opt.kind == FORWARD || opt.kind == NAT;
	return i < argc ? argv + i + 1 : NULL;
}

int main(int argc, char **argv)
{
	char **command = parse(argc, argv);
	long t;

	for (t = 0; t < opt.threads; t++)
		client_fds[t] = packet_socket("cl", "c0", false);
	server_fd = packet_socket("sv", "b0", false);
	if (command) {
		watch(command);
		printf("next=%ld\n", opt.first);
		return 0;
	}
	if (opt.established)
		open_flows();
	measure(opt.bytes);
	if (opt.bytes2)
		measure(opt.bytes2);
	printf("next=%ld\n", opt.first);
	return 0;
}
