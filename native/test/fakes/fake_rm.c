/* Stands in for libcuda: calls ioctl by its own table of addresses. */
#include <sys/ioctl.h>

__attribute__((visibility("default"))) int fake_rm_call(int fd, unsigned long request, void *parameters) {
    return ioctl(fd, request, parameters);
}
