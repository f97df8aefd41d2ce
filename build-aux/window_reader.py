"""What is on screen in a program's windows, read from its accessibility bus. For window_person.

GTK answers with all of its objects at once (org.a11y.atspi.Cache) in a fraction of the time that libatspi takes to ask
each of them, and libatspi is not always told that what it remembers has changed.
"""
import functools

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

from window_probe import ROLES  # noqa: E402

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE = "org.a11y.atspi.Accessible"
TEXT = "org.a11y.atspi.Text"
# Their labels are objects of their own, and name nothing but themselves.
UNNAMED = {Atspi.Role.PANEL, Atspi.Role.FILLER, Atspi.Role.SCROLL_PANE, Atspi.Role.SCROLL_BAR, Atspi.Role.SEPARATOR}
# The longest text: not every kind of text field knows -1.
WHOLE = GLib.Variant("(ii)", (0, 0x7FFFFFFF))


class Object:
    """An accessible object as it was when it was read, from an item of ((so)(so)(so)iiassusau): itself, the program, its
    parent, its place there, how many children it has, interfaces, name, role, description, states.
    """

    def __init__(self, item):
        # Not `unpack`, which takes most of the time of a look: only what each object is asked for is read.
        part = item.get_child_value
        self.path = part(0).get_child_value(1).get_string()
        self.parent = part(2).get_child_value(1).get_string()
        self.place, self.count = part(3).get_int32(), part(4).get_int32()
        states = part(9)
        self.states = states.get_child_value(0).get_uint32(), states.get_child_value(1).get_uint32()
        self.item = item
        self.text = ""
        # What it is in, as its parent has it; nothing for a window.
        self.above = None

    @functools.cached_property
    def interfaces(self):
        return set(self.item.get_child_value(5).get_strv())

    @functools.cached_property
    def name(self):
        return self.item.get_child_value(6).get_string()

    @functools.cached_property
    def kind(self):
        return Atspi.Role(self.item.get_child_value(7).get_uint32())

    @property
    def role(self):
        name = Atspi.role_get_name(self.kind)
        return ROLES.get(name, name)

    @property
    def is_text(self):
        return TEXT in self.interfaces

    def has(self, state):
        word, bit = divmod(int(state), 32)
        return bool(self.states[word] >> bit & 1)

    def line(self):
        """Itself and all that it is in, from inside to its window."""
        each = self
        while each:
            yield each
            each = each.above


def paths(answer):
    """The paths of an answer of (a(so))."""
    objects = answer.get_child_value(0)
    return [objects.get_child_value(place).get_child_value(1).get_string() for place in range(objects.n_children())]


class Reader:
    """Reads the windows of the process `pid`, which is on the accessibility bus at `address`."""

    def __init__(self, address, pid):
        self.bus = Gio.DBusConnection.new_for_address_sync(
            address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        self.pid = pid
        self.program = None
        # The children of each object, with what the cache said of them when GTK was asked for them; and the objects whose
        # children have changed since.
        self.families, self.changed = {}, set()
        self.bus.signal_subscribe(
            None, "org.a11y.atspi.Event.Object", "ChildrenChanged", None, None, Gio.DBusSignalFlags.NONE,
            lambda bus, program, path, *_: self.changed.add(path))
        # GTK may send only the signals that somebody has registered for.
        self._ask([("/org/a11y/atspi/registry", "org.a11y.atspi.Registry", "RegisterEvent",
                    GLib.Variant("(sass)", ("object:children-changed", [], "")))], "org.a11y.atspi.Registry")

    def close(self):
        self.bus.close_sync()

    def objects(self, state=None):
        """The visible objects, or those of them in that state, with their names and texts, depth first, windows in the
        order of their opening. Nothing while the program is not on the bus.
        """
        self.program = self.program or self._find()
        if not self.program:
            return []
        visible = [each for each in self._visible() if state is None or each.has(state)]
        self._read_texts(visible)
        self._read_labels([each for each in visible if not each.name and each.kind not in UNNAMED])
        return visible

    def places(self, objects):
        """Left, top, width and height of each, by its path, in pixels within its window. Nothing of what has none."""
        window = GLib.Variant("(u)", (int(Atspi.CoordType.WINDOW),))
        answers = self._ask([(each.path, "org.a11y.atspi.Component", "GetExtents", window) for each in objects])
        return {each.path: answer[0] for each, answer in zip(objects, answers) if answer}

    def _find(self):
        answer = self._ask([(ROOT, ACCESSIBLE, "GetChildren", None)], "org.a11y.atspi.Registry")[0]
        for program, _ in answer[0] if answer else []:
            pid = self._ask([("/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                              GLib.Variant("(s)", (program,)))], "org.freedesktop.DBus")[0]
            if pid and pid[0] == self.pid:
                return program
        return None

    def _visible(self):
        objects, known = {}, -1
        # GTK makes an object when its parent is asked for it: what nobody has asked for is not in the answer.
        while len(objects) > known:
            known = len(objects)
            answer = self._ask([("/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems", None)], packed=True)[0]
            if not answer:
                return
            items = answer.get_child_value(0)
            read = (Object(items.get_child_value(place)) for place in range(items.n_children()))
            objects = {each.path: each for each in read}
            children = self._children(objects)
            if all(path in objects for path, _ in self._reached(objects, children)):
                break
        for path, above in self._reached(objects, children):
            if path in objects:
                # Not the parent that the object names: GTK 4.8 may name one that has gone.
                objects[path].above = objects.get(above)
                yield objects[path]

    def _children(self, objects):
        """The children of each object. A hidden object still names its parent, and GTK 4.8 calls it visible: only the parent
        tells. It is asked again after it has signaled a change, when the number of its children differs, or when anything
        differs about the objects that name it.
        """
        said = {path: [each.count] for path, each in objects.items() if each.count}
        for each in objects.values():
            if each.parent in said:
                said[each.parent].append((each.path, each.place, each.has(Atspi.StateType.VISIBLE)))
        said[ROOT] = None
        asked = [path for path in said if path == ROOT or path in self.changed or path not in self.families
                 or self.families[path][0] != said[path]]
        # Before they are asked: what changes meanwhile is for the next look.
        self.changed -= said.keys()
        answers = self._ask([(path, ACCESSIBLE, "GetChildren", None) for path in asked], packed=True)
        families = {path: self.families[path] for path in said.keys() - set(asked)}
        # What did not answer is asked the next time.
        families |= {path: (said[path], paths(answer)) for path, answer in zip(asked, answers) if answer}
        self.families = families
        return {path: children for path, (_, children) in families.items()}

    def _reached(self, objects, children):
        """The path of each visible object, with that of what it is in."""
        pending = [(path, None) for path in reversed(children.get(ROOT, []))]
        seen = set()
        while pending:
            path, above = pending.pop()
            if path in seen or path in objects and not objects[path].has(Atspi.StateType.VISIBLE):
                continue
            seen.add(path)
            yield path, above
            pending += [(child, path) for child in reversed(children.get(path, []))]

    def _read_texts(self, objects):
        """Texts of what has any. GTK 4.8 calls a label by its text."""
        fields = []
        for each in filter(lambda each: each.is_text, objects):
            if each.kind == Atspi.Role.LABEL and each.name and not each.name.startswith("Gtk"):
                each.text = each.name
            else:
                fields.append(each)
        for each, answer in zip(fields, self._ask([(each.path, TEXT, "GetText", WHOLE) for each in fields])):
            each.text = answer[0] if answer else ""

    def _read_labels(self, objects):
        """Names that newer GTK leaves to the labels that stand for them."""
        for each in objects:
            each.name = each.text if each.kind == Atspi.Role.LABEL else ""
        others = [each for each in objects if not each.name]
        named = {}
        for each, answer in zip(others, self._ask([(each.path, ACCESSIBLE, "GetRelationSet", None) for each in others])):
            for kind, targets in answer[0] if answer else []:
                if kind == int(Atspi.RelationType.LABELLED_BY):
                    named[each.path] = [path for _, path in targets]
        labels = sorted({path for paths in named.values() for path in paths})
        texts = dict(zip(labels, self._ask([(path, TEXT, "GetText", WHOLE) for path in labels])))
        for each in others:
            each.name = " ".join(texts[path][0] for path in named.get(each.path, []) if texts[path])

    def _ask(self, calls, to=None, packed=False):
        """The answers to calls of (path, interface, method, arguments), all sent before the first is awaited; None for
        what has gone. As variants if they are to stay packed.
        """
        answers = [None] * len(calls)
        pending = len(calls)

        def answered(bus, result, place):
            nonlocal pending
            pending -= 1
            try:
                answer = bus.call_finish(result)
                answers[place] = answer if packed else answer.unpack()
            except GLib.Error:
                pass
        for place, (path, interface, method, arguments) in enumerate(calls):
            self.bus.call(to or self.program, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, 20_000, None,
                          answered, place)
        while pending:
            GLib.MainContext.default().iteration(True)
        return answers
