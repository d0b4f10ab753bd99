// SPDX-License-Identifier: GPL-2.0
/*
 * For `run bench`: the daemon without a module. In the place of tools/weir/nl.c it reads
 * the configuration from the file that BENCH_CONF names, and reports go nowhere but
 * into a count, which is printed at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/weir.h>

#include "encode.h"
#include "file.h"
#include "nl.h"

static unsigned long n_calls, n_reports;
static int quiet = -1;		/* never readable: nothing changes */

int weir_nl_open(struct weir_nl *nl, struct weir_err *err)
{
	(void)err;
	memset(nl, 0, sizeof(*nl));
	nl->out = weir_alloc(WEIR_MESSAGE_MAX);
	return 0;
}

void weir_nl_close(struct weir_nl *nl)
{
	free(nl->out);
	nl->out = NULL;
	if (!n_calls)
		return;
	fprintf(stderr, "reports %lu in %lu messages\n", n_reports, n_calls);
	n_calls = 0;
}

struct nlmsghdr *weir_nl_begin(struct weir_nl *nl, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(nl->out);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));

	genl->cmd = cmd;
	return nlh;
}

int weir_nl_call(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void *arg, struct weir_err *err)
{
	const struct nlattr *attr;

	(void)nl, (void)cb, (void)arg, (void)err;
	n_calls++;
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		n_reports += mnl_attr_get_type(attr) == WEIR_A_REPORT;
	return 0;
}

static char *read_file(size_t *len)
{
	const char *name = getenv("BENCH_CONF");
	FILE *f = name ? fopen(name, "r") : NULL;
	char *text = NULL;
	size_t size = 0;
	ssize_t got = f ? getdelim(&text, &size, EOF, f) : -1;

	if (got < 0) {
		fprintf(stderr, "bench: cannot read BENCH_CONF\n");
		exit(1);
	}
	fclose(f);
	*len = got;
	return text;
}

int weir_nl_dump(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void (*reset)(void *arg), void *arg, struct weir_err *err)
{
	struct weir_config config = { .n_services = 0 };
	unsigned int i, j, line;
	size_t len;
	char *text = read_file(&len);

	(void)reset;
	if (weir_file_parse(text, len, &config, &line, err))
		return -1;
	for (i = 0; i < config.n_services; i++) {
		nlh = weir_nl_begin(nl, WEIR_CMD_CONFIG_GET);
		weir_put_service(nlh, &config.services[i]);
		cb(nlh, arg);
		for (j = 0; j < config.services[i].n_backends; j++) {
			nlh = weir_nl_begin(nl, WEIR_CMD_CONFIG_GET);
			weir_put_backend(nlh, config.services[i].name,
					 &config.services[i].backends[j]);
			cb(nlh, arg);
		}
	}
	weir_config_free(&config);
	free(text);
	return 0;
}

int weir_nl_join(struct weir_nl *nl, struct weir_err *err)
{
	(void)nl, (void)err;
	quiet = eventfd(0, EFD_CLOEXEC);
	return quiet < 0 ? -1 : 0;
}

int weir_nl_fd(const struct weir_nl *nl)
{
	(void)nl;
	return quiet;
}

int weir_nl_events(struct weir_nl *nl, weir_nl_cb cb, void *arg,
		   struct weir_err *err)
{
	(void)nl, (void)cb, (void)arg, (void)err;
	return 0;
}
