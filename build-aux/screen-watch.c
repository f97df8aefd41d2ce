// What is drawn in a part of the display, and when, and what it costs the programs that draw it: for build-aux/bench-peers
// and bench-history, which load it as a library. Input is what XTEST makes of it, so programs take it for a person's.
// Damage tells that something was drawn; whether pixels changed is looked up in the picture itself.
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/extensions/XShm.h>
#include <X11/extensions/XTest.h>
#include <X11/extensions/Xdamage.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

// Times are seconds of CLOCK_MONOTONIC, zero where nothing changed.
struct seen {
    double first, last;    // change
    double last_large;     // of more than one pixel in two hundred
    double cpu, cpu_large; // seconds that the session has taken until the last change, and until the last large one
    int changes;
    double likeness;       // part of the pixels that are as in the kept picture
};

// What was seen while the wheel turned; times as above, lengths in seconds.
struct scrolled {
    int clicks, changes;
    int gaps;       // longer than asked for
    double longest; // between two changes, from the first click on
    int long_works; // of them above what was asked for
    double work;    // the most CPU time that the watched thread took between two changes
};

static Display *display;
static Damage damage;
static XShmSegmentInfo segment;
static XImage *image;
static uint32_t *before, *kept;
static int left, top, pixels;
static pid_t session;
static int thread_times = -1;

static double seconds(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) ? 0 : (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// What all processes of the session have taken, to the nanosecond, and to 10 ms what those took that have ended.
double session_cpu(void) {
    double sum = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = atoi(entry->d_name);
        clockid_t clock;
        if (pid <= 0 || getsid(pid) != session || clock_getcpuclockid(pid, &clock)) continue;
        sum += seconds(clock);
        char path[64], line[1024] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        long user, kernel;
        char *end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        if (end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &user, &kernel) == 2)
            sum += (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
        fclose(file);
    }
    if (folder) closedir(folder);
    return sum;
}

int watch_begin(void) {
    int unused;
    display = XOpenDisplay(NULL);
    if (!display || !XShmQueryExtension(display) || !XDamageQueryExtension(display, &unused, &unused) ||
        !XTestQueryExtension(display, &unused, &unused, &unused, &unused))
        return 0;
    damage = XDamageCreate(display, DefaultRootWindow(display), XDamageReportNonEmpty);
    return 1;
}

// The number of pixels that are others than before.
static int look(void) {
    // What is drawn from here on is told anew.
    XDamageSubtract(display, damage, None, None);
    XShmGetImage(display, DefaultRootWindow(display), image, left, top, AllPlanes);
    uint32_t *now = (uint32_t *)image->data;
    int changed = 0;
    for (int i = 0; i < pixels; i++) changed += (now[i] ^ before[i]) << 8 != 0;
    memcpy(before, now, (size_t)pixels * 4);
    return changed;
}

static void forget_events(void) {
    XSync(display, True);
    look();
}

void watch_session(pid_t leader) { session = leader; }

// The first thread of a process, which draws its windows.
int watch_thread(pid_t process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/schedstat", process);
    if (thread_times >= 0) close(thread_times);
    thread_times = open(path, O_RDONLY | O_CLOEXEC);
    return thread_times >= 0;
}

// Exact for a thread that waits, 4 ms late at most for one that runs.
static double thread_cpu(void) {
    char line[128];
    ssize_t count = pread(thread_times, line, sizeof line - 1, 0);
    return count > 0 ? (line[count] = 0, strtod(line, NULL) / 1e9) : 0;
}

void watch_region(int x, int y, int width, int height) {
    if (image) {
        XShmDetach(display, &segment);
        XDestroyImage(image);
        shmdt(segment.shmaddr);
    }
    left = x, top = y, pixels = width * height;
    image = XShmCreateImage(display, DefaultVisual(display, 0), 24, ZPixmap, NULL, &segment, (unsigned)width, (unsigned)height);
    segment.shmid = shmget(IPC_PRIVATE, (size_t)pixels * 4, IPC_CREAT | 0600);
    segment.shmaddr = image->data = shmat(segment.shmid, NULL, 0);
    XShmAttach(display, &segment);
    XSync(display, False);
    shmctl(segment.shmid, IPC_RMID, NULL);
    before = realloc(before, (size_t)pixels * 4);
    kept = realloc(kept, (size_t)pixels * 4);
    forget_events();
}

// What is there now is what later pictures are compared with: copied here, and from here for `watch_compare`.
void watch_keep(uint32_t *picture) {
    forget_events();
    memcpy(picture, before, (size_t)pixels * 4);
}

void watch_compare(const uint32_t *picture) { memcpy(kept, picture, (size_t)pixels * 4); }

static double likeness(void) {
    int same = 0;
    for (int i = 0; i < pixels; i++) same += (before[i] ^ kept[i]) << 8 == 0;
    return (double)same / pixels;
}

void pointer_to(int x, int y) {
    XTestFakeMotionEvent(display, 0, x, y, CurrentTime);
    XSync(display, False);
}

// Both return when the press was handed to the server.
double press_button(unsigned button) {
    forget_events();
    double time = seconds(CLOCK_MONOTONIC);
    XTestFakeButtonEvent(display, button, True, CurrentTime);
    XTestFakeButtonEvent(display, button, False, CurrentTime);
    XFlush(display);
    return time;
}

double press_key(const char *name) {
    KeyCode code = XKeysymToKeycode(display, XStringToKeysym(name));
    forget_events();
    double time = seconds(CLOCK_MONOTONIC);
    XTestFakeKeyEvent(display, code, True, CurrentTime);
    XTestFakeKeyEvent(display, code, False, CurrentTime);
    XFlush(display);
    return time;
}

// Watches until something has changed, nothing has for `quiet` seconds, and the picture is like the compared one by
// `alike` [0 to 1]; or for `limit` seconds. With a `quiet` of zero it ends at the first change.
struct seen watch(double quiet, double limit, double alike) {
    struct seen seen = {0};
    double begin = seconds(CLOCK_MONOTONIC), now = begin;
    int is_alike = alike <= 0;
    while (now < begin + limit) {
        double until = begin + limit;
        if (seen.changes && is_alike && seen.last + quiet < until) until = seen.last + quiet;
        if (!XPending(display)) {
            if (now >= until) break;
            struct pollfd socket = {ConnectionNumber(display), POLLIN, 0};
            poll(&socket, 1, (int)((until - now) * 1000) + 1);
        }
        int drawn = 0;
        for (XEvent event; XPending(display); drawn = 1) XNextEvent(display, &event);
        now = seconds(CLOCK_MONOTONIC);
        int changed = drawn ? look() : 0;
        if (!changed) continue;
        if (!seen.changes++) seen.first = now;
        seen.last = now;
        seen.cpu = session_cpu();
        if (changed > pixels / 200) seen.last_large = now, seen.cpu_large = seen.cpu;
        is_alike = alike <= 0 || likeness() >= alike;
    }
    seen.likeness = alike > 0 ? likeness() : 0;
    return seen;
}

// Turns the wheel up for so many seconds, so many clicks a second, and watches what changes, and how long the watched
// thread works for it.
struct scrolled scroll_up(double length, double rate, double gap, double long_work) {
    struct scrolled seen = {0};
    forget_events();
    double begin = seconds(CLOCK_MONOTONIC), now = begin, last = begin, worked = thread_cpu();
    while (now < begin + length) {
        if (now >= begin + seen.clicks / rate) {
            XTestFakeButtonEvent(display, 4, True, CurrentTime);
            XTestFakeButtonEvent(display, 4, False, CurrentTime);
            XFlush(display);
            seen.clicks++;
        }
        double next = begin + seen.clicks / rate;
        if (!XPending(display) && next > now) {
            struct pollfd socket = {ConnectionNumber(display), POLLIN, 0};
            poll(&socket, 1, (int)((next - now) * 1000) + 1);
        }
        int drawn = 0;
        for (XEvent event; XPending(display); drawn = 1) XNextEvent(display, &event);
        int changed = drawn ? look() : 0;
        now = seconds(CLOCK_MONOTONIC);
        if (now - last > seen.longest) seen.longest = now - last;
        if (!changed) continue;
        seen.changes++;
        seen.gaps += now - last > gap;
        last = now;
        double work = thread_cpu(), taken = work - worked;
        if (taken > seen.work) seen.work = taken;
        seen.long_works += taken > long_work;
        worked = work;
    }
    return seen;
}
