/* SPDX-License-Identifier: GPL-2.0 */
/* Values as people type them and as we print them; pure. */
#ifndef WEIR_VALUE_H
#define WEIR_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* len is 4 (IPv4), 16 (IPv6) or 0 (none) */
struct weir_addr {
	uint8_t len;
	uint8_t b[16];
};

struct weir_prefix {
	struct weir_addr addr;
	uint8_t plen;
};

#define WEIR_ADDR_TEXT		56	/* an address or prefix as text */
#define WEIR_RATIO_TEXT		12
#define WEIR_KEY_TEXT		33

int weir_parse_number(const char *s, uint32_t min, uint32_t max,
		      uint32_t *value);
int weir_parse_ratio(const char *s, uint32_t *millionths);
int weir_parse_addr(const char *s, struct weir_addr *addr);
int weir_parse_prefix(const char *s, struct weir_prefix *prefix,
		      struct weir_err *err);
int weir_parse_endpoint(const char *s, struct weir_addr *addr, uint16_t *port,
			bool *has_port);
int weir_parse_key(const char *s, uint8_t key[16]);
bool weir_name_ok(const char *s);
bool weir_is_prime(uint32_t n);

/* IPv6 that stands for IPv4, ::ffff:a.b.c.d, becomes IPv4. */
void weir_prefix_unmap(struct weir_prefix *prefix);

/* Bits of an address of that many bytes. */
static inline unsigned int weir_addr_bits(const struct weir_addr *addr)
{
	return addr->len * 8;
}

int weir_addr_cmp(const struct weir_addr *a, const struct weir_addr *b);
bool weir_addr_in(const struct weir_addr *addr, const struct weir_prefix *in);
const char *weir_addr_text(const struct weir_addr *addr,
			   char buf[WEIR_ADDR_TEXT]);
const char *weir_prefix_text(const struct weir_prefix *prefix,
			     char buf[WEIR_ADDR_TEXT]);
/* ADDR, or ADDR:PORT with IPv6 in brackets */
const char *weir_endpoint_text(const struct weir_addr *addr, bool has_port,
			       uint16_t port, char buf[WEIR_ADDR_TEXT + 8]);
const char *weir_ratio_text(uint32_t millionths, char buf[WEIR_RATIO_TEXT]);
const char *weir_key_text(const uint8_t key[16], char buf[WEIR_KEY_TEXT]);

#endif
