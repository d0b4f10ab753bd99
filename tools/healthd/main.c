// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "apply.h"
#include "config.h"
#include "control.h"
#include "file.h"
#include "follow.h"
#include "log.h"
#include "netns.h"
#include "notify.h"
#include "once.h"
#include "pin.h"
#include "readfile.h"
#include "report.h"
#include "roster.h"
#include "version.h"

#define STATUS_EVERY	(5 * WEIR_SECOND)

enum { DONE, REFUSED, USAGE };

static const char usage[] =
"usage: weir-healthd [-n NETNS] [FILE]           check the backends of the weir module;\n"
"                                                FILE is applied first\n"
"       weir-healthd [-n NETNS] reload           FILE and the configuration are read again\n"
"       weir-healthd [-jp] [-n NETNS] --once [FILE]\n"
"                                                probe each backend of the module, or of\n"
"                                                FILE, one time: exit 1 if one is down\n"
"       weir-healthd -V\n";

/* The daemon: there is one of it, and callbacks without an argument find it here. */
static struct {
	const char *file;		/* NULL: none is applied */
	struct weir_loop loop;
	struct weir_nl nl;
	struct weir_prober *prober;
	struct weir_report report;
	struct weir_roster roster;
	struct weir_follow follow;
	struct weir_control control;
	struct weir_watch signals;
	struct weir_apply apply;
	bool again;			/* a reload came while one went on */
	bool failed;
	struct weir_timer status;
	uint64_t status_every;
} daemon_;

static void stop(void)
{
	weir_notify("STOPPING=1");
	weir_loop_stop(&daemon_.loop);
}

/* The module was unloaded, or what was a right is none any more: whoever started us
 * starts us again. */
static void lost(const char *why)
{
	weir_log(WEIR_LOG_ERROR, "%s", why);
	daemon_.failed = true;
	stop();
}

/* A module that was reloaded has other numbers, and sends no event to us. */
static void look_for_module(void)
{
	struct nlmsghdr *nlh = weir_nl_begin(&daemon_.nl, WEIR_CMD_INFO_GET);
	struct weir_err err;

	if (weir_nl_call(&daemon_.nl, nlh, NULL, NULL, &err) && err.num == ENOENT)
		lost("the weir module is not loaded any more, or another one is");
}

static void tell_status(struct weir_timer *timer)
{
	unsigned int up, down, unknown;

	look_for_module();
	weir_roster_count(&daemon_.roster, &up, &down, &unknown);
	weir_notify("WATCHDOG=1\nSTATUS=%u services: %u backends up, %u down, %u not known yet",
		    daemon_.roster.n, up, down, unknown);
	weir_loop_arm(&daemon_.loop, timer,
		      weir_loop_now() + daemon_.status_every);
}

/* Reloading. */

static void end_reload(const char *why)
{
	struct weir_err err;

	weir_prober_forget_trust(daemon_.prober);
	if (!*why && weir_follow_read(&daemon_.follow, &err))
		why = err.text;
	if (*why)
		weir_log(WEIR_LOG_ERROR, "not reloaded: %s", why);
	else
		weir_log(WEIR_LOG_NOTICE, "reloaded");
	weir_control_answer(&daemon_.control, why);
}

static void reload(void)
{
	struct weir_err err;

	if (daemon_.apply.pid)
		daemon_.again = true;
	else if (!daemon_.file)
		end_reload("");
	else if (weir_apply_start(&daemon_.apply, daemon_.file, &err))
		end_reload(err.text);
}

static void reap(void)
{
	char text[4000];
	bool ok;

	if (!weir_apply_end(&daemon_.apply, false, &ok, text, sizeof(text)))
		return;
	/* What came meanwhile wants the file as it is now. */
	if (daemon_.again) {
		daemon_.again = false;
		reload();
		return;
	}
	end_reload(ok ? "" : *text ? text : "weir apply failed");
}

static void take_signal(struct weir_watch *watch, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(watch->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload();
		else if (info.ssi_signo == SIGCHLD)
			reap();
		else
			stop();
	}
}

/* Starting and stopping. */

static int watch_signals(struct weir_err *err)
{
	sigset_t set;

	/* Whoever started us may ignore it. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	daemon_.signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	daemon_.signals.ready = take_signal;
	if (daemon_.signals.fd >= 0 &&
	    !weir_loop_watch(&daemon_.loop, &daemon_.signals, EPOLLIN))
		return 0;
	return weir_err_set(err, WEIR_ERR_VALUE, "cannot wait for signals: %s",
			    strerror(errno));
}

/* A probe takes a descriptor, and all may hang at once. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		weir_log(WEIR_LOG_WARNING, "cannot raise the limit of descriptors: %s",
			 strerror(errno));
}

static int apply_first(struct weir_err *err)
{
	char text[sizeof(err->text) - 1];
	bool ok;

	if (!daemon_.file)
		return 0;
	if (weir_apply_start(&daemon_.apply, daemon_.file, err))
		return -1;
	weir_apply_end(&daemon_.apply, true, &ok, text, sizeof(text));
	return ok ? 0 : weir_err_set(err, WEIR_ERR_VALUE, "%s", text);
}

static int begin(struct weir_err *err)
{
	uint64_t watchdog = weir_notify_watchdog();

	if (weir_loop_init(&daemon_.loop))
		return weir_err_set(err, WEIR_ERR_VALUE, "cannot begin: %s",
				    strerror(errno));
	daemon_.prober = weir_prober_new(&daemon_.loop);
	if (!daemon_.prober)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "libcurl or OpenSSL cannot be used");
	if (weir_control_init(&daemon_.control, &daemon_.loop, reload, err) ||
	    watch_signals(err) || apply_first(err) ||
	    weir_nl_open(&daemon_.nl, err))
		return -1;
	weir_prober_set_pin(daemon_.prober, weir_pin, &daemon_.nl);
	weir_report_init(&daemon_.report, &daemon_.loop, &daemon_.nl, lost);
	weir_roster_init(&daemon_.roster, &daemon_.loop, daemon_.prober,
			 &daemon_.report);
	if (weir_follow_init(&daemon_.follow, &daemon_.loop, &daemon_.roster,
			     &daemon_.nl, lost, err))
		return -1;
	daemon_.status.fire = tell_status;
	daemon_.status_every = watchdog && watchdog / 2 < STATUS_EVERY ?
			       watchdog / 2 : STATUS_EVERY;
	weir_notify("READY=1");
	tell_status(&daemon_.status);
	return 0;
}

/* What was found last is told; what goes on is not waited for. */
static void end(void)
{
	char text[100];
	bool ok;

	if (daemon_.apply.pid) {
		kill(daemon_.apply.pid, SIGTERM);
		weir_apply_end(&daemon_.apply, true, &ok, text, sizeof(text));
	}
	if (!daemon_.failed && daemon_.report.last)
		weir_report_flush(&daemon_.report);
	if (daemon_.follow.loop)
		weir_follow_free(&daemon_.follow);
	if (daemon_.roster.loop)
		weir_roster_free(&daemon_.roster);
	weir_control_free(&daemon_.control);
	weir_nl_close(&daemon_.nl);
	if (daemon_.prober)
		weir_prober_free(daemon_.prober);
	weir_loop_disarm(&daemon_.loop, &daemon_.status);
	if (daemon_.signals.watched)
		weir_loop_unwatch(&daemon_.loop, &daemon_.signals);
	if (daemon_.signals.fd > 0)
		close(daemon_.signals.fd);
	weir_loop_free(&daemon_.loop);
}

static int run(const char *file)
{
	struct weir_err err;

	daemon_.file = file;
	raise_limit();
	if (begin(&err)) {
		weir_log(WEIR_LOG_ERROR, "%s", err.text);
		daemon_.failed = true;
	} else if (weir_loop_run(&daemon_.loop)) {
		weir_log(WEIR_LOG_ERROR, "cannot wait: %s", strerror(errno));
		daemon_.failed = true;
	}
	end();
	return daemon_.failed ? REFUSED : DONE;
}

/* One round. */

static int read_file(const char *name, struct weir_config *config)
{
	unsigned int line;
	struct weir_err err;
	size_t len;
	char *text;
	int ret = -1;

	if (weir_read_file(name, &text, &len))
		weir_log(WEIR_LOG_ERROR, "%s: %s", name, strerror(errno));
	else if (weir_file_parse(text, len, config, &line, &err))
		weir_log(WEIR_LOG_ERROR, "%s:%u: %s", name, line, err.text);
	else
		ret = 0;
	free(text);
	return ret;
}

static int read_kernel(struct weir_config *config)
{
	struct weir_err err;
	struct weir_nl nl;
	int ret = weir_nl_open(&nl, &err);

	if (!ret) {
		ret = weir_read_config(&nl, NULL, false, config, &err);
		weir_nl_close(&nl);
	}
	if (ret)
		weir_log(WEIR_LOG_ERROR, "%s", err.text);
	return ret;
}

static int run_once(struct weir_out *out, const char *file)
{
	struct weir_config config = { .n_services = 0 };
	int ret = REFUSED;

	raise_limit();
	if (!(file ? read_file(file, &config) : read_kernel(&config)))
		ret = weir_once(out, &config);
	weir_config_free(&config);
	return weir_out_finish(out) ? REFUSED : ret;
}

static int bad_grammar(void)
{
	fputs(usage, stderr);
	return USAGE;
}

struct flags {
	struct weir_out out;
	bool once;
};

/* 0 to go on, else an exit code + 1. */
static int parse_flags(int argc, char **argv, struct flags *flags)
{
	static const struct option long_flags[] = {
		{ "once", no_argument, NULL, 'o' }, { 0 }
	};
	struct weir_err err;
	int c;

	while ((c = getopt_long(argc, argv, "+jpn:V", long_flags, NULL)) != -1) {
		switch (c) {
		case 'p':
			flags->out.pretty = true;
			/* fall through */
		case 'j':
			flags->out.json = true;
			break;
		case 'o':
			flags->once = true;
			break;
		case 'n':
			if (!weir_netns_enter(optarg, &err))
				break;
			weir_log(WEIR_LOG_ERROR, "%s", err.text);
			return REFUSED + 1;
		case 'V':
			printf("weir-healthd %s\n", WEIR_VERSION);
			return DONE + 1;
		default:
			return bad_grammar() + 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct flags flags = { .out = { .f = stdout } };
	const char *word;
	int ret = parse_flags(argc, argv, &flags);

	if (ret)
		return ret - 1;
	word = optind < argc ? argv[optind] : NULL;
	if (word && optind + 1 < argc)
		return bad_grammar();
	if (flags.once)
		return run_once(&flags.out, word);
	if (flags.out.json)
		return bad_grammar();
	/* A daemon has no standard input to read again. */
	if (word && word[0] == '-')
		return bad_grammar();
	if (!word)
		return run(NULL);
	if (!strcmp(word, "help")) {
		fputs(usage, stdout);
		return DONE;
	}
	return strcmp(word, "reload") ? run(word) : weir_control_reload();
}
