// SPDX-License-Identifier: GPL-2.0
/* Reading the kernel's configuration and state. */
#include <string.h>

#include "config.h"
#include "decode.h"

static int take_config(const struct nlmsghdr *nlh, void *arg)
{
	return weir_decode_config(nlh, arg);
}

static void reset_config(void *arg)
{
	weir_config_free(arg);
}

int weir_read_config(struct weir_nl *nl, const char *service, bool flows,
		     struct weir_config *config, struct weir_err *err)
{
	struct nlmsghdr *nlh = weir_nl_begin(nl, WEIR_CMD_CONFIG_GET);

	if (service)
		mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service);
	if (flows)
		mnl_attr_put(nlh, WEIR_A_WITH_FLOWS, 0, NULL);
	memset(config, 0, sizeof(*config));
	if (weir_nl_dump(nl, nlh, take_config, reset_config, config,
			 err)) {
		weir_config_free(config);
		return -1;
	}
	if (service && !weir_config_find(config, service)) {
		weir_config_free(config);
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "service %s does not exist: weir show",
				    weir_quote(service));
	}
	weir_config_sort(config);
	return 0;
}
