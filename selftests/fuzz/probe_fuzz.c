// SPDX-License-Identifier: GPL-2.0
/*
 * What a backend sends to the health checker: the first byte says as what it is
 * read. Results have to stay within what their readers rely on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/weir.h>

#include "answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool truth)
{
	if (!truth)
		abort();
}

/* An input as a header: each line in memory of its own, so that one byte too far
 * is seen. */
static void read_head(const char *data, size_t size)
{
	struct weir_head head = { 0 };

	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t len = end ? (size_t)(end - data) + 1 : size;
		bool complete = head.complete;
		char *line = malloc(len);

		memcpy(line, data, len);
		weir_head_line(&head, line, len);
		free(line);
		expect(head.size <= WEIR_HEADER_MAX);
		expect(head.weight <= WEIR_WEIGHT_MAX);
		expect(!head.complete || head.too_long || head.status >= 200);
		expect(head.complete >= complete);
		data += len;
		size -= len;
	}
	expect(weir_head_weight_state(&head) != WEIR_WEIGHT_STATE_NONE);
	expect(weir_head_weight_state(&head) != WEIR_WEIGHT_STATE_UNAVAILABLE);
}

/* A weight, and what it is when it comes back as text. */
static void read_weight(const char *data, size_t size)
{
	uint16_t weight, again;
	char text[8];
	int len;

	if (weir_weight_parse(data, size, &weight))
		return;
	expect(weight <= WEIR_WEIGHT_MAX);
	len = snprintf(text, sizeof(text), "%u", weight);
	expect(!weir_weight_parse(text, len, &again) && again == weight);
}

/* The first byte is the length of the text that is looked for. */
static void search(const char *data, size_t size)
{
	size_t len, i;
	bool found = false;

	if (!size)
		return;
	len = (uint8_t)data[0] < size ? (uint8_t)data[0] : size - 1;
	data++;
	size--;
	for (i = len; i + len <= size && i + len <= len + WEIR_BODY_MAX; i++)
		found |= !memcmp(data, data + i, len);
	expect(weir_body_has(data + len, size - len, data, len) == found);
}

static void clean(const char *data, size_t size)
{
	size_t room = size ? (uint8_t)data[0] % 70 : 0, i;
	char *text = malloc(room ? room : 1);

	weir_text_clean(text, room, data, size);
	for (i = 0; i < room && text[i]; i++)
		expect(text[i] >= 0x20 && text[i] <= 0x7e);
	expect(!room || i < room);
	free(text);
}

/* Words of a health-check line, which end at the first zero. */
static void unescape(const char *data, size_t size)
{
	char *text = malloc(size + 1), *out;
	size_t len, request;

	memcpy(text, data, size);
	text[size] = '\0';
	len = strlen(text);
	out = malloc(len ? len : 1);
	expect(weir_unescape(out, text) <= len);
	free(out);
	request = weir_grpc_request_size(text);
	out = malloc(request);
	weir_grpc_request((uint8_t *)out, text);
	/* Not an answer: field 1 holds a text. */
	expect(weir_grpc_answer((uint8_t *)out, request) == (len ? -1 : 0));
	free(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *buf;
	int status;

	if (!size)
		return 0;
	/* A copy of exactly that size, so that one byte too far is seen. */
	size--;
	buf = malloc(size ? size : 1);
	memcpy(buf, data + 1, size);
	switch (data[0] % 6) {
	case 0:
		read_head(buf, size);
		break;
	case 1:
		read_weight(buf, size);
		break;
	case 2:
		status = weir_grpc_answer((uint8_t *)buf, size);
		expect(status >= -1 && status <= 127);
		break;
	case 3:
		search(buf, size);
		break;
	case 4:
		clean(buf, size);
		break;
	case 5:
		unescape(buf, size);
		break;
	}
	free(buf);
	return 0;
}
