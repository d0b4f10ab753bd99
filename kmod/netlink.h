/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netlink - the generic-netlink family, see uapi/linux/weir.h
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

struct genl_family;

extern struct genl_family weir_family;

/**
 * weir_netlink_init() - register the family; module init, may sleep
 */
int weir_netlink_init(void);

/**
 * weir_netlink_exit() - unregister it: no command runs any more after this
 */
void weir_netlink_exit(void);

#endif /* WEIR_NETLINK_H */
