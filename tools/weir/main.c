// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "netns.h"
#include "version.h"

/* Stops at the first word: `-` and `--dry-run` belong to the command. */
static int parse_flags(struct weir_ctx *ctx, int argc, char **argv)
{
	struct weir_err err;
	int c;

	while ((c = getopt(argc, argv, "+:jpsn:V")) != -1) {
		switch (c) {
		case 'p':
			ctx->out.pretty = true;
			/* fall through */
		case 'j':
			ctx->out.json = true;
			break;
		case 's':
			ctx->counters = true;
			break;
		case 'n':
			if (weir_netns_enter(optarg, &err))
				return weir_refuse(&err);
			break;
		case 'V':
			printf("weir %s\n", WEIR_VERSION);
			return -1;
		case ':':
			weir_bad_grammar("-%c needs the name of a network namespace",
					 optopt);
			weir_help(stderr);
			return WEIR_USAGE;
		default:
			weir_bad_grammar("-%c: unknown flag", optopt);
			weir_help(stderr);
			return WEIR_USAGE;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct weir_ctx ctx = { .out = { .f = stdout } };
	int ret = parse_flags(&ctx, argc, argv);

	if (ret)
		return ret < 0 ? WEIR_DONE : ret;
	ret = weir_dispatch(&ctx, (struct weir_args){ argc - optind,
						      argv + optind });
	weir_nl_close(&ctx.nl);
	if (weir_out_finish(&ctx.out) && !ret)
		ret = WEIR_REFUSED;
	return ret;
}
