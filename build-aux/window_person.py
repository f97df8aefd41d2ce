"""A person with a Parlance of their own on the one display: a home, a session bus, real keys, and what is on screen. For
check-conversation, check-encryption and check-trust.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from window_probe import BUS_LAUNCHER, State, keycode
from window_reader import Reader

# What a picture's name begins with.
SCRIPT = os.path.basename(sys.argv[0]).removeprefix("check-")
# How GLib begins what it prints for debugging.
DEBUGGING = re.compile(r"(?:-|\*\* |: )(?:DEBUG|INFO):")

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""


class Person:
    """A Parlance of one's own: a home, a session bus, so that it is no second start of the other, and a window."""

    # For the program alone: what else is started here answers on its output.
    debugging = {}

    def __init__(self, program, name, place, keyring):
        self.program, self.user, self.place = program, name, place
        self.home = tempfile.mkdtemp(prefix=f"parlance-{name}-")
        # What was written, pasted and used as a password.
        self.private = set()
        self.output = open(f"{self.home}/output", "ab")
        with open(f"{self.home}/bus.conf", "w") as file:
            file.write(BUS)
        self.others = []
        self.reader = None
        session = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.home}/bus.conf", "--nofork", "--nopidfile", "--print-address=1"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.environment = {
            **os.environ, "GTK_A11Y": "atspi", "GSETTINGS_BACKEND": "keyfile", "DBUS_SESSION_BUS_ADDRESS": session.stdout.readline().strip()}
        for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            self.environment[variable] = f"{self.home}/{variable}"
            os.mkdir(self.environment[variable], 0o700)
        # The looks are everybody's, the settings one's own.
        shutil.copytree(os.environ["XDG_CONFIG_HOME"], f"{self.home}/config")
        self.environment["XDG_CONFIG_HOME"] = f"{self.home}/config"
        self.others = [session, self.beside(BUS_LAUNCHER, "--launch-immediately")]
        # The display's property names the bus that was started last, which may be another person's.
        self.environment["AT_SPI_BUS_ADDRESS"] = wait("the accessibility bus", self.accessibility)
        if keyring:
            daemon = self.beside("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
            daemon.stdin.write(b"password")
            daemon.stdin.close()
            self.others.append(daemon)
        self.start()
        self.choose_this_computer()

    def choose_this_computer(self):
        """Makes the first choice of a first start."""
        self.sees("focus on On This Computer")
        self.press("Return")

    def lose_data(self):
        """Everything that the program has stored is gone; what the keyring has stays."""
        for variable in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            for folder in pathlib.Path(self.environment[variable]).glob("parlance*"):
                shutil.rmtree(folder)

    def beside(self, *command):
        return subprocess.Popen(command, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def accessibility(self):
        said = subprocess.run(
            ["gdbus", "call", "--session", "--dest", "org.a11y.Bus", "--object-path", "/org/a11y/bus", "--method",
             "org.a11y.Bus.GetAddress"], env=self.environment, capture_output=True, text=True).stdout
        return said.split("'")[1] if "'" in said else None

    def start(self):
        self.process = subprocess.Popen(
            [self.program], env={**self.environment, **self.debugging}, stdout=self.output, stderr=self.output)
        if self.reader:
            self.reader.close()
        self.reader = Reader(self.environment["AT_SPI_BUS_ADDRESS"], self.process.pid)
        self.frame = wait(f"{self.user}'s window", lambda: next(iter(self.windows()), None))
        x, y, width, height = self.place
        self.activate()
        subprocess.run(["xdotool", "windowsize", "--sync", self.frame, str(width), str(height)], check=True)
        subprocess.run(["xdotool", "windowmove", "--sync", self.frame, str(x), str(y)], check=True)
        # It has drawn itself, and takes the focus of nobody any more.
        wait(f"what is in {self.user}'s window", self.names)

    def quit(self):
        self.press("ctrl+q")
        wait(f"the end of {self.user}'s program", lambda: self.process.poll() is not None)

    def restart(self):
        self.quit()
        self.start()

    def windows(self):
        if self.process.poll() is not None:
            fail(f"{self.user}'s program ended by itself with {self.process.returncode}")
        return subprocess.run(
            ["xdotool", "search", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", "."],
            capture_output=True, text=True).stdout.split()

    def activate(self):
        """The keyboard goes to this program."""
        def is_active():
            # Anew each time: a dialog may be on its way. A menu leaves the focus with its window.
            focus = subprocess.run(["xdotool", "getwindowfocus", "getwindowpid"], capture_output=True, text=True).stdout
            if focus.strip() == str(self.process.pid):
                return True
            # None of them may be shown for a moment, as one gives way to another.
            if found := self.windows():
                subprocess.run(["xdotool", "windowactivate", found[-1]], check=False, stderr=subprocess.DEVNULL)
            return False
        wait(f"the focus in {self.user}'s window", is_active)

    def press(self, *keys):
        """Real key events, as X delivers them."""
        self.activate()
        subprocess.run(["xdotool", "key", "--delay", "40", *map(keycode, keys)], check=True)

    def type(self, text):
        self.activate()
        subprocess.run(["xdotool", "type", "--delay", "15", "--", text], check=True)

    def names(self):
        """The names and texts on screen; that of what has the focus also as "focus on" it."""
        found = []
        for each in self.reader.objects():
            found.append(each.name)
            if each.has(State.FOCUSED):
                found.append("focus on " + each.name)
            if each.is_text:
                found.append(each.text)
        return found

    def shown(self, text):
        """The name of something on screen that has that in it, if there is one."""
        return next((name for name in self.names() if text in name), None)

    def sees(self, text, seconds=60):
        """Waits until something on screen is called so, or has that in its name."""
        return wait(f"'{text}' in {self.user}'s window", lambda: self.shown(text), seconds, self.names)

    def sees_toast(self, text, key):
        """Presses a key until a toast says so."""
        self.sees_briefly(text, lambda: self.press(key))

    def sees_briefly(self, text, cause):
        """Causes it again until it is seen. It is there for some seconds only, in which a busy machine may not show it."""
        def is_there():
            cause()
            end = time.monotonic() + 8
            while (begun := time.monotonic()) < end:
                if self.shown(text):
                    return True
                rest(begun)
            return False
        wait(f"'{text}' for a moment in {self.user}'s window", is_there, seen=self.names, resting=False)

    def sees_change(self, read, before):
        """Waits a moment until what `read` answers is another thing: what assistive technology is told comes later than
        the key.
        """
        end = time.monotonic() + 6
        while (begun := time.monotonic()) < end and read() in (None, before):
            rest(begun, 0.02)

    def misses(self, text):
        def is_gone():
            # A window that cannot be read has no names, but proves nothing.
            names = self.names()
            return names and not any(text in name for name in names)
        wait(f"no '{text}' in {self.user}'s window", is_gone)

    def width(self, name):
        """How wide the first thing is whose name begins so, in pixels."""
        found = next((each for each in self.reader.objects() if each.name.startswith(name)), None)
        return self.reader.places([found])[found.path][2] if found else 0

    def in_composer(self):
        self.activate()
        self.sees("focus on Message")

    def write(self, text):
        """Types into the composer and sends."""
        self.compose(text)
        self.press("Return")

    def compose(self, text):
        """Types into the composer."""
        self.private.add(text)
        self.in_composer()
        self.type(text)
        self.sees(text)

    def paste(self, name, content):
        """Pastes a file as file managers put it on the clipboard."""
        self.private.update((name, content))
        file = pathlib.Path(self.home, name)
        file.write_text(content)
        subprocess.run(["xclip", "-selection", "clipboard", "-t", "text/uri-list"], input=file.as_uri() + "\r\n", text=True,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.press("ctrl+v")

    def focused(self):
        """What has the focus of its window, for each of them."""
        return self.reader.objects(State.FOCUSED)

    def focuses(self):
        """The same, by name."""
        return [each.name for each in self.focused()]

    def focus(self):
        """Role and name of what has the keyboard focus, of the dialog that was opened last: each window has a focus."""
        found = None
        for each in self.focused():
            if each.role != "frame":
                found = {"role": each.role, "name": each.name}
        return found

    def picture(self, folder, what):
        self.activate()
        # Two frames, so that nothing is pictured while it moves.
        time.sleep(0.5)
        subprocess.run(["import", "-window", "root", "-crop", "{2}x{3}+{0}+{1}".format(*self.place), "+repage",
                        f"{folder}/{SCRIPT}-{what}.png"], check=True)

    def narrow_picture(self, folder, what):
        """One of the dialog that is open, in a window that is 360 pixels wide."""
        self.activate()
        def read(*command):
            return subprocess.run(["xdotool", *command], capture_output=True, text=True, check=True).stdout.strip()
        dialog = read("getwindowfocus")
        before = dict(line.split("=") for line in read("getwindowgeometry", "--shell", dialog).split())
        subprocess.run(["xdotool", "windowsize", "--sync", dialog, "360", "640"], check=True)
        time.sleep(0.5)
        subprocess.run(["import", "-window", dialog, f"{folder}/{SCRIPT}-{what}-360.png"], check=True)
        subprocess.run(["xdotool", "windowsize", "--sync", dialog, before["WIDTH"], before["HEIGHT"]], check=True)

    def end(self):
        if self.output.closed:
            return
        if self.reader:
            self.reader.close()
            self.reader = None
        for process in (self.process, *reversed(self.others)):
            if process.poll() is None:
                process.terminate()
                process.wait()
        for line in self.printed().splitlines():
            if not DEBUGGING.search(line):
                print(f"{self.user}: {line}", file=sys.stderr)
        self.output.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def printed(self):
        """What the program and its libraries have printed since the first start."""
        return pathlib.Path(self.home, "output").read_text(errors="replace")


def check_printed(people, also=()):
    """Nobody's program has printed what was private to any of them, whatever the spaces between its parts. Ends them all:
    what a program prints into a file may be there only then.
    """
    def joined(text):
        return "".join(text.split())
    for person in people:
        person.quit()
    private = {joined(text) for person in people for text in person.private} | {joined(text) for text in also}
    for person in people:
        printed = joined(person.printed())
        if person.debugging and not printed:
            fail(f"{person.user}'s program has printed nothing, not even what it was to be asked for")
        for text in sorted(private):
            if text in printed:
                fail(f"{person.user}'s program has printed '{text}'")


def rest(begun, least=0.05):
    """Sleeps for twice as long as the look took that began at `begun`, but for no more than half a second: each look costs
    the program, its bus and the display time, so that waiting would slow down what it waits for.
    """
    time.sleep(min(max(least, 2 * (time.monotonic() - begun)), 0.5))


def fail(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(1)


def wait(what, condition, seconds=60, seen=None, resting=True):
    """Waits until the condition answers, which is asked again at once if it rests itself. `seen` says what is there instead,
    for the log: a picture is not always kept.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.monotonic()
        answer = condition()
        if answer:
            return answer
        if resting:
            rest(begun)
    fail(f"not within {seconds} s: {what}" + (f"; there is {' | '.join(seen())}" if seen else ""))
