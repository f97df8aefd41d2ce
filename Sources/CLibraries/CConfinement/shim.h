// What a process calls to give up what it does not need: system calls that Swift cannot import.
#pragma once

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static inline int shim_limit(int resource, rlim_t most) {
    struct rlimit limit = {most, most};
    return setrlimit(resource, &limit);
}

// Closes what was inherited by mistake: everything but standard input, output and errors.
static inline void shim_close_others(void) { syscall(SYS_close_range, 3u, ~0u, 0u); }

// From here on the process can compute, read what is open and write to it: every other call fails with EPERM. It can
// signal nobody, itself included: abort() then ends it by an instruction that is none.
// Returns 0, or -1 where the kernel has no seccomp.
static inline int shim_confine(void) {
#if defined(__x86_64__)
    const unsigned int architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const unsigned int architecture = AUDIT_ARCH_AARCH64;
#else
    return -1;
#endif
#define SHIM_ALLOW(name) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        SHIM_ALLOW(read), SHIM_ALLOW(write), SHIM_ALLOW(close), SHIM_ALLOW(fstat), SHIM_ALLOW(lseek),
        SHIM_ALLOW(mmap), SHIM_ALLOW(munmap), SHIM_ALLOW(mremap), SHIM_ALLOW(mprotect), SHIM_ALLOW(madvise),
        SHIM_ALLOW(brk), SHIM_ALLOW(futex), SHIM_ALLOW(getrandom), SHIM_ALLOW(sched_yield),
        SHIM_ALLOW(clock_gettime), SHIM_ALLOW(gettimeofday), SHIM_ALLOW(setitimer),
        SHIM_ALLOW(rt_sigaction), SHIM_ALLOW(rt_sigprocmask), SHIM_ALLOW(rt_sigreturn),
        SHIM_ALLOW(getpid), SHIM_ALLOW(gettid), SHIM_ALLOW(exit), SHIM_ALLOW(exit_group),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
#undef SHIM_ALLOW
    struct sock_fprog program = {sizeof steps / sizeof steps[0], steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

// The process dies when it has computed for longer than this, counted from this call.
static inline void shim_allow_seconds(long seconds) {
    struct itimerval timer = {{0, 0}, {seconds, 0}};
    setitimer(ITIMER_PROF, &timer, NULL);
}
