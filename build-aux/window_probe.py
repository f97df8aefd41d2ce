"""A running Parlance seen from outside: its accessible tree, real keys, the focus. For the scripts beside this file."""
import os
import re
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

State = Atspi.StateType
# Arch has it in the second place.
BUS_LAUNCHER = next(filter(os.path.exists, ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi-bus-launcher")), "at-spi-bus-launcher")


# Newer AT-SPI calls a push button a button, and newer GTK lets the button within a menu button speak for it.
ROLES = {"button": "push button", "toggle button": "push button"}


def role_of(node):
    name = node.get_role_name()
    return ROLES.get(name, name)


def name_of(node):
    """What a screen reader calls an object: its name, or the text of the label that stands for it, as newer GTK has it
    for labels and menu items.
    """
    name = node.get_name()
    if name:
        return name
    if node.get_role_name() == "label":
        return text_of(node)
    for relation in node.get_relation_set():
        if relation.get_relation_type() == Atspi.RelationType.LABELLED_BY:
            labels = (relation.get_target(index) for index in range(relation.get_n_targets()))
            return " ".join(label.get_name() or text_of(label) for label in labels)
    return ""


def fail(message):
    print(f"{os.path.basename(sys.argv[0])}: {message}", file=sys.stderr)
    sys.exit(1)


def wait(what, condition, seconds=90):
    """What `condition` answers as soon as that is true; ends the script with `what` was missing otherwise."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        GLib.MainContext.default().iteration(False)
        try:
            answer = condition()
        except GLib.Error:
            answer = None  # What was looked at went away meanwhile.
        if answer:
            return answer
        time.sleep(0.02)
    fail(f"not within {seconds} s: {what}")


class Window:
    """Starts a program in the session of build-aux/with-display and waits for its window.

    The session has no service folders, so the accessibility bus is started here, and ends with this object.
    """

    def __init__(self, program, environment=None, arguments=()):
        self.bus = subprocess.Popen(
            [BUS_LAUNCHER, "--launch-immediately"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        session = Gio.bus_get_sync(Gio.BusType.SESSION)
        wait("the accessibility bus", lambda: session.call_sync(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
            GLib.Variant("(s)", ("org.a11y.Bus",)), None, Gio.DBusCallFlags.NONE, -1, None).unpack()[0])
        self.process = subprocess.Popen(
            [program, *arguments], env={**os.environ, "GTK_A11Y": "atspi", **(environment or {})}, stderr=subprocess.DEVNULL)
        # What was announced last; GTK before 4.14 changes the name of a status region in the place of that.
        self.announced = ""
        self.listener = Atspi.EventListener.new(self._announce)
        self.listener.register("object:announcement")
        self.name = os.path.basename(program)
        self.application = wait("the window in the accessible tree", self._find)
        wait("the window", lambda: any(role_of(node) == "frame" for node in self.nodes()))
        # Later a tooltip, or a dialog that is closing, is listed too and may come first.
        self.main = wait("the window on the display", self._search)[0]

    def _announce(self, event):
        self.announced = str(event.any_data)

    def _find(self):
        if self.process.poll() is not None:
            fail("the program ended by itself")
        try:
            desktop = Atspi.get_desktop(0)
            for index in range(desktop.get_child_count()):
                child = desktop.get_child_at_index(index)
                if child and self.name in (child.get_name() or "") and child.get_child_count() > 0:
                    return child
        except GLib.Error:
            pass  # The bus or the program is not ready.
        return None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.process, self.bus):
            process.terminate()
            process.wait()

    def nodes(self):
        """Every accessible object, depth first. What goes away meanwhile is left out."""
        pending = [self.application]
        while pending:
            node = pending.pop()
            yield node
            try:
                count = node.get_child_count()
                pending += [child for child in (node.get_child_at_index(i) for i in reversed(range(count))) if child]
            except GLib.Error:
                pass

    def find(self, role, name=None):
        for node in self.nodes():
            try:
                if role_of(node) == role and (name is None or name_of(node) == name):
                    return node
            except GLib.Error:
                pass
        return None

    def focused(self):
        """The object with the keyboard focus; nil while it moves."""
        for node in self.nodes():
            try:
                if node.get_state_set().contains(State.FOCUSED) and role_of(node) != "frame":
                    return node
            except GLib.Error:
                pass
        return None

    def press(self, *keys):
        """Real key events, as X delivers them."""
        subprocess.run(["xdotool", "key", "--delay", "30", *map(keycode, keys)], check=True)


    def choose_this_computer(self):
        """Makes the first choice of a first start."""
        wait("the focus on the first choice", lambda: (node := self.focused()) and name_of(node) == "On This Computer")
        self.press("Return")

    def click(self, node, button):
        """A click of the pointer in the middle of what is shown of an object."""
        extents = Atspi.Component.get_extents(node.get_component_iface(), Atspi.CoordType.WINDOW)
        # Newer GTK counts from within the shadow.
        frame = Atspi.Component.get_extents(self.find("frame").get_component_iface(), Atspi.CoordType.WINDOW)
        self.click_at(extents.x - frame.x + extents.width // 2, extents.y - frame.y + extents.height // 2, button)

    def click_at(self, x, y, button):
        """A click at a place in the window, in pixels."""
        subprocess.run(["xdotool", "mousemove", "--window", self.main, str(x), str(y), "sleep", "0.05",
                        "click", str(button)], check=True)

    def surfaces(self):
        """How many windows and popovers the display server shows of the program."""
        if self.process.poll() is not None:
            fail(f"the program ended with {self.process.returncode}")
        return len(self._search())

    def _search(self):
        found = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(self.process.pid)],
                               capture_output=True, text=True)
        return found.stdout.split()


def keycode(key):
    """F1 to F10 by their numbers: newer keymaps have them on a level with Alt too, and xdotool presses Alt for them."""
    return re.sub(r"\bF(10|[1-9])$", lambda found: str(66 + int(found[1])), key)


def shown_size(node):
    """Width and height in pixels; nothing of what is not laid out."""
    component = node.get_component_iface()
    if not component:
        return 0, 0
    extents = Atspi.Component.get_extents(component, Atspi.CoordType.WINDOW)
    return max(0, extents.width), max(0, extents.height)


def text_of(node):
    """The text of a text field, as assistive technology reads it."""
    text = node.get_text_iface()
    return Atspi.Text.get_text(text, 0, Atspi.Text.get_character_count(text))
