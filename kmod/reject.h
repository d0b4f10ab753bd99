/* SPDX-License-Identifier: GPL-2.0 */
/*
 * reject - tell the client that nobody will answer
 */
#ifndef WEIR_REJECT_H
#define WEIR_REJECT_H

struct nf_hook_state;
struct sk_buff;
struct weir_net;
struct weir_service;

/**
 * weir_reject() - a TCP RST, or ICMP port unreachable, from the VIP
 * @skb: what it answers; not consumed
 *
 * Rate-limited: both kinds share what is allowed per namespace and second. Bottom
 * halves off, RCU read lock.
 */
void weir_reject(struct weir_net *wn, struct sk_buff *skb,
		 const struct nf_hook_state *state);

/**
 * weir_when_empty() - nobody may be chosen: drop, or tell, as the service says
 * @skb: as weir_reject()
 * Return: NF_DROP.
 */
unsigned int weir_when_empty(struct weir_net *wn, const struct weir_service *svc,
			     struct sk_buff *skb,
			     const struct nf_hook_state *state);

#endif /* WEIR_REJECT_H */
