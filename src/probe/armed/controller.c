// SPDX-License-Identifier: MIT
#include "probe/armed/controller.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/control_message.h"

#define READ_SIZE 4096u

/* A controller that does not read its answers is given up. */
#define OUT_MAX ((size_t)4 * CUNEI_CONTROL_LINE_MAX)

void cunei_controller_open(struct cunei_controller *controller, int fd)
{
    *controller = (struct cunei_controller){.fd = fd};
}

void cunei_controller_close(struct cunei_controller *controller)
{
    close(controller->fd);
    cunei_buffer_fini(&controller->in);
    cunei_buffer_fini(&controller->out);
    *controller = (struct cunei_controller){.fd = -1};
}

bool cunei_controller_read(struct cunei_controller *controller)
{
    char bytes[READ_SIZE];

    /* The rest waits in the socket: one that floods gets no more than its turn. */
    if (controller->in.size > CUNEI_CONTROL_LINE_MAX)
        return true;
    ssize_t n = recv(controller->fd, bytes, sizeof(bytes), 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    cunei_buffer_append(&controller->in, bytes, (size_t)n);
    return !controller->in.failed;
}

size_t cunei_controller_line(const struct cunei_controller *controller)
{
    const struct cunei_buffer *in = &controller->in;
    const char *end = in->size ? memchr(in->data, '\n', in->size) : NULL;

    if (end)
        return (size_t)(end - in->data);
    return in->size > CUNEI_CONTROL_LINE_MAX ? in->size : SIZE_MAX;
}

void cunei_controller_drop_line(struct cunei_controller *controller, size_t size)
{
    struct cunei_buffer *in = &controller->in;
    size_t gone = size < in->size ? size + 1 : size;

    memmove(in->data, in->data + gone, in->size - gone);
    cunei_buffer_cut(in, in->size - gone);
}

bool cunei_controller_write(struct cunei_controller *controller)
{
    struct cunei_buffer *out = &controller->out;

    if (out->failed || out->size > OUT_MAX)
        return false;
    if (out->size == 0)
        return true;
    ssize_t n = send(controller->fd, out->data, out->size, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    memmove(out->data, out->data + n, out->size - (size_t)n);
    cunei_buffer_cut(out, out->size - (size_t)n);
    return true;
}

bool cunei_controller_has_left(const struct cunei_controller *controller)
{
    struct pollfd end = {.fd = controller->fd, .events = POLLRDHUP};

    return poll(&end, 1, 0) > 0 && end.revents & (POLLRDHUP | POLLHUP | POLLERR);
}
