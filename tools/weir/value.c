// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <linux/weir.h>

#include "value.h"

/* Digits and nothing else: no sign, no blank, no base prefix. */
int weir_parse_number(const char *s, uint32_t min, uint32_t max,
		      uint32_t *value)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; s[i] >= '0' && s[i] <= '9' && i < 10; i++)
		n = n * 10 + (s[i] - '0');
	if (!i || s[i] || n < min || n > max)
		return -1;
	*value = n;
	return 0;
}

/* 0, 1, 0.5, 1.000000: at most six digits behind the point, for the kernel
 * counts in millionths and we never round what was typed. */
int weir_parse_ratio(const char *s, uint32_t *millionths)
{
	uint32_t n, unit = WEIR_RATIO_ONE;
	size_t i;

	if ((s[0] != '0' && s[0] != '1') || (s[1] && s[1] != '.'))
		return -1;
	n = (s[0] - '0') * WEIR_RATIO_ONE;
	if (s[1]) {
		for (i = 2; s[i] >= '0' && s[i] <= '9' && unit > 1; i++) {
			unit /= 10;
			n += (s[i] - '0') * unit;
		}
		if (i == 2 || s[i])
			return -1;
	}
	if (n > WEIR_RATIO_ONE)
		return -1;
	*millionths = n;
	return 0;
}

int weir_parse_addr(const char *s, struct weir_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, s, addr->b) == 1)
		addr->len = 4;
	else if (inet_pton(AF_INET6, s, addr->b) == 1)
		addr->len = 16;
	return addr->len ? 0 : -1;
}

/* Clears the bits behind PLEN; true if one of them was set. */
static bool mask_addr(struct weir_addr *addr, unsigned int plen)
{
	bool had_bits = false;
	unsigned int i;

	for (i = plen; i < weir_addr_bits(addr); i++) {
		uint8_t bit = 0x80 >> (i % 8);

		had_bits |= addr->b[i / 8] & bit;
		addr->b[i / 8] &= ~bit;
	}
	return had_bits;
}

int weir_parse_prefix(const char *s, struct weir_prefix *prefix,
		      struct weir_err *err)
{
	const char *slash = strchr(s, '/');
	char text[WEIR_ADDR_TEXT];
	uint32_t plen;

	if (!slash)
		slash = s + strlen(s);
	if ((size_t)(slash - s) >= sizeof(text))
		goto bad;
	memcpy(text, s, slash - s);
	text[slash - s] = '\0';
	if (weir_parse_addr(text, &prefix->addr))
		goto bad;
	prefix->plen = weir_addr_bits(&prefix->addr);
	if (!*slash)
		return 0;
	if (weir_parse_number(slash + 1, 0, prefix->plen, &plen))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: prefix length %s is not 0..%u",
				    weir_quote(s), weir_quote(slash + 1),
				    prefix->plen);
	prefix->plen = plen;
	if (mask_addr(&prefix->addr, plen))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s has bits set behind its length: type %s",
				    weir_quote(s),
				    weir_prefix_text(prefix, text));
	return 0;
bad:
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "%s is not an IPv4 or IPv6 address or prefix, like 10.1.0.0/16 or 2001:db8::/32",
			    weir_quote(s));
}

void weir_prefix_unmap(struct weir_prefix *prefix)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct weir_addr *addr = &prefix->addr;

	if (addr->len != 16 || prefix->plen < 8 * sizeof(mapped) ||
	    memcmp(addr->b, mapped, sizeof(mapped)))
		return;
	prefix->plen -= 8 * sizeof(mapped);
	addr->len = 4;
	memmove(addr->b, addr->b + sizeof(mapped), 4);
	memset(addr->b + 4, 0, sizeof(addr->b) - 4);
}

/* 10.0.0.1, 10.0.0.1:80, 2001:db8::1, [2001:db8::1], [2001:db8::1]:80 */
int weir_parse_endpoint(const char *s, struct weir_addr *addr, uint16_t *port,
			bool *has_port)
{
	char text[WEIR_ADDR_TEXT];
	const char *begin = s, *end, *colon = NULL;
	uint32_t n = 0;

	if (*s == '[') {
		begin = s + 1;
		end = strchr(begin, ']');
		if (!end || (end[1] && end[1] != ':'))
			return -1;
		if (end[1])
			colon = end + 1;
	} else {
		colon = strchr(s, ':');
		if (colon && strchr(colon + 1, ':'))
			colon = NULL;
		end = colon ? colon : s + strlen(s);
	}
	if ((size_t)(end - begin) >= sizeof(text))
		return -1;
	memcpy(text, begin, end - begin);
	text[end - begin] = '\0';
	if (weir_parse_addr(text, addr) || (*s == '[' && addr->len != 16))
		return -1;
	if (colon && weir_parse_number(colon + 1, 0, 65535, &n))
		return -1;
	*port = n;
	*has_port = colon != NULL;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int weir_parse_key(const char *s, uint8_t key[16])
{
	int i;

	if (strlen(s) != 32)
		return -1;
	for (i = 0; i < 16; i++) {
		int hi = hex_digit(s[2 * i]), lo = hex_digit(s[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return -1;
		key[i] = hi << 4 | lo;
	}
	return 0;
}

/* "help" is what people type to see the grammar, so nothing may be called so. */
bool weir_name_ok(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			  "0123456789._-");

	return n && n <= WEIR_NAME_MAX && !s[n] && strcmp(s, "help");
}

bool weir_is_prime(uint32_t n)
{
	uint32_t i;

	if (n < 2)
		return false;
	for (i = 2; (uint64_t)i * i <= n; i++)
		if (n % i == 0)
			return false;
	return true;
}

int weir_addr_cmp(const struct weir_addr *a, const struct weir_addr *b)
{
	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return memcmp(a->b, b->b, a->len);
}

bool weir_addr_in(const struct weir_addr *addr, const struct weir_prefix *in)
{
	struct weir_addr masked = *addr;

	if (addr->len != in->addr.len)
		return false;
	mask_addr(&masked, in->plen);
	return !memcmp(masked.b, in->addr.b, addr->len);
}

const char *weir_addr_text(const struct weir_addr *addr,
			   char buf[WEIR_ADDR_TEXT])
{
	int family = addr->len == 4 ? AF_INET : AF_INET6;

	if (!addr->len || !inet_ntop(family, addr->b, buf, WEIR_ADDR_TEXT))
		strcpy(buf, "-");
	return buf;
}

/* A prefix of full length is one address and prints as that. */
const char *weir_prefix_text(const struct weir_prefix *prefix,
			     char buf[WEIR_ADDR_TEXT])
{
	weir_addr_text(&prefix->addr, buf);
	if (prefix->plen != weir_addr_bits(&prefix->addr)) {
		size_t n = strlen(buf);

		/* 45 bytes of address at most, then /NNN */
		snprintf(buf + n, WEIR_ADDR_TEXT - n, "/%u", prefix->plen);
	}
	return buf;
}

const char *weir_endpoint_text(const struct weir_addr *addr, bool has_port,
			       uint16_t port, char buf[WEIR_ADDR_TEXT + 8])
{
	char text[WEIR_ADDR_TEXT];
	bool brackets = has_port && addr->len == 16;

	weir_addr_text(addr, text);
	if (has_port)
		snprintf(buf, WEIR_ADDR_TEXT + 8, "%s%s%s:%u",
			 brackets ? "[" : "", text, brackets ? "]" : "", port);
	else
		strcpy(buf, text);
	return buf;
}

/* 750000 -> 0.75, 0 -> 0.0 */
const char *weir_ratio_text(uint32_t millionths, char buf[WEIR_RATIO_TEXT])
{
	size_t n = snprintf(buf, WEIR_RATIO_TEXT, "%u.%06u",
			    millionths / WEIR_RATIO_ONE % 1000,
			    millionths % WEIR_RATIO_ONE);

	while (buf[n - 1] == '0' && buf[n - 2] != '.')
		buf[--n] = '\0';
	return buf;
}

const char *weir_key_text(const uint8_t key[16], char buf[WEIR_KEY_TEXT])
{
	int i;

	for (i = 0; i < 16; i++)
		sprintf(buf + 2 * i, "%02x", key[i]);
	return buf;
}
