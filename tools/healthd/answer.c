// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include <linux/weir.h>

#include "answer.h"

#define WEIGHT_HEADER	"x-load-balancing-endpoint-weight"
#define GRPC_STATUS	"grpc-status"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits only; a value that is too large stays at the limit. */
static size_t parse_digits(const char *s, size_t len, uint32_t limit,
			   uint32_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < len && is_digit(s[i]); i++) {
		*value = *value * 10 + (s[i] - '0');
		if (*value > limit)
			*value = limit;
	}
	return i;
}

int weir_weight_parse(const char *s, size_t len, uint16_t *weight)
{
	size_t i, digits;
	uint32_t value;
	bool more = false;

	digits = parse_digits(s, len, WEIR_WEIGHT_MAX + 1, &value);
	if (!digits || value > WEIR_WEIGHT_MAX)
		return -1;
	if (digits < len) {
		if (s[digits] != '.' || digits + 1 == len)
			return -1;
		for (i = digits + 1; i < len; i++) {
			if (!is_digit(s[i]))
				return -1;
			more |= s[i] != '0';
		}
		if (value == WEIR_WEIGHT_MAX && more)
			return -1;
		value += s[digits + 1] >= '5';
	}
	*weight = value;
	return 0;
}

static void trim(const char **s, size_t *len)
{
	while (*len && strchr(" \t\r\n", (*s)[*len - 1]) && (*s)[*len - 1])
		--*len;
	while (*len && (**s == ' ' || **s == '\t')) {
		++*s;
		--*len;
	}
}

/* The value of the line, if it is that header. */
static bool is_header(const char *line, size_t len, const char *name,
		      const char **value, size_t *value_len)
{
	size_t n = strlen(name);

	if (len <= n || line[n] != ':' || strncasecmp(line, name, n))
		return false;
	*value = line + n + 1;
	*value_len = len - n - 1;
	trim(value, value_len);
	return true;
}

static void add_weight(struct weir_head *head, const char *s, size_t len)
{
	uint16_t weight;

	if (weir_weight_parse(s, len, &weight) ||
	    (head->weight_state != WEIR_WEIGHT_STATE_NONE &&
	     (head->weight_state != WEIR_WEIGHT_STATE_VALID ||
	      head->weight != weight))) {
		head->weight_state = WEIR_WEIGHT_STATE_INVALID;
		return;
	}
	head->weight_state = WEIR_WEIGHT_STATE_VALID;
	head->weight = weight;
}

static void add_grpc_status(struct weir_head *head, const char *s, size_t len)
{
	uint32_t status;

	if (!len || parse_digits(s, len, 100000000, &status) != len)
		status = UINT32_MAX;
	/* Two that differ are none. */
	if (head->has_grpc_status && head->grpc_status != status)
		status = UINT32_MAX;
	head->has_grpc_status = true;
	head->grpc_status = status;
}

/* "HTTP/1.1 200 OK" or "HTTP/2 200" */
static void read_status_line(struct weir_head *head, const char *line,
			     size_t len)
{
	const char *blank = memchr(line, ' ', len);
	uint32_t status = 0;

	if (blank)
		parse_digits(blank + 1, len - (blank + 1 - line), 1000, &status);
	head->status = status;
	head->version = len > 5 && is_digit(line[5]) ? line[5] - '0' : 0;
	head->weight_state = WEIR_WEIGHT_STATE_NONE;
	head->has_grpc_status = false;
}

/* After an interim answer another one begins. */
static void end_header(struct weir_head *head)
{
	head->complete = head->status >= 200;
	if (!head->complete)
		head->status = 0;
}

void weir_head_line(struct weir_head *head, const char *line, size_t len)
{
	const char *value;
	size_t value_len;

	if (head->too_long || len > WEIR_HEADER_MAX - head->size) {
		head->too_long = true;
		return;
	}
	head->size += len;
	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (is_header(line, len, GRPC_STATUS, &value, &value_len))
		add_grpc_status(head, value, value_len);
	else if (head->complete)
		return;
	else if (!head->status && len >= 5 && !memcmp(line, "HTTP/", 5))
		read_status_line(head, line, len);
	else if (!len)
		end_header(head);
	else if (is_header(line, len, WEIGHT_HEADER, &value, &value_len))
		add_weight(head, value, value_len);
}

uint8_t weir_head_weight_state(const struct weir_head *head)
{
	return head->weight_state == WEIR_WEIGHT_STATE_NONE ?
		WEIR_WEIGHT_STATE_MISSING : head->weight_state;
}

bool weir_body_has(const void *body, size_t len, const void *text,
		   size_t text_len)
{
	if (len > WEIR_BODY_MAX)
		len = WEIR_BODY_MAX;
	return !text_len || (len && memmem(body, len, text, text_len));
}

/* Bytes of a number in base 128. */
static size_t varint_size(uint64_t value)
{
	size_t n = 1;

	while (value >>= 7)
		n++;
	return n;
}

static size_t put_varint(uint8_t *buf, uint64_t value)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		buf[n++] = value | 0x80;
	buf[n++] = value;
	return n;
}

/* Bytes read, or 0 if it has no end. */
static size_t get_varint(const uint8_t *buf, size_t len, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < len && i < 10; i++) {
		*value |= (uint64_t)(buf[i] & 0x7f) << 7 * i;
		if (!(buf[i] & 0x80))
			return i + 1;
	}
	return 0;
}

size_t weir_grpc_request_size(const char *service)
{
	size_t len = service ? strlen(service) : 0;

	/* An empty string is the default and is not sent. */
	return WEIR_GRPC_FRAME + (len ? 1 + varint_size(len) + len : 0);
}

void weir_grpc_request(uint8_t *buf, const char *service)
{
	uint32_t size = weir_grpc_request_size(service) - WEIR_GRPC_FRAME;
	size_t n = WEIR_GRPC_FRAME;

	buf[0] = 0;			/* not compressed */
	buf[1] = size >> 24;
	buf[2] = size >> 16;
	buf[3] = size >> 8;
	buf[4] = size;
	if (!size)
		return;
	buf[n++] = 1 << 3 | 2;		/* field 1, bytes */
	n += put_varint(buf + n, strlen(service));
	memcpy(buf + n, service, strlen(service));
}

/* Bytes that a field of that wire type takes behind its tag, or -1. */
static long field_size(const uint8_t *p, size_t left, unsigned int type,
		       uint64_t *value)
{
	size_t n;

	switch (type) {
	case 0:
		n = get_varint(p, left, value);
		return n ? (long)n : -1;
	case 1:
		return left < 8 ? -1 : 8;
	case 2:
		n = get_varint(p, left, value);
		return !n || *value > left - n ? -1 : (long)(n + *value);
	case 5:
		return left < 4 ? -1 : 4;
	}
	return -1;
}

/* The last field 1 that is a number; without one it is 0, "UNKNOWN". */
static int read_status(const uint8_t *p, size_t left)
{
	uint64_t tag, value = 0;
	int status = 0;

	while (left) {
		size_t n = get_varint(p, left, &tag);
		long size;

		if (!n || !(tag >> 3))
			return -1;
		p += n;
		left -= n;
		size = field_size(p, left, tag & 7, &value);
		if (size < 0)
			return -1;
		if (tag == 1 << 3)
			status = value > 127 ? 127 : value;
		else if (tag >> 3 == 1)
			return -1;
		p += size;
		left -= size;
	}
	return status;
}

int weir_grpc_answer(const uint8_t *body, size_t len)
{
	uint32_t size;

	if (len < WEIR_GRPC_FRAME || body[0])
		return -1;
	size = (uint32_t)body[1] << 24 | body[2] << 16 | body[3] << 8 | body[4];
	if (size != len - WEIR_GRPC_FRAME)
		return -1;
	return read_status(body + WEIR_GRPC_FRAME, size);
}

size_t weir_unescape(char *dst, const char *src)
{
	static const char from[] = "rnt\\", to[] = "\r\n\t\\";
	const char *found;
	size_t n = 0;

	for (; *src; src++) {
		found = *src == '\\' && src[1] ? strchr(from, src[1]) : NULL;
		if (found)
			src++;
		dst[n++] = found ? to[found - from] : *src;
	}
	return n;
}

void weir_text_clean(char *dst, size_t size, const char *src, size_t len)
{
	size_t i;

	if (!size)
		return;
	for (i = 0; i < len && i + 1 < size; i++)
		dst[i] = src[i] < 0x20 || src[i] > 0x7e ? '?' : src[i];
	dst[i] = '\0';
}
