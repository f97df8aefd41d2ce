"""What holds wherever keys lead: each control has a name and a role of its own, and whatever could have the focus gets it.
For accessibility-walk, check-encryption and check-trust.
"""
import re

from window_person import wait
from window_probe import State, fail

# More than any window has controls.
ROUND = 60
# Rows go by the arrow keys within their list: one of each must be reached.
ROWS = ("list item", "table row")
# GTK calls these focusable; their rows, their text or what is in them take the focus in their place.
CONTAINERS = ("frame", "dialog", "alert", "scroll pane", "list", "log")
# Lists whose rows are reached, and what a row contains only from there.
LISTS = (("list", "Rooms"), ("log", "Messages"))
# Where Tab need not go, in any window, and why.
ELSEWHERE = [
    ("push button", "Close"),  # Of the title bar: Ctrl+W, Escape and the window manager's keys close.
    ("push button", "Jump to Latest"),  # Faded out while the newest is in view; Ctrl+End goes there.
]
# GTK tells the type of a widget that has no name.
NAMELESS = re.compile(r"(?:(?:Gtk|Adw|Parlance)[A-Z]\w*)?")


def check_control(role, name, where):
    """Ends the script if what takes the focus has no role or no name of its own."""
    if role in ("invalid", "unknown", "redundant object", ""):
        fail(f"'{name}' takes the focus {where} and has no role")
    if NAMELESS.fullmatch(name):
        fail(f"a {role} takes the focus {where} and has no name, but '{name}'")
    # GTK names a button that has a mnemonic by that, and 4.8 also by its label.
    if role != "push button" and re.search(r"(?:^| )_", name):
        fail(f"the {role} '{name}' {where} is called by its mnemonic")


def check_mnemonics(names, where):
    """Ends the script if two buttons have one mnemonic, which would only move the focus from one to the other."""
    buttons = {}
    for name in names:
        if mnemonic := re.search(r"_(\w)", name):
            first = buttons.setdefault(mnemonic[1].casefold(), name)
            if first != name:
                fail(f"'{first}' and '{name}' {where} have the same mnemonic")


def walk(person, names=(), title=None):
    """Goes round with Tab in the window or dialog that is in front, or in the window of that title: each control there has
    a role and a name, is reached and leads on, and no two buttons have one mnemonic. These names are among them, by their
    beginnings.
    """
    for _ in range(3):
        surface = Surface(person, title)
        lost = surface.go_round(names)
        # Something came or went meanwhile, or a field was passed before it was seen that it does not tell of its focus.
        if not lost:
            print(f"{surface.where}, Tab: " + " → ".join(surface.order()))
            return
    fail(f"Tab does not reach {lost} {surface.where}, but {surface.order()}")


def visit(person, opening, shows, names=()):
    """Opens a dialog, goes round in it and leaves it by Escape, after which the focus is where it was."""
    before = front_focus(person)
    opening()
    person.sees(shows)
    walk(person, names)
    person.press("Escape")
    person.misses(shows)
    wait(f"the focus of {person.user} back after '{shows}'", lambda: front_focus(person) == before, seen=person.focuses)


def in_front(person, title):
    """Waits until keys go to the window of that title."""
    wait(f"{person.user}'s “{title}” in front", Surface(person, title).is_active)


def front_focus(person):
    """The path of what has the focus of the window in front."""
    found = focus(Surface(person, None).window())
    return found and found.path


class Surface:
    """The window or dialog in front, and what Tab reaches of it."""

    def __init__(self, person, title):
        self.person, self.title, self.where = person, title, ""
        # By path: two devices of one name have the same buttons.
        self.reached = {}

    def order(self):
        """The names of what was reached. A label's is what was written into it, such as a recovery key."""
        return [each.role if each.role in ("label", "scroll pane") else each.name[:40] for each in self.reached.values()]

    def go_round(self, names):
        """What Tab does not lead to of what is named, or else of what could have the focus."""
        objects = wait(f"what is in {self.person.user}'s window", self.is_active)
        first = here = focus(objects)
        passed = 0
        for _ in range(ROUND):
            # Of one control Tab cannot lead anywhere: nothing would change.
            if here and len(self.reached) < 2 and [each.path for each in self.controls(objects)] == [here.path]:
                self.add(here)
                break
            before = here
            self.person.press("Tab")
            objects = self.after(before)
            here = focus(objects)
            if not here:
                passed += 1
            elif before and here.path == before.path:
                # Tab leads nowhere, or has had no effect yet: `walk` goes round again if something is missing.
                self.add(here)
                break
            elif here.path in self.reached:
                self.go_back(first, objects)
                break
            else:
                self.add(here)
        else:
            fail(f"Tab does not come round {self.where}: {self.order()}")
        return self.lost(names, passed)

    def go_back(self, first, objects):
        """To what had the focus at first, one step back."""
        if not first and not any(is_field(each) for each in objects):
            # A dialog that a key must not answer by accident opens without a focus.
            return
        self.person.press("shift+Tab")
        if not first:
            return self.after(focus(objects))
        wait(f"the focus on '{first.name}' {self.where} by shift+Tab",
             lambda: (found := focus(self.window())) and found.path == first.path, seen=self.person.focuses)

    def add(self, control):
        # What scrolls has the focus if nothing in it can have it.
        if control.role != "scroll pane":
            check_control(control.role, control.name, f"{self.where} after {self.order()[-1:]}")
        self.reached[control.path] = control

    def window(self):
        """The objects of the window, depth first."""
        objects = self.person.reader.objects()
        fronts = [each for each in objects if not each.above and (not self.title or each.name.startswith(self.title))]
        if not fronts:
            return []
        self.where = f"in {self.person.user}'s “{fronts[-1].name}”"
        return [each for each in objects if fronts[-1] in each.line()]

    def is_active(self):
        """The same, once the keys go there: what another window has in front does not tell of its focus. A message dialog
        of libadwaita 1.2 never tells that it is active.
        """
        self.person.activate()
        objects = self.window()
        return objects and (objects[0].role != "frame" or objects[0].has(State.ACTIVE)) and objects

    def after(self, before):
        """The objects of the window once Tab has had its effect, or has had none for a while."""
        objects = []
        def has_moved():
            nonlocal objects
            objects = self.window()
            here = focus(objects)
            # The fields of libadwaita 1.2 do not tell of their focus.
            if not here and not any(is_field(each) for each in objects):
                return False
            return (here and here.path) != (before and before.path)
        self.person.sees_change(has_moved, False)
        return objects or wait(f"what is in {self.person.user}'s window", self.window)

    def lost(self, names, passed):
        objects = wait(f"what is in {self.person.user}'s window", self.window)
        controls = self.controls(objects)
        for each in controls:
            check_control(each.role, each.name, self.where)
        check_mnemonics([each.name for each in controls if each.role == "push button"], self.where)
        # A label is a text to copy, to which Tab need not lead, and GTK does not tell if it cannot.
        unseen = [each for each in controls if each.path not in self.reached and each.role != "label"]
        if passed >= len(fields := [each for each in unseen if is_field(each)]):
            unseen = [each for each in unseen if each not in fields]
        else:
            fields = []
        found = [*self.reached.values(), *fields]
        missing = [name for name in names if not any(each.name.startswith(name) for each in found)]
        # The arrow keys lead from one row to the others of its list.
        lists = {each.above.path for each in objects if each.path in self.reached and each.role in ROWS and each.above}
        # Of a list that has rows, one.
        unseen += [each for each in self.shown([each for each in objects if (each.role, each.name) in LISTS], objects)
                   if any(row.role in ROWS and each in row.line() for row in objects)
                   and not any(row.path in self.reached and each in row.line() for row in objects if row is not each)]
        return missing or [f"{each.role} {each.name}" for each in unseen
                           if not (each.role in ROWS and each.above and each.above.path in lists)]

    def controls(self, objects):
        """What could have the focus, as the window stands: of a dialog within the window no more than what is in that."""
        inside = [each for each in objects if each.path in self.reached]
        around = [each for each in inside[0].line() if all(each in other.line() for other in inside)] if inside else []
        base = next((each for each in around if each.role in ("frame", "dialog", "alert")), None)
        found = [each for each in objects
                 if each.role not in CONTAINERS and each.has(State.FOCUSABLE) and each.has(State.SENSITIVE)
                 and (each.role, each.name) not in ELSEWHERE and not is_in_list(each)
                 and (not base or base in each.line())]
        shown = self.shown(found, objects)
        return [each for each in found if each in shown]

    def shown(self, controls, objects):
        """Those that are laid out, and in no page behind one that Tab has reached: GTK 4.8 does not tell which page of a
        stack is shown, but they lie over each other.
        """
        places = self.person.reader.places(objects)
        fronts = {each for found in objects if found.path in self.reached for each in found.line() if each.above}
        def is_behind(part):
            return part not in fronts and any(each.above is part.above and covers(places.get(each.path), places.get(part.path))
                                              for each in fronts)
        # A banner that has gone has its size still, but not what reveals it.
        return [each for each in controls
                if all(all(places.get(part.path, (0, 0, 0, 0))[2:]) and not is_behind(part) for part in each.line())]


def focus(objects):
    """What has the focus of its window, but the window itself."""
    return next((each for each in reversed(objects) if each.has(State.FOCUSED) and each.role != "frame"), None)


def covers(front, page):
    """Whether most of a page, a (left, top, width, height), lies below another one."""
    if not front or not page:
        return False
    width, height = (min(front[side] + front[side + 2], page[side] + page[side + 2]) - max(front[side], page[side])
                     for side in (0, 1))
    return width > 0 and height > 0 and 2 * width * height > page[2] * page[3]


def is_field(each):
    return each.role == "text" and each.has(State.FOCUSABLE)


def is_in_list(each):
    return any((part.role, part.name) in LISTS for part in each.line())
